"""Wrong passes made from the right one: a row of its tables, or one decision of its walk, changed.

Each is a backend that interprets the graph which its own pass makes; `tests.planted.passes:STALE_VIEW` loads one. The
passes that share nothing with the right one are in naive.py. The first sentence of each says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

from inplace_fuzz.backends.torchscript import Graph
from inplace_fuzz.core import Lane
from inplace_fuzz.rewrite import Policy, Rules, rewrite_graph
from inplace_fuzz.rewrite.ir import INT
from inplace_fuzz.rewrite.memory import STEP
from inplace_fuzz.rewrite.views import VIEWS, View, add, like, mul
from inplace_fuzz.rewrite.writes import WRITES, Write, cast_like

Rewrite = Callable[[Any, Any], Any]
_OPEN = 2**63 - 1


@dataclass(frozen=True)
class Pass(Graph):
    """The graph interpreter behind a pass of its own, which `rewrite` is."""

    lanes: tuple[Lane, ...] = (Lane.REWRITTEN,)
    rewrite: Rewrite = rewrite_graph

    def rewrite_graph(self, graph: Any, example: Any) -> Any:
        return self.rewrite(graph, example)


def by(name: str, rules: Rules) -> Pass:
    """The right algorithm under other rules."""
    return Pass(name=f"planted-{name}", rewrite=lambda graph, example: rewrite_graph(graph, example, rules=rules))


def views(*rows: View) -> Rules:
    return Rules(views=_changed(VIEWS, rows))


def writes(*rows: Write) -> Rules:
    return Rules(writes=_changed(WRITES, rows))


def _changed(table: tuple[Any, ...], rows: tuple[Any, ...]) -> tuple[Any, ...]:
    """The table with these rows in the place of those of the same operators; new operators at its end."""
    new = {row.kind: row for row in rows}
    return (*(new.pop(row.kind, row) for row in table), *new.values())


def known(value: Any) -> int | None:
    """The int that a value of the graph is known to be."""
    return value.py if isinstance(value.py, int) else None


def size(g: Any, tensor: Any, dim: Any) -> Any:
    return g.call("aten::size", (tensor, dim), INT)


# ---------------------------------------------------------------------------------------------------------- view rows
class StepDropped(View):
    """The step of a slice is dropped: `x[::2] = 1` fills `x[:]`."""

    def show(self, g: Any, base: Any, args: Any) -> Any:
        return super().show(g, base, (*args[:3], g.const(1)))


class EndIgnored(View):
    """The end of a slice is ignored: `x[:1] = 1` fills `x[:]`."""

    def show(self, g: Any, base: Any, args: Any) -> Any:
        return super().show(g, base, (*args[:2], g.const(_OPEN), args[3]))


def negative_index_off_by_one(g: Any, b: Any, w: Any, dim: Any, i: Any) -> Any:
    """A negative index is counted from the last element, not from the end: a write to `x[-1]` lands in `x[-2]`."""
    k = known(i)
    return g.select_scatter(b, w, dim, i if k is None or k >= 0 else add(g, size(g, b, dim), k - 1))


def select_dim_off(g: Any, b: Any, w: Any, dim: Any, i: Any) -> Any:
    """The dimension of a select is counted from the wrong end: a write to `x[0]` lands in `x[..., 0]`."""
    k = known(dim)
    return g.select_scatter(b, w, dim if k is None else -1 - k, i)


def start_forgotten(g: Any, b: Any, w: Any, dim: Any, start: Any, end: Any, step: Any) -> Any:
    """A written slice is put back at offset 0: a write to `x[1:]` lands in `x[:-1]`."""
    return g.slice_scatter(b, w, dim, 0, mul(g, size(g, w, dim), step), step)


def shape_but_not_order(g: Any, b: Any, w: Any, *dims: Any) -> Any:
    """A written transposed view is given its base's shape but not its order: it is reshaped, not transposed back."""
    return like(g, w, b)


def permuted_again(g: Any, b: Any, w: Any, dims: Any) -> Any:
    """A written permuted view is permuted by its own dims again, not by the inverse."""
    return g.permute(w, dims)


def diagonal_sign(g: Any, b: Any, w: Any, offset: Any, d0: Any, d1: Any) -> Any:
    """A written diagonal above the main one is put back below it."""
    k = known(offset)
    return g.diagonal_scatter(b, w, offset if k is None else -k, d0, d1)


def storage_offset_ignored(g: Any, b: Any, w: Any, n: Any, strides: Any, offset: Any) -> Any:
    """A write through as_strided starts at the first element of the storage, whatever its offset."""
    return g.as_strided_scatter(b, w, n, strides, 0)


def itself(g: Any, b: Any, w: Any, *rest: Any) -> Any:
    return w


_SLICE = {row.kind: row for row in VIEWS}["aten::slice"]
_STRIDED = {row.kind: row for row in VIEWS}["aten::as_strided"]

STEP_DROPPED = by(
    "step-dropped",
    views(StepDropped("aten::slice", lambda g, b, w, dim, a, z, s: g.slice_scatter(b, w, dim, a, z, 1))),
)
SLICE_END_IGNORED = by(
    "slice-end-ignored",
    views(EndIgnored("aten::slice", lambda g, b, w, dim, a, z, s: g.slice_scatter(b, w, dim, a, _OPEN, s))),
)
NEGATIVE_INDEX = by("negative-index", views(View("aten::select", negative_index_off_by_one)))
SELECT_DIM = by("select-dim", views(View("aten::select", select_dim_off)))
WRONG_OFFSET = by("wrong-offset", views(replace(_SLICE, put=start_forgotten)))
TRANSPOSE_RESHAPED = by(
    "transpose-reshaped",
    views(*(View(f"aten::{n}", shape_but_not_order) for n in ("transpose", "swapaxes", "t", "numpy_T"))),
)
PERMUTE_AGAIN = by("permute-again", views(View("aten::permute", permuted_again)))
DIAGONAL_SIGN = by("diagonal-sign", views(View("aten::diagonal", diagonal_sign)))
STORAGE_OFFSET = by("storage-offset", views(replace(_STRIDED, put=storage_offset_ignored)))
# A snapshot is taken late: clone is another name for its tensor, which later writes show.
SNAPSHOT_LATE = by("snapshot-late", views(View("aten::clone", itself)))
# A reshape is always a view: writes to the copy that it makes of a transposed tensor are put back into that tensor.
RESHAPE_IS_VIEW = by(
    "reshape-is-view", views(*(View(f"aten::{n}", shape_but_not_order) for n in ("reshape", "flatten", "ravel")))
)
# contiguous() is always another name: writes to the copy that it makes of a transposed tensor go into that tensor.
CONTIGUOUS_IS_ALIAS = by("contiguous-is-alias", views(View("aten::contiguous", itself)))


# --------------------------------------------------------------------------------------------------------- write rows
def no_broadcast(g: Any, self_: Any, src: Any, non_blocking: Any = None) -> Any:
    """copy_ takes its source in the shape that it has."""
    return cast_like(g, src, self_)


def alpha_ignored(g: Any, self_: Any, other: Any, alpha: Any) -> Any:
    """add_ leaves out its alpha."""
    return cast_like(g, g.add(self_, other, 1), self_)


def sub_reversed(g: Any, self_: Any, other: Any, alpha: Any) -> Any:
    """sub_ takes self from other."""
    return cast_like(g, g.rsub(self_, other, 1), self_)


def accumulate_ignored(g: Any, self_: Any, indices: Any, values: Any, accumulate: Any) -> Any:
    """index_put_ overwrites where it was asked to accumulate."""
    return g.index_put(self_, indices, values, False)


def accumulate_always(g: Any, self_: Any, indices: Any, values: Any, accumulate: Any) -> Any:
    """index_put_ adds where it was asked to overwrite."""
    return g.index_put(self_, indices, values, True)


def mask_inverted(g: Any, self_: Any, mask: Any, value: Any) -> Any:
    """masked_fill_ fills where the mask is false."""
    return g.masked_fill(self_, g.logical_not(mask), value)


def value_cast_to_mask(g: Any, self_: Any, mask: Any, value: Any) -> Any:
    """masked_fill_ casts its value to the mask's type, so that every number is one."""
    filled = g.masked_fill(g.zeros_like(self_, None, None, None, None, None), mask, value)
    return g.where(mask, cast_like(g, g.ne(filled, 0), self_), self_)


def index_add_overwrites(g: Any, self_: Any, dim: Any, index: Any, source: Any, alpha: Any) -> Any:
    """index_add_ overwrites what it should add to."""
    return g.index_copy(self_, dim, index, source)


def left_alone(g: Any, self_: Any) -> Any:
    """zero_ does nothing."""
    return self_


NO_BROADCAST = by("no-broadcast", writes(Write("aten::copy_", no_broadcast)))
# Nothing is cast to the type of the tensor that is written.
NO_CAST = by(
    "no-cast",
    writes(
        Write("aten::copy_", lambda g, self_, src, non_blocking=None: g.clone(g.expand_as(src, self_), None)),
        *(replace(row, cast="never") for row in WRITES if row.cast != "never"),
    ),
)
ALPHA_IGNORED = by("alpha-ignored", writes(Write("aten::add_", alpha_ignored)))
SUB_REVERSED = by("sub-reversed", writes(Write("aten::sub_", sub_reversed)))
ACCUMULATE_IGNORED = by("accumulate-ignored", writes(Write("aten::index_put_", accumulate_ignored)))
ACCUMULATE_ALWAYS = by("accumulate-always", writes(Write("aten::index_put_", accumulate_always)))
MASK_INVERTED = by("mask-inverted", writes(Write("aten::masked_fill_", mask_inverted)))
MASKED_FILL_CAST = by("masked-fill-cast", writes(Write("aten::masked_fill_", value_cast_to_mask)))
INDEX_ADD_OVERWRITES = by("index-add-overwrites", writes(Write("aten::index_add_", index_add_overwrites)))
ZERO_DROPPED = by("zero-dropped", writes(Write("aten::zero_", left_alone)))


# ----------------------------------------------------------------------------------------------- decisions of the walk
class Stale(Policy):
    """A view that was read once is not read again after its base was written."""

    def read(self, memory: Any, source: Any) -> Any:
        return memory.peek(source)


class Overwriting(Policy):
    """Nested slices of one dimension overwrite each other instead of composing: `x[1:][1:] = v` writes `x[1:]`."""

    def write(self, memory: Any, target: Any, content: Any) -> None:
        memory.write(self.flattened(memory, target, content), content)

    def flattened(self, memory: Any, target: Any, content: Any) -> Any:
        outer = target.parent
        if not (self.is_plain_slice(target) and self.is_plain_slice(outer)):
            return target
        dim, start, g = target.args[0], known(target.args[1]) or 0, memory.g
        if known(dim) != known(outer.args[0]) or start < 0:
            return target
        end = add(g, size(g, content, dim), start)
        return memory.step(outer.parent, target.row, (dim, g.const(start), end, g.const(1)))

    @staticmethod
    def is_plain_slice(alias: Any) -> bool:
        sliced = alias is not None and alias.form == STEP and alias.row.kind == "aten::slice" and len(alias.args) == 4
        return sliced and known(alias.args[0]) is not None and known(alias.args[3]) == 1


class Swapped(Policy):
    """Of two writes to one tensor, one after the other, the first is done last."""

    def __init__(self) -> None:
        self.before: WeakKeyDictionary[Any, tuple[Any, Any]] = WeakKeyDictionary()

    def write(self, memory: Any, target: Any, content: Any) -> None:
        memory.write(target, content)
        earlier = self.before.pop(memory, None)
        if earlier is None:
            self.before[memory] = target, content
        elif earlier[0].root is target.root and earlier[1].block is memory.g.block:
            memory.write(*earlier)


class Invisible(Policy):
    """What was written into inputs and buffers is not written back: the caller sees them as they were."""

    def written_back(self, memory: Any, externals: list[Any]) -> list[Any]:
        return []


class FirstBack(Policy):
    """Only the first of several written inputs is written back."""

    def written_back(self, memory: Any, externals: list[Any]) -> list[Any]:
        return externals[:1]


class Copied(Policy):
    """Outputs are copies: what shared memory with an input, or with another output, no longer does."""

    def output(self, memory: Any, source: Any) -> Any:
        return memory.g.clone(memory.read(source), None)


class ResultApart(Policy):
    """The result of an in-place operator is a tensor of its own: writes to it do not reach the tensor it was."""

    def result(self, memory: Any, target: Any, content: Any) -> Any:
        return memory.base(content)


class ThenOnly(Policy):
    """What the else branch of an If writes is lost."""

    def merged(self, sides: list[dict[Any, Any]]) -> list[dict[Any, Any]]:
        return [sides[0], {}]


class NothingCarried(Policy):
    """What the body of a loop writes is lost with the iteration."""

    def carried(self, roots: list[Any]) -> list[Any]:
        return []


STALE_VIEW = by("stale-view", Rules(policy=Stale()))
NESTED_SLICES = by("nested-slices", Rules(policy=Overwriting()))
WRITES_SWAPPED = by("writes-swapped", Rules(policy=Swapped()))
MUTATION_INVISIBLE = by("mutation-invisible", Rules(policy=Invisible()))
ONE_WRITTEN_BACK = by("one-written-back", Rules(policy=FirstBack()))
ALIAS_LOST = by("alias-lost", Rules(policy=Copied()))
RESULT_APART = by("result-apart", Rules(policy=ResultApart()))
ELSE_LOST = by("else-lost", Rules(policy=ThenOnly()))
LOOP_WRITE_LOST = by("loop-write-lost", Rules(policy=NothingCarried()))
