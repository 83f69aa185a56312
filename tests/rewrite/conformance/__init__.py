"""The conformance suite: small modules full of in-place writes, by family. `FAMILIES` maps a family to its cases."""

from __future__ import annotations

import importlib

from tests.rewrite.conformance.case import Case

_NAMES = [
    "slice",
    "select",
    "nested",
    "adv_index",
    "mixed_index",
    "bool_mask",
    "accumulate",
    "inplace_on_view",
    "compound",
    "view_op",
    "metadata",
    "two_aliases",
    "local",
    "input_mutation",
    "output_alias",
    "dtype",
    "broadcast",
    "zero_size",
    "zero_dim",
    "control_flow",
    "list",
    "state",
    "ordering",
    "dead_write",
    "stale_view",
]

FAMILIES: dict[str, list[Case]] = {
    name: importlib.import_module(f"tests.rewrite.conformance.{name}").CASES for name in _NAMES
}
CASES: list[Case] = [case for cases in FAMILIES.values() for case in cases]

# Programs that torch.jit.script does not take, or gets wrong itself; tracing and export take them.
NOT_SCRIPT = {
    "mix_ellipsis_index": "script rejects a tensor index after an Ellipsis",
    "mix_ellipsis_two_indices": "script rejects a tensor index after an Ellipsis",
    "bc_leading_ones": "eager's setitem drops the value's leading dims of one, script's copy_ does not",
    "out_view_written_after_collected": "script's dead-code elimination drops a write to a tensor already in a tuple",
    "li_append_in_loop_then_write": "a write through a list element is lost in the optimised plan",
    "li_replace_element": "a write through a list element is lost in the optimised plan",
}
