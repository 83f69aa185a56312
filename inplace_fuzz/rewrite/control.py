"""If and Loop: what a branch or an iteration writes is seen after it, whatever path the program takes.

If.   Both branches are walked from the same memory. A base that either wrote becomes a result of the If: the
      branch's content, or the content from before. A tensor result is an alias again: of the tensor that both
      branches give, of a new base when both give tensors of their own, else a choice (Phi) on the condition.

          if flag: y = x                        %y  = If(%flag) -> (%x), (%zeros)
          else:    y = torch.zeros([3])         %y2 = add(%y, 2)
          y.add_(2)                             %x2 = If(%flag) -> (%y2), (%x)        x is written on one path only
"""

# ruff: noqa: ARG002  (the functions of one table take the same arguments)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ir import Block, Node, Value
from .join import Join
from .memory import OPAQUE, Alias, Root


class Side:
    """One branch, walked: its block, what its results are bound to, and what it wrote."""

    def __init__(self, block: Block, bounds: list[Any], writes: dict[Root, Value], cells: dict[Any, Any]) -> None:
        self.block, self.bounds, self.writes, self.cells = block, bounds, writes, cells
        self.results: list[Value] = []


class Control:
    """The part of the walk that follows If."""

    changed_cells: list[tuple[Any, Any]] | None

    @staticmethod
    def handlers() -> dict[str, tuple[Callable[..., None], Any]]:
        return {"prim::If": (Control.walk_if, None)}

    # ------------------------------------------------------------------ If
    def walk_if(self: Any, node: Node, row: Any) -> None:
        cond = self.value(node.inputs[0].bound)
        if isinstance(cond.py, bool):
            taken = node.blocks[0 if cond.py else 1]
            self.nodes(taken)
            for out, result in zip(node.outputs, taken.results, strict=True):
                out.bound = result.bound
            return
        sides = [self.side(block) for block in node.blocks]
        self.node = node
        join = Join(self, cond, sides)
        bounds = [join.bound(*pair, out.type) for pair, out in zip(join.pairs(), node.outputs, strict=True)]
        cells = join.cells()
        writes = self.policy.merged([s.writes for s in sides])
        self.memory.merge(
            cond, [(s.block, w) for s, w in zip(sides, writes, strict=True)], [s.results for s in sides], join.outs,
            origin=None, keep=True,
        )  # fmt: skip
        join.settle()
        for out, bound in zip(node.outputs, bounds, strict=True):
            out.bound = bound
        for cell, bound in cells:
            self.note_cell(cell, cell.items)
            cell.items = bound

    def side(self: Any, block: Block) -> Side:
        outer, self.changed_cells = self.changed_cells, []

        def body() -> list[Any]:
            self.nodes(block)
            bounds = [r.bound for r in block.results]
            for bound in bounds:
                if bound.__class__ is Alias and (bound.moved or bound).form != OPAQUE:
                    self.memory.read(bound.moved or bound)
            return bounds

        try:
            (made, bounds), writes = self.memory.branch(body)
            cells: dict[Any, Any] = {}
            for cell, before in reversed(self.changed_cells):
                cells.setdefault(cell, cell.items)
                cell.items = before
        finally:
            self.changed_cells = outer
        return Side(made, bounds, writes, cells)
