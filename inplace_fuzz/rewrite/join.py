"""One of two: what a value stands for after an If, given what it stands for at the end of each branch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .containers import Items, Sealed, Table, Tup
from .ir import NOT_CONSTANT, Value, either
from .memory import NOTHING, PHI, ROOT, STEP, Alias, Root


def same(a: Any, b: Any) -> bool:
    """The two stand for one tensor: one alias, or equal steps from one."""
    if a is b:
        return True
    if a.__class__ is not Alias or b.__class__ is not Alias:
        return (
            isinstance(a, Tup)
            and isinstance(b, Tup)
            and len(a.items) == len(b.items)
            and all(map(same, a.items, b.items))
        )
    a, b = a.moved or a, b.moved or b
    if a.form == NOTHING == b.form:
        return True
    if a is b or a.form == ROOT == b.form:
        return a is b or a.root is b.root
    return (
        a.form == STEP == b.form
        and a.row.kind == b.row.kind
        and len(a.args) == len(b.args)
        and all(x is y or (x.py is not NOT_CONSTANT and x.py == y.py) for x, y in zip(a.args, b.args, strict=True))
        and same(a.parent, b.parent)
    )


class Join:
    """Makes one bound of two: `outs` and the sides' results grow by what has to leave the branches."""

    def __init__(self, walk: Any, cond: Value, sides: list[Any]) -> None:
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
        joined: list[tuple[Any, Any]] = []
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
            values.append(self.inside(side, partial(walk.whole, probe)))
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
        if a.__class__ is Alias and b.__class__ is Value and b.py is None:
            b = walk.memory.nothing()
        elif b.__class__ is Alias and a.__class__ is Value and a.py is None:
            a = walk.memory.nothing()
        if a.__class__ is Alias and b.__class__ is Alias:
            return self.alias(a.moved or a, b.moved or b)
        if isinstance(a, Tup) and isinstance(b, Tup) and len(a.items) == len(b.items):
            return Tup(
                tuple(self.bound(x, y, getattr(x, "type", None)) for x, y in zip(a.items, b.items, strict=True)), a.type
            )
        if type(a) is Items and type(b) is Items and len(a.items) == len(b.items) and self.local(a) and self.local(b):
            items = tuple(self.bound(x, y, getattr(x, "type", None)) for x, y in zip(a.items, b.items, strict=True))
            return Items(items, a.type, walk.g.block)
        values = [self.inside(side, partial(walk.value, x)) for side, x in zip(self.sides, (a, b), strict=True)]
        roots = tuple(self.root_outside(r) for r in (*walk.roots_in(a), *walk.roots_in(b)))
        out = self.out(values[0], values[1], type_)
        if (a.__class__ is Value and b.__class__ is Alias) or (a.__class__ is Alias and b.__class__ is Value):
            return walk.memory.opaque(out, tuple(r for r in roots if r is not None), "prim::If")
        return Sealed(out, tuple(r for r in roots if r is not None), "prim::If", walk.memory.clock)

    def local(self, items: Items) -> bool:
        return items.block is not self.walk.g.block and not items.block.encloses(self.walk.g.block)

    def root_outside(self, root: Root) -> Root | None:
        return root if root.block.encloses(self.walk.g.block) else None

    def inside(self, side: Any, make: Callable[[], Value]) -> Value:
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
        first, second = (self.inside(side, partial(memory.read, x)) for side, x in zip(self.sides, (a, b), strict=True))
        if all(x.form == ROOT and self.uses.get(x.root) == 1 and self.root_outside(x.root) is None for x in (a, b)):
            out = self.out(first, second, either([first, second]))
            out.fresh = True
            return memory.base(out)  # type: ignore[no-any-return]
        out = self.out(first, second, either([first, second]))
        joined = memory.phi(self.cond, self.export(a, 0), self.export(b, 1), None)
        self.later.append((joined, out))
        return joined  # type: ignore[no-any-return]

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
        return found

    def _export(self, alias: Alias, side: int) -> Alias:
        memory = self.walk.memory
        if alias.form == ROOT:
            root = alias.root
            if self.root_outside(root) is not None:
                return alias_of(root)
            found = self.exported.get(root)
            if found is None:
                content = self.inside(self.sides[side], lambda: memory.read(alias))
                out = self.leave(content, side)
                out.fresh = True
                found = self.exported[root] = memory.base(out)
            return found  # type: ignore[no-any-return]
        if alias.form == NOTHING:
            return alias
        if alias.form == STEP:
            args = tuple(self.leave(v, side) for v in alias.args)
            return memory.step(self.export(alias.parent, side), alias.row, args)  # type: ignore[no-any-return]
        if alias.form == PHI:
            cond = alias.cond
            if not isinstance(cond, Value):
                cond = self.inside(self.sides[side], lambda: memory.condition(alias))
            return memory.phi(  # type: ignore[no-any-return]
                self.leave(cond, side), self.export(alias.parent, side), self.export(alias.other, side), None
            )
        roots = tuple(r for r in alias.roots if self.root_outside(r) is not None)
        return memory.opaque(self.leave(alias.val, side), roots, alias.reason)  # type: ignore[no-any-return]

    def leave(self, value: Value, side: int) -> Value:
        """A value of one branch, seen outside; the other branch gives nothing in its place."""
        outer = self.walk.g.block
        if value.block is None or value.block.encloses(outer):
            return value
        found = self.exported.get(value)
        if found is None:
            other = self.inside(self.sides[1 - side], lambda: self.walk.g.op("prim::Uninitialized", [], value.type))
            found = self.exported[value] = self.out(*((value, other) if side == 0 else (other, value)), value.type)
        return found


def alias_of(root: Root) -> Alias:
    alias = Alias(ROOT, root.block)
    alias.root = root
    alias.roots = (root,)
    return alias
