"""Loop. The body is walked until what it writes is known: every outer base that it writes becomes a carried value, so
that a read early in the body sees what the iteration before wrote, and a loop that runs no time changes nothing.
A carried tensor is first taken to be the same tensor in every iteration; if the body says otherwise, a choice:
the tensor from before the loop in the first iteration, the loop's own afterwards.

    y = x                                 carried: %y, %x, and whether this is the first iteration
    for _ in range(n):
        y.add_(1)                         %y2 = add(%y, 1); %x2 = If(%first) -> (%y2), (%x)
        y = y * 2
"""

# ruff: noqa: ARG002  (the functions of one table take the same arguments)
# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .containers import Items, Table
from .errors import UnsupportedMutation
from .ir import BOOL, Block, Node, Value
from .join import same
from .memory import PHI, ROOT, Alias, Root

_WRITTEN_OUT = 400
_SAME, _CHOICE, _CLOSED = "the same tensor", "first or own", "not followed"


class Loops:
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
        modes = [_SAME] * len(node.outputs)
        carried: list[Root] = []
        growing: dict[Items, set[Root]] = {}
        known = _known_trips(node) is not None
        for _ in range(12):
            try:
                if self._loop(node, modes, carried, growing):
                    return True
            except UnsupportedMutation:
                if not known:
                    raise
                return False
            if known and (growing or _CLOSED in modes):
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
        self: Any, node: Node, modes: list[str], carried: list[Root], growing: dict[Items, set[Root]]
    ) -> bool:  # fmt: skip
        """One attempt: True when `modes` and `carried` describe the body, else they are widened."""
        g, memory = self.g, self.memory
        body = node.blocks[0]
        trip, go = (self.value(v.bound) for v in node.inputs[:2])
        inits = [v.bound for v in node.inputs[2:]]
        start: list[Value] = []  # initial values, parameters, results at the end of an iteration
        params: list[Value] = [Value(body.params[0].type)]
        seats: list[tuple[str, Any]] = []
        for init, param, mode in zip(inits, body.params[1:], modes, strict=True):
            seats.append(self._seat(init, param.type, mode, start, params))
        lists_at = len(start)
        for cell, more in growing.items():
            self.seal(cell, more)
            start.append(cell.items)
            params.append(Value(cell.type))
        roots_at = len(start)
        for root in carried:
            start.append(root.cur)
            params.append(Value(fresh=True))
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
            firsts = []
            for (mode, seat), param, init in zip(seats, body.params[1:], inits, strict=True):
                param.bound = self._seated(mode, seat, init)
                firsts.append(param.bound)
            self.nodes(body)
            ends = [r.bound for r in body.results]
            for i, ((mode, seat), end) in enumerate(zip(seats, ends[1:], strict=True)):
                if not self._seat_back(mode, seat, inits[i], end, firsts[i], back):
                    modes[i] = _CHOICE if modes[i] is _SAME and _choosable(inits[i], end) else _CLOSED
                    if mode is _CLOSED:
                        raise self.refuse(
                            node.kind, "a container or a tensor that changes from one iteration to the next"
                        )
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
        outs = self._close_loop(node, (trip, go, start), params, block, [again, *back], seats, inits, carried, roots_at)
        for cell, out in zip(growing, outs[lists_at:], strict=False):
            self.set_items(cell, out)
        return True

    def _close_loop(
        self: Any, node: Node, head: Any, params: list[Value], block: Block, results: list[Value],
        seats: list[tuple[str, Any]], inits: list[Any], carried: list[Root], roots_at: int,
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
        for (mode, seat), init, out in zip(seats, inits, node.outputs, strict=True):
            if mode == "plain":
                out.bound = outs[at]
                at += 1
            elif mode is _SAME:
                out.bound = init
            elif mode is _CHOICE:
                out.bound = memory.phi(outs[at], init.moved or init, memory.base(outs[at + 1]), outs[at + 1])
                at += 2
            else:
                out.bound = memory.opaque(outs[at], seat[1], "prim::Loop")
                at += 1
        return outs

    def _seat(self: Any, init: Any, type_: Any, mode: str, start: list[Value], params: list[Value]) -> tuple[str, Any]:
        """The carried values that stand for one carried variable."""
        if init.__class__ is Value:
            start.append(init)
            params.append(Value(type_))
            return "plain", params[-1]
        if mode is _SAME:
            return mode, None
        if init.__class__ is not Alias:
            return _CLOSED, None
        value = self.memory.read(init.moved or init)
        if mode is _CHOICE:
            start += [self.g.const(True), value]
            params += [Value(BOOL), Value(fresh=False)]
            return mode, (params[-2], params[-1])
        start.append(value)
        params.append(Value(fresh=False))
        return mode, [params[-1], init.roots]

    def _seated(self: Any, mode: str, seat: Any, init: Any) -> Any:
        memory = self.memory
        if mode == "plain":
            return seat
        if mode is _SAME:
            return init
        if mode is _CHOICE:
            return memory.phi(seat[0], init.moved or init, memory.base(seat[1]), seat[1])
        return memory.opaque(seat[0], seat[1], "prim::Loop")

    def _seat_back(self: Any, mode: str, seat: Any, init: Any, end: Any, first: Any, back: list[Value]) -> bool:
        """Append what the next iteration starts from; False when `mode` does not describe what the body gives."""
        if mode == "plain":
            if end.__class__ is Alias:
                raise self.refuse("prim::Loop", "a variable that is a tensor only from the second iteration on")
            back.append(self.value(end))
            return True
        if mode is _SAME:
            return same(init, end)
        end = end.moved or end
        if mode is _CHOICE:
            found = self._choice(end, init.moved or init, first)
            if found is None:
                return False
            back += [found, self.memory.read(end)]
            return True
        seat[1] = tuple(dict.fromkeys((*seat[1], *end.roots)))
        back.append(self.memory.read(end))
        return True

    def _choice(self: Any, end: Alias, init: Alias, first: Alias) -> Value | None:
        """bool: does the next iteration start from the tensor from before the loop? None when from neither."""
        if end is first:
            return first.cond  # type: ignore[no-any-return]
        if same(end, init):
            return self.g.const(True)  # type: ignore[no-any-return]
        if end.form == ROOT and ((end.root.block.encloses(self.g.block) and not end.root.block.encloses(init.block))
                                 or end.root is first.other.root):  # fmt: skip
            return self.g.const(False)  # type: ignore[no-any-return]
        if end.form == PHI:
            sides = self._choice(end.parent, init, first), self._choice(end.other, init, first)
            if sides[0] is None or sides[1] is None:
                return None
            cond = self.memory.condition(end)
            out = Value(BOOL, block=self.g.block)
            self.memory._if(cond, (Block(self.g.block), Block(self.g.block)), ([sides[0]], [sides[1]]), [out])
            return out
        return None


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


def _choosable(init: Any, end: Any) -> bool:
    return init.__class__ is Alias and end.__class__ is Alias
