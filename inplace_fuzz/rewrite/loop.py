"""Loop. The body is walked until what it writes is known: every outer base that it writes becomes a carried value, so
that a read early in the body sees what the iteration before wrote, and a loop that runs no time changes nothing.
What the variables that the program itself carries stand for is in carried.py.

    y = x                                 carried: %y, %x, and whether this is the first iteration
    for _ in range(n):
        y.add_(1)                         %y2 = add(%y, 1); %x2 = If(%first) -> (%y2), (%x)
        y = y * 2
"""

# ruff: noqa: ARG002  (the functions of one table take the same arguments)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .carried import CLOSED, PLACES, SAME, Carried, Seat
from .containers import Items, Table
from .errors import UnsupportedMutation
from .ir import Block, Node, Value
from .memory import Alias, Root

_WRITTEN_OUT = 400


class Loops(Carried):
    """The part of the walk that follows Loop."""

    changed_cells: list[tuple[Any, Any]] | None

    @staticmethod
    def handlers() -> dict[str, tuple[Callable[..., None], Any]]:
        return {"prim::Loop": (Loops.walk_loop, None)}

    def walk_loop(self: Any, node: Node, row: Any) -> None:
        """A loop of few and known iterations, whose lists or views differ in each, is written out instead."""
        outer, self.changed_cells = self.changed_cells, []
        try:
            if not self._settled(node):
                for cell, before in reversed(self.changed_cells):
                    cell.items = before
                self.changed_cells = []
                self._write_out(node)
        finally:
            if outer is not None:
                outer.extend(self.changed_cells)
            self.changed_cells = outer

    def _settled(self: Any, node: Node) -> bool:
        """Walk the loop as a loop; False when it has to be written out."""
        modes = [SAME] * len(node.outputs)
        picks: list[Alias] = []
        carried: list[Root] = []
        growing: dict[Items, set[Root]] = {}
        known = _known_trips(node) is not None
        for _ in range(12):
            try:
                if self._loop(node, modes, picks, carried, growing):
                    return True
            except UnsupportedMutation:
                if not known:
                    raise
                return False
            if known and (growing or PLACES in modes or CLOSED in modes):
                return False
        raise self.refuse(node.kind, "what its body writes does not settle")

    def _write_out(self: Any, node: Node) -> None:
        body = node.blocks[0]
        bounds = [v.bound for v in node.inputs[2:]]
        for i in range(_known_trips(node) or 0):
            body.params[0].bound = self.g.const(i)
            for param, bound in zip(body.params[1:], bounds, strict=True):
                param.bound = bound
            self.nodes(body)
            bounds = [r.bound for r in body.results[1:]]
        for out, bound in zip(node.outputs, bounds, strict=True):
            out.bound = bound

    def _loop(  # noqa: C901  one attempt is one story
        self: Any, node: Node, modes: list[str], picks: list[Alias], carried: list[Root],
        growing: dict[Items, set[Root]],
    ) -> bool:  # fmt: skip
        """One attempt: True when `modes`, `picks` and `carried` describe the body, else they are widened."""
        g, memory = self.g, self.memory
        body = node.blocks[0]
        trip, go = (self.value(v.bound) for v in node.inputs[:2])
        inits = [self.initial(v.bound, p.type) for v, p in zip(node.inputs[2:], body.params[1:], strict=True)]
        start: list[Value] = []  # initial values, parameters, results at the end of an iteration
        params: list[Value] = [Value(body.params[0].type)]
        seats = [
            self.seat(init, param.type, mode, picks, start, params)
            for init, param, mode in zip(inits, body.params[1:], modes, strict=True)
        ]
        lists_at = len(start)
        for cell, more in growing.items():
            self.seal(cell, more)
            start.append(cell.items)
            params.append(Value(cell.type))
        roots_at = len(start)
        for root in carried:
            start.append(root.cur)
            params.append(Value(root.first.type, fresh=True))
        undo_cells, self.changed_cells = self.changed_cells, []
        widened = False
        back: list[Value] = []

        def walk_body() -> Value | None:
            nonlocal widened
            block = g.block
            block.params = params
            for param in params:
                param.block = block
            body.params[0].bound = params[0]
            for root, param in zip(carried, params[1 + roots_at :], strict=True):
                memory.set_root(root, param)
            for cell, param in zip(growing, params[1 + lists_at :], strict=False):
                self.set_items(cell, param)
            for seat, param in zip(seats, body.params[1:], strict=True):
                seat.first = param.bound = self.seated(seat, picks)
            self.nodes(body)
            ends = [r.bound for r in body.results]
            for i, (seat, end) in enumerate(zip(seats, ends[1:], strict=True)):
                if not self.seat_back(seat, end, seats, picks, back):
                    modes[i] = self.wider(seat, end, seats, picks)
                    widened = True
            if widened:
                return None
            again = self.value(ends[0])
            assert memory.written is not None
            wrote = {r for r, _, _ in memory.written if r.block.encloses(block.outer)}
            for root in self.policy.carried([r for r in wrote if r not in carried]):
                carried.append(root)
                widened = True
            for cell in _outer_lists(self.changed_cells, block.outer):
                known = growing.get(cell, set())
                found = known | {r for r in self.roots_in(cell) if r.block.encloses(block.outer)}
                if cell not in growing or found != known:
                    growing[cell] = found
                    widened = True
            if widened:
                return None
            back.extend(cell.items for cell in growing)
            back.extend(root.cur for root in carried)
            return again  # type: ignore[no-any-return]

        try:
            (block, again), _ = memory.branch(walk_body)
            changed = [c for c, before in self.changed_cells if c.items is not before]
            for cell, before in reversed(self.changed_cells):
                cell.items = before
        except UnsupportedMutation:
            for cell, before in reversed(self.changed_cells):
                cell.items = before
            raise
        finally:
            self.changed_cells = undo_cells
        self.node = node
        if widened:
            return False
        if any(not isinstance(c, Items) or (isinstance(c, Table) and c.block.encloses(g.block)) for c in changed):
            raise self.refuse(node.kind, "a dict or an attribute that a loop rebinds")
        outs = self._close_loop(node, (trip, go, start), params, block, [again, *back], seats, picks, carried, roots_at)
        for cell, out in zip(growing, outs[lists_at:], strict=False):
            self.set_items(cell, out)
        return True

    def _close_loop(
        self: Any, node: Node, head: Any, params: list[Value], block: Block, results: list[Value],
        seats: list[Seat], picks: list[Alias], carried: list[Root], roots_at: int,
    ) -> list[Value]:  # fmt: skip
        g, memory = self.g, self.memory
        trip, go, start = head
        outs = [Value(p.type, fresh=p.fresh, block=g.block) for p in params[1:]]
        block.results = results
        made = Node("prim::Loop", [trip, go, *start], outs, keep=True)
        made.blocks.append(block)
        for out in outs:
            out.node = made
        g.block.nodes.append(made)
        for root, out in zip(carried, outs[roots_at:], strict=True):
            memory.set_root(root, out)
        at = 0
        for seat, out in zip(seats, node.outputs, strict=True):
            at, out.bound = self.seat_after(seat, picks, outs, at)
        return outs


def _known_trips(node: Node) -> int | None:
    """How often the loop runs, when that is known, and few."""
    trip, go = (v.bound for v in node.inputs[:2])
    again = node.blocks[0].results[0]
    if not all(isinstance(v, Value) for v in (trip, go)) or not isinstance(trip.py, int):
        return None
    if go.py is not True or again.py is not True or trip.py * len(node.blocks[0].nodes) > _WRITTEN_OUT:
        return None
    return max(trip.py, 0)


def _outer_lists(changes: list[tuple[Any, Any]] | None, outer: Block | None) -> list[Items]:
    cells = dict.fromkeys(cell for cell, _ in changes or ())
    return [c for c in cells if type(c) is Items and outer is not None and c.block.encloses(outer)]
