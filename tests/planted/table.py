"""Every planted fault, in one table: where its object is, and which programs show it.

A fault is judged like any backend. What it is is the first sentence of its function or class. `mix` names the features
that a program must have on to show it at all often; most need none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from inplace_fuzz.backends import load
from inplace_fuzz.core import Backend, Lane
from inplace_fuzz.generate import DEFAULT, Mix


@dataclass(frozen=True)
class Fault:
    """One wrong pass, wrong backend or death. `loads` is how a worker finds it."""

    loads: str
    lane: Lane
    features: tuple[str, ...] = ()
    kind: str = "mismatch"

    @property
    def name(self) -> str:
        return self.loads.rpartition(":")[2].lower().replace("_", "-")

    @property
    def backend(self) -> Backend:
        return load(self.loads)

    @property
    def right(self) -> str:
        """The backend that does the same thing right; it has to agree wherever a fault is found."""
        return "torchscript-graph" if self.lane is Lane.REWRITTEN else "tests.planted.deaths:GOOD"

    @property
    def mix(self) -> Mix:
        return mix(self.features)


@cache
def mix(features: Sequence[str]) -> Mix:
    return DEFAULT.focus(*features) if features else DEFAULT


def _table(module: str, lane: Lane, text: str) -> tuple[Fault, ...]:
    rows = (line.split() for line in text.strip().splitlines())
    return tuple(Fault(f"tests.planted.{module}:{row[0]}", lane, tuple(row[1:])) for row in rows)


PASSES = _table("passes", Lane.REWRITTEN, """
    STEP_DROPPED          step
    SLICE_END_IGNORED
    NEGATIVE_INDEX        negative_select
    SELECT_DIM
    WRONG_OFFSET
    NESTED_SLICES         chain
    TRANSPOSE_RESHAPED
    PERMUTE_AGAIN         permute rank_3
    DIAGONAL_SIGN         diagonal square
    STORAGE_OFFSET        as_strided
    SNAPSHOT_LATE
    RESHAPE_IS_VIEW       reshape flatten
    CONTIGUOUS_IS_ALIAS   no_op_alias transposed_input
    NO_BROADCAST          copy_
    NO_CAST               mixed_dtypes
    ALPHA_IGNORED         alpha
    SUB_REVERSED
    ACCUMULATE_IGNORED    accumulate
    ACCUMULATE_ALWAYS
    MASK_INVERTED
    MASKED_FILL_CAST      masked_fill_
    INDEX_ADD_OVERWRITES  index_add_
    ZERO_DROPPED
    STALE_VIEW
    WRITES_SWAPPED
    MUTATION_INVISIBLE
    ONE_WRITTEN_BACK
    ALIAS_LOST
    RESULT_APART          chained_calls result_is_self
    ELSE_LOST             branch
    LOOP_WRITE_LOST       loop
""")  # fmt: skip

NAIVE = _table("naive", Lane.REWRITTEN, """
    RETURN_LAST_COPY
    LOCAL_IS_CONSTANT
    DEAD_WRITES
    PURE_TWINS
    INPUTS_COPIED
    READS_MERGED
    THEN_ALWAYS           branch
    ONE_ITERATION         loop
    FIRST_INPUT_WRITTEN
""")  # fmt: skip

BACKENDS = _table("backends", Lane.DIRECT, """
    SECOND_CALL_WRONG
    RESULT_KEPT
    RESULT_BUFFER_REUSED
    BUFFERS_FROZEN        buffer
    COMPILING_RUNS        buffer
    INPUTS_KEPT
    STRIDES_IGNORED
    WRITES_OUTSIDE        offset_input
    OUTPUTS_SHARE
    TUPLES_ARE_LISTS
    OUTPUTS_SWAPPED
    RANDOM_ELEMENT
    WIDENED
    COLUMN_MAJOR
    FLATTENED_SCALARS
""")  # fmt: skip

# Seen by no channel today: see tests/e2e/test_planted.py.
UNSEEN = _table("backends", Lane.DIRECT, "SHAPES_FROZEN")

# Right in every run of a process but its first.
FLAKY = _table("backends", Lane.DIRECT, "FIRST_IN_PROCESS")

DEATHS = _table("deaths", Lane.DIRECT, """
    SEGFAULT
    ABORT
    EXIT
    HANG
    MEMORY
    DAEMON
    OUTPUT
    GARBAGE
""")  # fmt: skip

PLANTED = (*PASSES, *NAIVE, *BACKENDS)
