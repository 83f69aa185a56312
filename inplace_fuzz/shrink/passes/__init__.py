"""The reducers: each one a function from a program to candidates that are simpler in one way, most daring first.

A reducer promises nothing about its candidates but that they parse. The search throws away what is not smaller or
reads unbound names, and the judge what does not run. The order of PASSES is what the number of candidates depends on:
what removes most comes first, what only tidies comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from inplace_fuzz.core import Program
from inplace_fuzz.shrink.passes.blocks import fewer_trips, flatten_blocks
from inplace_fuzz.shrink.passes.expressions import (
    computed_to_input,
    drop_arguments,
    hoist_parts,
    replace_by_input,
    replace_by_number,
    shorten_lists,
)  # fmt: skip
from inplace_fuzz.shrink.passes.forms import brackets_for_methods, plainer_creators, plainer_writes
from inplace_fuzz.shrink.passes.helpers import inline_helpers
from inplace_fuzz.shrink.passes.indices import (
    fewer_index_elements,
    index_to_input,
    literal_index_to_input,
    plainer_index_arguments,
    plainer_index_elements,
)
from inplace_fuzz.shrink.passes.inputs import (
    drop_unused_parameters,
    fewer_calls,
    inputs_by_literals,
    merge_inputs,
    plain_dtypes,
    plain_signature,
    plain_values,
)  # fmt: skip
from inplace_fuzz.shrink.passes.layouts import plain_layouts, smaller_storages
from inplace_fuzz.shrink.passes.literals import plainer_numbers, shorter_literals
from inplace_fuzz.shrink.passes.returns import return_a_name, simplify_return
from inplace_fuzz.shrink.passes.scaffold import buffers_to_inputs, drop_decorators, drop_unused_definitions
from inplace_fuzz.shrink.passes.shapes import fewer_dimensions, natural_shapes, smaller_sizes
from inplace_fuzz.shrink.passes.statements import delete_statements, inline_names, keep_one_write

Reducer = Callable[[Program], Iterator[Program]]

PASSES: tuple[Reducer, ...] = (
    fewer_calls,
    keep_one_write,
    delete_statements,
    flatten_blocks,
    inline_helpers,
    simplify_return,
    drop_unused_parameters,
    drop_unused_definitions,
    hoist_parts,
    inline_names,
    replace_by_number,
    replace_by_input,
    computed_to_input,
    return_a_name,
    shorten_lists,
    fewer_trips,
    drop_arguments,
    fewer_index_elements,
    plainer_writes,
    brackets_for_methods,
    plainer_creators,
    merge_inputs,
    inputs_by_literals,
    buffers_to_inputs,
    plain_layouts,
    smaller_storages,
    plainer_index_elements,
    plainer_index_arguments,
    literal_index_to_input,
    index_to_input,
    smaller_sizes,  # before fewer_dimensions, which would otherwise make lone numbers of long tensors
    fewer_dimensions,
    natural_shapes,
    plain_dtypes,
    plain_values,
    shorter_literals,
    plainer_numbers,
    plain_signature,
    drop_decorators,
)

__all__ = ["PASSES", "Reducer"]
