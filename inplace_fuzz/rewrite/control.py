"""If and Loop: what a branch or an iteration writes is seen after it, whatever path the program takes.

If.   Both branches are walked from the same memory. A base that either wrote becomes a result of the If: the
      branch's content, or the content from before. A tensor result is an alias again: of the tensor that both
      branches give, of a new base when both give tensors of their own, else a choice (Phi) on the condition.

          if flag: y = x                        %y  = If(%flag) -> (%x), (%zeros)
          else:    y = torch.zeros([3])         %y2 = add(%y, 2)
          y.add_(2)                             %x2 = If(%flag) -> (%y2), (%x)        x is written on one path only

Loop. The body is walked until what it writes is known: every outer base that it writes becomes a carried value, so
      that a read early in the body sees what the iteration before wrote, and a loop that runs no time changes nothing.
      A carried tensor is first taken to be the same tensor in every iteration; if the body says otherwise, a choice:
      the tensor from before the loop in the first iteration, the loop's own afterwards.

          y = x                                 carried: %y, %x, and whether this is the first iteration
          for _ in range(n):
              y.add_(1)                         %y2 = add(%y, 1); %x2 = If(%first) -> (%y2), (%x)
              y = y * 2
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .containers import Items, Sealed, Table, Tup
from .errors import UnsupportedMutation
from .ir import BOOL, NOT_CONSTANT, Block, Node, Value
from .memory import OPAQUE, PHI, ROOT, STEP, Alias, Root

if TYPE_CHECKING:
    from .walk import Walk

_WRITTEN_OUT = 400
_SAME, _CHOICE, _CLOSED = "the same tensor", "first or own", "not followed"


class Side:
    """One branch, walked: its block, what its results are bound to, and what it wrote."""

    def __init__(self, block: Block, bounds: list[Any], writes: dict[Root, Value], cells: dict[Any, Any]) -> None:
        self.block, self.bounds, self.writes, self.cells = block, bounds, writes, cells
        self.results: list[Value] = []


class Control:
    """The part of the walk that follows If and Loop."""

    @staticmethod
    def handlers() -> dict[str, tuple[Callable[..., None], Any]]:
        return {"prim::If": (Control.walk_if, None), "prim::Loop": (Control.walk_loop, None)}

    # ------------------------------------------------------------------ If
    def walk_if(self: Walk, node: Node, row: Any) -> None:
        cond = self.value(node.inputs[0].bound)
        if isinstance(cond.py, bool):
            taken = node.blocks[0 if cond.py else 1]
            self.nodes(taken)
            for out, result in zip(node.outputs, taken.results, strict=True):
                out.bound = result.bound
            return
        sides = [self.side(block) for block in node.blocks]
        self.node = node
        join = _Join(self, cond, sides)
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

    def side(self: Walk, block: Block) -> Side:
        outer, self.changed_cells = self.changed_cells, []

        def body() -> list[Any]:
            self.nodes(block)
            bounds = [r.bound for r in block.results]
            for bound in bounds:
                if bound.__class__ is Alias and not (bound.moved or bound).form == OPAQUE:
                    self.memory.read(bound.moved or bound)
            return bounds

        try:
            (made, bounds), writes = self.memory.branch(body)
            cells = {}
            for cell, before in reversed(self.changed_cells):
                cells.setdefault(cell, cell.items)
                cell.items = before
        finally:
            self.changed_cells = outer
        return Side(made, bounds, writes, cells)

    # ------------------------------------------------------------------ Loop
    def walk_loop(self: Walk, node: Node, row: Any) -> None:
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

    def _settled(self: Walk, node: Node) -> bool:
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

    def _write_out(self: Walk, node: Node) -> None:
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

    def _loop(
        self: Walk, node: Node, modes: list[str], carried: list[Root], growing: dict[Items, set[Root]]
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
                        raise self.refuse(node.kind, "a container or a tensor that changes from one iteration to the next")
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
            return again

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
        self: Walk, node: Node, head: Any, params: list[Value], block: Block, results: list[Value],
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

    def _seat(self: Walk, init: Any, type_: Any, mode: str, start: list[Value], params: list[Value]) -> tuple[str, Any]:
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

    def _seated(self: Walk, mode: str, seat: Any, init: Any) -> Any:
        memory = self.memory
        if mode == "plain":
            return seat
        if mode is _SAME:
            return init
        if mode is _CHOICE:
            return memory.phi(seat[0], init.moved or init, memory.base(seat[1]), seat[1])
        return memory.opaque(seat[0], seat[1], "prim::Loop")

    def _seat_back(self: Walk, mode: str, seat: Any, init: Any, end: Any, first: Any, back: list[Value]) -> bool:
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

    def _choice(self: Walk, end: Alias, init: Alias, first: Alias) -> Value | None:
        """bool: does the next iteration start from the tensor from before the loop? None when from neither."""
        if end is first:
            return first.cond  # type: ignore[no-any-return]
        if same(end, init):
            return self.g.const(True)
        if end.form == ROOT and (end.root.block.encloses(self.g.block) and not end.root.block.encloses(init.block)
                                 or end.root is first.other.root):  # fmt: skip
            return self.g.const(False)
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


def same(a: Any, b: Any) -> bool:
    """The two stand for one tensor: one alias, or equal steps from one."""
    if a is b:
        return True
    if a.__class__ is not Alias or b.__class__ is not Alias:
        return isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items) and all(map(same, a.items, b.items))
    a, b = a.moved or a, b.moved or b
    if a is b or a.form == ROOT == b.form:
        return a is b or a.root is b.root
    return (
        a.form == STEP == b.form
        and a.row.kind == b.row.kind
        and len(a.args) == len(b.args)
        and all(x is y or (x.py is not NOT_CONSTANT and x.py == y.py) for x, y in zip(a.args, b.args, strict=True))
        and same(a.parent, b.parent)
    )


class _Join:
    """Makes one bound of two: `outs` and the sides' results grow by what has to leave the branches."""

    def __init__(self, walk: Walk, cond: Value, sides: list[Side]) -> None:
        self.walk, self.cond, self.sides = walk, cond, sides
        self.outs: list[Value] = []
        self.later: list[tuple[Alias, Value]] = []
        self.exported: dict[Any, Any] = {}
        self.uses: dict[Root, int] = {}
        for side in sides:
            for bound in [*side.bounds, *side.cells.values()]:
                for root in walk.roots_in(bound):
                    self.uses[root] = self.uses.get(root, 0) + 1

    def pairs(self) -> list[tuple[Any, Any]]:
        return list(zip(self.sides[0].bounds, self.sides[1].bounds, strict=True))

    def cells(self) -> list[tuple[Any, Any]]:
        joined = []
        for cell in dict.fromkeys([*self.sides[0].cells, *self.sides[1].cells]):
            if isinstance(cell, Items) and not cell.block.encloses(self.walk.g.block):
                continue
            a, b = (side.cells.get(cell, cell.items) for side in self.sides)
            if isinstance(cell, Items):
                if isinstance(cell, Table) and len(a) != len(b):
                    raise self.walk.refuse("aten::_set_item", "a dict whose keys depend on the branch taken")
                if a.__class__ is Value or b.__class__ is Value or len(a) != len(b):
                    joined.append((cell, self.grown(cell, a, b)))
                    continue
                if isinstance(cell, Table):
                    if [k for k, _ in a] != [k for k, _ in b]:
                        raise self.walk.refuse("aten::_set_item", "a dict whose keys depend on the branch taken")
                    items = [(k, self.bound(x, y, None)) for (k, x), (_, y) in zip(a, b, strict=True)]
                    joined.append((cell, tuple(items)))
                    continue
                joined.append((cell, tuple(self.bound(x, y, None) for x, y in zip(a, b, strict=True))))
            else:
                joined.append((cell, self.bound(a, b, None)))
        return joined

    def grown(self, cell: Items, a: Any, b: Any) -> Value:
        """A list that is longer on one side: its length is known at run time from here on."""
        walk = self.walk
        values = []
        for side, items in zip(self.sides, (a, b), strict=True):
            probe = Items(items, cell.type, cell.block)
            probe.sources = cell.sources
            values.append(self.inside(side, lambda probe=probe: walk.whole(probe)))
            for root in walk.roots_in(probe):
                if self.root_outside(root) is not None:
                    cell.sources.setdefault(root, walk.memory.clock)
        return self.out(values[0], values[1], cell.type)

    def out(self, first: Value, second: Value, type_: Any) -> Value:
        value = Value(type_, fresh=False, block=self.walk.g.block)
        self.outs.append(value)
        self.sides[0].results.append(first)
        self.sides[1].results.append(second)
        return value

    def bound(self, a: Any, b: Any, type_: Any) -> Any:
        if a is b:
            return a
        walk = self.walk
        if a.__class__ is Value and b.__class__ is Value:
            if a.py is not NOT_CONSTANT and a.py == b.py and type(a.py) is type(b.py):
                return a
            return self.out(a, b, type_ if type_ is not None else a.type)
        if a.__class__ is Alias and b.__class__ is Alias:
            return self.alias(a.moved or a, b.moved or b)
        if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
            return Tup(tuple(self.bound(x, y, getattr(x, "type", None)) for x, y in zip(a.items, b.items, strict=True)), a.type)
        if type(a) is Items and type(b) is Items and len(a.items) == len(b.items) and self.local(a) and self.local(b):
            items = tuple(self.bound(x, y, getattr(x, "type", None)) for x, y in zip(a.items, b.items, strict=True))
            return Items(items, a.type, walk.g.block)
        values = [self.inside(side, lambda x=x: walk.value(x)) for side, x in zip(self.sides, (a, b), strict=True)]
        roots = tuple(self.root_outside(r) for r in (*walk.roots_in(a), *walk.roots_in(b)))
        out = self.out(values[0], values[1], type_)
        if a.__class__ is Value and b.__class__ is Alias or a.__class__ is Alias and b.__class__ is Value:
            return walk.memory.opaque(out, tuple(r for r in roots if r is not None), "prim::If")
        return Sealed(out, tuple(r for r in roots if r is not None), "prim::If", walk.memory.clock)

    def local(self, items: Items) -> bool:
        return items.block is not self.walk.g.block and not items.block.encloses(self.walk.g.block)

    def root_outside(self, root: Root) -> Root | None:
        return root if root.block.encloses(self.walk.g.block) else None

    def inside(self, side: Side, make: Callable[[], Value]) -> Value:
        """Emit at the end of a branch that is already walked."""
        g, memory = self.walk.g, self.walk.memory
        outer, cached, written = g.block, memory.cached, memory.written
        g.block, memory.cached, memory.written = side.block, [], []
        for root, value in side.writes.items():
            memory.set_root(root, value)
        try:
            return make()
        finally:
            memory.undo(memory.cached, memory.written)
            g.block, memory.cached, memory.written = outer, cached, written

    def alias(self, a: Alias, b: Alias) -> Alias:
        walk = self.walk
        memory = walk.memory
        if same(a, b):
            outside = [x for x in (a, b) if x.block.encloses(walk.g.block)]
            return outside[0] if outside else self.export(a, 0)
        first, second = (
            self.inside(side, lambda x=x: memory.read(x)) for side, x in zip(self.sides, (a, b), strict=True)
        )
        if all(x.form == ROOT and self.uses.get(x.root) == 1 and self.root_outside(x.root) is None for x in (a, b)):
            out = self.out(first, second, None)
            out.fresh = True
            return memory.base(out)
        out = self.out(first, second, None)
        joined = memory.phi(self.cond, self.export(a, 0), self.export(b, 1), None)
        self.later.append((joined, out))
        return joined

    def settle(self) -> None:
        """What a joined alias shows right after the If is known."""
        for alias, value in self.later:
            alias.val, alias.stamp = value, self.walk.memory.clock

    def export(self, alias: Alias, side: int) -> Alias:
        """The alias as it can be followed outside the branch that made it."""
        if alias.block.encloses(self.walk.g.block):
            return alias
        found = self.exported.get(alias)
        if found is None:
            found = self.exported[alias] = self._export(alias, side)
        return found  # type: ignore[no-any-return]

    def _export(self, alias: Alias, side: int) -> Alias:
        memory = self.walk.memory
        if alias.form == ROOT:
            root = alias.root
            if self.root_outside(root) is not None:
                return memory_alias_of(memory, root)
            found = self.exported.get(root)
            if found is None:
                content = self.inside(self.sides[side], lambda: memory.read(alias))
                out = self.leave(content, side)
                out.fresh = True
                found = self.exported[root] = memory.base(out)
            return found  # type: ignore[no-any-return]
        if alias.form == STEP:
            args = tuple(self.leave(v, side) for v in alias.args)
            return memory.step(self.export(alias.parent, side), alias.row, args)
        if alias.form == PHI:
            cond = alias.cond
            if not isinstance(cond, Value):
                cond = self.inside(self.sides[side], lambda: memory.condition(alias))
            return memory.phi(
                self.leave(cond, side), self.export(alias.parent, side), self.export(alias.other, side), None
            )
        roots = tuple(r for r in alias.roots if self.root_outside(r) is not None)
        return memory.opaque(self.leave(alias.val, side), roots, alias.reason)

    def leave(self, value: Value, side: int) -> Value:
        """A value of one branch, seen outside; the other branch gives nothing in its place."""
        outer = self.walk.g.block
        if value.block is None or value.block.encloses(outer):
            return value
        found = self.exported.get(value)
        if found is None:
            other = self.inside(self.sides[1 - side], lambda: self.walk.g.op("prim::Uninitialized", [], value.type))
            found = self.exported[value] = self.out(*((value, other) if side == 0 else (other, value)), value.type)
        return found  # type: ignore[no-any-return]


def memory_alias_of(memory: Any, root: Root) -> Alias:
    alias = Alias(ROOT, root.block)
    alias.root = root
    alias.roots = (root,)
    return alias
