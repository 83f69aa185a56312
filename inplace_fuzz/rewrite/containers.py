"""Tuples, lists and dicts, followed by what is in them.

A container of tensors emits nothing when it is built: it stands for its items, each of which stays an alias. It is
built in the result where an operator takes it whole, from what its items show then. Lists that change are followed
item by item; a change whose place is not known before the program runs is refused.
"""

# ruff: noqa: A002, ARG002  (the functions of one table take the same arguments)

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .edits import EDITS
from .errors import UnsupportedMutation
from .ir import BOOL, INT, NOT_CONSTANT, Node, Value, holds_tensors
from .memory import Alias, Root
from .parts import PARTS, known_length
from .views import add, mul


class Tup:
    """A tuple (or named tuple): it never changes."""

    __slots__ = ("items", "type")

    def __init__(self, items: tuple[Any, ...], type: Any) -> None:
        self.items, self.type = items, type


class Items:
    """A list. `items` is replaced, never changed, so that a branch can be undone.

    A list that grows in a loop is *run-time*: its `items` is one value, the list itself; appending makes a longer one.
    sources: the bases that its tensors looked at, and when; one of them written later makes the list unreadable.
    external: it is the caller's, with as many items as the example has
    """

    __slots__ = ("block", "external", "items", "sources", "type")

    def __init__(self, items: Any, type: Any, block: Any, *, external: bool = False) -> None:
        self.items, self.type, self.block, self.external = items, type, block, external
        self.sources: dict[Root, int] = {}

    keyed = False

    @property
    def at_run_time(self) -> bool:
        return self.items.__class__ is Value


class Table(Items):
    """A dict whose keys are known: `items` is a tuple of (key, bound)."""

    __slots__ = ()
    keyed = True


class Parts:
    """The list that unbind, split and their like give: item i is a view, made when it is asked for.

    cuts: the constant slices `(start, end, step)` that were taken of the list, in order
    """

    __slots__ = ("args", "cuts", "kind", "made", "source", "type")

    def __init__(self, source: Alias, kind: str, args: tuple[Value, ...], type: Any) -> None:
        self.source, self.kind, self.args, self.type = source, kind, args, type
        self.cuts: tuple[tuple[Any, Any, int], ...] = ()
        self.made: dict[int, Alias] = {}


class Sealed:
    """A container made elsewhere (by an operator, or by the caller): items are found by constant index.

    roots: what its items may share memory with; `external` marks one that belongs to the caller.
    """

    __slots__ = ("external", "made", "reason", "roots", "stamp", "value")

    def __init__(self, value: Value, roots: tuple[Root, ...], reason: str, stamp: int, external: Any = None) -> None:
        self.value, self.roots, self.reason, self.stamp, self.external = value, roots, reason, stamp, external
        self.made: dict[Any, Any] = {}


class Containers:
    """The part of the walk that follows containers."""

    @staticmethod
    def handlers() -> dict[str, tuple[Callable[..., None], Any]]:
        of = Containers
        table: dict[str, tuple[Callable[..., None], Any]] = {
            "prim::ListConstruct": (of.list_construct, None),
            "prim::TupleConstruct": (of.tuple_construct, None),
            "prim::DictConstruct": (of.dict_construct, None),
            "prim::ListUnpack": (of.unpack, None),
            "prim::TupleUnpack": (of.unpack, None),
            "prim::TupleIndex": (of.getitem, None),
            "prim::TupleSlice": (of.tuple_slice, None),
            "prim::unchecked_cast": (of.passed_on, None),
            "aten::__getitem__": (of.getitem, None),
            "aten::get": (of.getitem, None),
            "aten::len": (of.length, None),
            "aten::slice": (of.list_slice, None),
            "aten::list": (of.list_copy, None),
            "aten::copy": (of.list_copy, None),
            "aten::add": (of.list_add, None),
            "aten::mul": (of.list_repeat, None),
            "aten::keys": (of.dict_part, 0),
            "aten::values": (of.dict_part, 1),
        }
        for kind in EDITS:
            table[kind] = of.edit, kind
        for kind in PARTS:
            table[kind] = of.parts, kind
        return table

    # ------------------------------------------------------------------ making
    def list_construct(self: Any, node: Node, row: Any) -> None:
        bounds = [v.bound for v in node.inputs]
        out = node.outputs[0]
        if not self.source.mutates_lists:
            for bound in bounds:
                if bound.__class__ is not Value:
                    break
            else:
                self.copy(node, bounds, "pure", keep=False)
                return
        out.bound = Items(tuple(bounds), out.type, self.g.block)

    def tuple_construct(self: Any, node: Node, row: Any) -> None:
        node.outputs[0].bound = Tup(tuple(v.bound for v in node.inputs), node.outputs[0].type)

    def dict_construct(self: Any, node: Node, row: Any) -> None:
        keys = [v.bound.py if v.bound.__class__ is Value else NOT_CONSTANT for v in node.inputs[::2]]
        if NOT_CONSTANT in keys:
            raise self.refuse(node.kind, "a dict whose keys are known only at run time")
        held = dict(zip(keys, [v.bound for v in node.inputs[1::2]], strict=True))
        node.outputs[0].bound = Table(tuple(held.items()), node.outputs[0].type, self.g.block)

    def parts(self: Any, node: Node, kind: str) -> None:
        source = node.inputs[0].bound
        if source.__class__ is not Alias:
            self.pure(node)
            return
        args = tuple(self.values(node.inputs[1:]))
        node.outputs[0].bound = Parts(source.moved or source, node.kind, args, node.outputs[0].type)

    def passed_on(self: Any, node: Node, row: Any) -> None:
        """The program knows more of a value's type from here on: that a tensor is not None, for one."""
        bound, out = node.inputs[0].bound, node.outputs[0]
        if bound.__class__ is Alias and node.inputs[0].type is not None:
            bound = self.memory.step(bound.moved or bound, self.rules.view_of["prim::unchecked_cast"], ())
        elif bound.__class__ is Value and holds_tensors(node.inputs[0].type):
            self.pure(node)
            return
        out.bound = bound

    # ------------------------------------------------------------------ taking apart
    def unpack(self: Any, node: Node, row: Any) -> None:
        bound = node.inputs[0].bound
        if bound.__class__ is Value:
            self.copy(node, [bound], "pure")
            return
        for i, out in enumerate(node.outputs):
            out.bound = self.item(bound, i, out, node)

    def getitem(self: Any, node: Node, row: Any) -> None:
        bound = node.inputs[0].bound
        out = node.outputs[0]
        index = node.inputs[1].bound
        if bound.__class__ is Value or bound.__class__ is Alias or index.__class__ is not Value:
            self.copy(node, self.values(node.inputs), "pure")
        elif index.py is not NOT_CONSTANT:
            out.bound = self.item(bound, index.py, out, node)
        else:
            out.bound = self.item_at(bound, index, out, node)

    def item(self: Any, bound: Any, index: Any, out: Value, node: Node) -> Any:
        """Item `index` (a Python int or key) of a container."""
        kind = bound.__class__
        if kind is Items and bound.at_run_time:
            return self.item_at(bound, self.g.const(index), out, node)
        if kind is Tup or kind is Items:
            return bound.items[index]
        if kind is Table:
            return (
                dict(bound.items).get(index, self.g.const(None))
                if node.kind == "aten::get"
                else dict(bound.items)[index]
            )
        if kind is Parts:
            found = bound.made.get(index)
            if found is None:
                found = bound.made[index] = self.part(bound, index)
            return found
        if kind is Sealed:
            return self.sealed_item(bound, index, out, node)
        raise self.refuse(node.kind, "an item of a container that the pass does not follow")

    def item_at(self: Any, bound: Any, index: Value, out: Value, node: Node) -> Any:
        """Item at a place known only at run time: a choice between the items."""
        kind = bound.__class__
        if kind is Parts:
            return self.part(bound, index)
        if kind is Items and not bound.at_run_time and bound.items and all(b.__class__ is Alias for b in bound.items):
            g, n = self.g, len(bound.items)
            place = g.call("aten::remainder", (index, n), INT)
            chosen = bound.items[-1]
            for i in reversed(range(n - 1)):
                chosen = self.memory.phi(g.call("aten::eq", (place, i), BOOL), bound.items[i], chosen, None)
            return chosen
        self.refuse_callers(bound, node.kind)
        whole = self.whole(bound)
        value = self.g.op(node.kind, [whole, index], out.type, fresh=False)
        if holds_tensors(out.type):
            return self.unknown_container(value, self.roots_in(bound), node.kind)
        if out.type is not None:
            return value
        return self.memory.opaque(value, self.roots_in(bound), node.kind)

    def refuse_callers(self: Any, bound: Any, kind: str) -> None:
        """Which tensors a list of the caller's holds is known by constant places, or from example inputs."""
        if bound.__class__ is Sealed and bound.external is not None:
            raise self.refuse(
                kind, "a list or dict of the caller's, of which only items at constant places are followed",
                hint="give functionalize() example_inputs",
            )  # fmt: skip

    def sealed_item(self: Any, bound: Sealed, index: Any, out: Value, node: Node) -> Any:
        found = bound.made.get(index)
        if found is not None:
            return found
        g = self.g
        if bound.external is not None:
            if isinstance(index, int) and index < 0:
                raise self.refuse(node.kind, "an item of the caller's list, counted from its end")
            value = self.early("aten::__getitem__", [bound.value, g.const(index)], out.type)
            found = self.external(value, (*bound.external, index))
        else:
            value = g.op("aten::__getitem__", [bound.value, g.const(index)], out.type, fresh=not bound.roots)
            found = value
            if out.type is None:
                memory = self.memory
                found = memory.opaque(value, bound.roots, bound.reason) if bound.roots else memory.base(value)
        bound.made[index] = found
        return found

    def length(self: Any, node: Node, row: Any) -> None:
        bound = node.inputs[0].bound
        if isinstance(bound, (Items, Tup)) and bound.items.__class__ is not Value:
            node.outputs[0].bound = self.g.const(len(bound.items))
        elif bound.__class__ is Alias:
            self.shape(node, None)
        else:
            self.copy(node, self.values(node.inputs), "pure", keep=False)

    # ------------------------------------------------------------------ whole again
    def whole(self: Any, bound: Any) -> Value:
        """The container as one value, its items as they are now."""
        g = self.g
        kind = bound.__class__
        if kind is Items and bound.at_run_time:
            return self.run_time_list(bound)  # type: ignore[no-any-return]
        if kind is Tup or kind is Items:
            name = "prim::TupleConstruct" if kind is Tup else "prim::ListConstruct"
            return g.op(name, [self.value(b) for b in bound.items], bound.type)  # type: ignore[no-any-return]
        if kind is Table:
            flat = [v for key, b in bound.items for v in (g.const(key), self.value(b))]
            return g.op("prim::DictConstruct", flat, bound.type)  # type: ignore[no-any-return]
        if kind is Parts:
            return self.cut(bound, self.memory.read(bound.source), bound.cuts)  # type: ignore[no-any-return]
        if kind is Sealed:
            made = [r for b in bound.made.values() for r in self.roots_in(b)]
            if any(r.clock > bound.stamp for r in (*bound.roots, *made)):
                raise self.refuse(bound.reason, "a container is used whole after one of its tensors was written")
            return bound.value  # type: ignore[no-any-return]
        if isinstance(bound, UnsupportedMutation):
            raise bound
        return bound.value  # type: ignore[no-any-return]

    def cut(self: Any, parts: Parts, source: Value, cuts: tuple[tuple[Any, Any, int], ...]) -> Value:
        """The list of parts of `source`, sliced as the program sliced it."""
        g = self.g
        value = g.op(parts.kind, [source, *parts.args], parts.type)
        for places in cuts:
            value = g.op("aten::slice", [value, *map(g.const, places)], parts.type)
        return value  # type: ignore[no-any-return]

    def run_time_list(self: Any, bound: Items) -> Value:
        if any(root.clock > stamp for root, stamp in bound.sources.items()):
            raise self.refuse("aten::append", "a growing list is used after one of its tensors was written",
                              hint="append a clone")  # fmt: skip
        return bound.items  # type: ignore[no-any-return]

    def seal(self: Any, bound: Items, more: Iterable[Root] = ()) -> None:
        """From here on the length of the list is known only when the program runs."""
        clock = self.memory.clock
        for root in (*self.roots_in(bound), *more):
            bound.sources.setdefault(root, clock)
        if not bound.at_run_time:
            self.set_items(bound, self.whole(bound))

    def roots_in(self: Any, bound: Any) -> tuple[Root, ...]:
        if bound.__class__ is Alias:
            return bound.roots
        if bound.__class__ is Parts:
            return bound.source.roots
        if bound.__class__ is Sealed:
            return (*bound.roots, *(r for b in bound.made.values() for r in self.roots_in(b)))
        if bound.__class__ is Table:
            return tuple(r for _, b in bound.items for r in self.roots_in(b))
        if isinstance(bound, Items) and bound.at_run_time:
            return tuple(bound.sources)
        if isinstance(bound, (Items, Tup)):
            return tuple(r for b in bound.items for r in self.roots_in(b))
        return ()

    def roots_of(self: Any, inputs: list[Value]) -> tuple[Root, ...]:
        return tuple(r for v in inputs for r in self.roots_in(v.bound))

    def unknown_container(self: Any, value: Value, roots: tuple[Root, ...], kind: str) -> Sealed:
        return Sealed(value, roots, kind, self.memory.clock)

    # ------------------------------------------------------------------ lists that change
    def set_items(self: Any, target: Items, items: tuple[Any, ...]) -> None:
        self.note_cell(target, target.items)
        target.items = items

    def edit(self: Any, node: Node, kind: str) -> None:
        target = node.inputs[0].bound
        if isinstance(target, Items) and target.external:
            raise self.refuse(kind, "it changes a list or dict of the caller's")
        if not isinstance(target, Items):
            raise self.refuse(kind, "it changes a container that the pass does not follow")
        args = [v.bound for v in node.inputs[1:]]
        if target.at_run_time:
            self.edit_at_run_time(node, target, args)
            return
        items, result = EDITS[kind](self, node, target, args)
        if node.outputs:
            node.outputs[0].bound = target if result is None else result
        self.set_items(target, tuple(items))

    def edit_at_run_time(self: Any, node: Node, target: Items, args: list[Any]) -> None:
        if node.kind not in ("aten::append", "aten::append.t"):
            raise self.refuse(node.kind, "it changes a list whose length is known only at run time")
        g, clock = self.g, self.memory.clock
        for root in self.roots_in(args[0]):
            target.sources[root] = min(clock, target.sources.get(root, clock))
        one = g.op("prim::ListConstruct", [self.value(args[0])], target.type)
        self.set_items(target, g.op("aten::add", [target.items, one], target.type))  # l := l + [t]
        node.outputs[0].bound = target

    def list_slice(self: Any, node: Node, row: Any) -> None:
        bound = node.inputs[0].bound
        bounds = [v.bound.py if v.bound.__class__ is Value else NOT_CONSTANT for v in node.inputs[1:]]
        if isinstance(bound, Items) and NOT_CONSTANT not in bounds and not bound.at_run_time:
            node.outputs[0].bound = Items(bound.items[slice(*bounds)], bound.type, self.g.block)
        elif bound.__class__ is Parts and NOT_CONSTANT not in bounds:
            out = node.outputs[0].bound = Parts(bound.source, bound.kind, bound.args, bound.type)
            out.cuts = (*bound.cuts, tuple(bounds))
        else:
            self.pure(node)

    def tuple_slice(self: Any, node: Node, row: Any) -> None:
        bound, out = node.inputs[0].bound, node.outputs[0]
        if bound.__class__ is Tup:
            out.bound = Tup(bound.items[node.origin.i("beg") : node.origin.i("end")], out.type)
        else:
            self.pure(node)

    def list_repeat(self: Any, node: Node, row: Any) -> None:
        """`[t] * 2`: the same tensors again."""
        bound, times = (v.bound for v in node.inputs[:2])
        if type(bound) is Items and not bound.at_run_time and times.__class__ is Value and isinstance(times.py, int):
            node.outputs[0].bound = Items(tuple(bound.items) * times.py, bound.type, self.g.block)
        else:
            self.pure(node)

    def list_copy(self: Any, node: Node, row: Any) -> None:
        bound = node.inputs[0].bound
        if isinstance(bound, Items):
            copied = node.outputs[0].bound = type(bound)(bound.items, bound.type, self.g.block)
            copied.sources.update(bound.sources)
        else:
            self.pure(node)

    def list_add(self: Any, node: Node, row: Any) -> None:
        first, second = node.inputs[0].bound, node.inputs[1].bound
        if isinstance(first, Items) and isinstance(second, Items) and not (first.at_run_time or second.at_run_time):
            node.outputs[0].bound = Items(first.items + second.items, first.type, self.g.block)
        else:
            self.pure(node)

    def dict_part(self: Any, node: Node, which: int) -> None:
        bound = node.inputs[0].bound
        if not isinstance(bound, Table):
            self.pure(node)
            return
        items = tuple(self.g.const(k) if which == 0 else b for k, b in bound.items)
        node.outputs[0].bound = Items(items, node.outputs[0].type, self.g.block)

    # ------------------------------------------------------------------ views that come as a list
    def part(self: Any, parts: Parts, index: Any) -> Alias:
        g = self.g
        if isinstance(index, int) and index < 0:
            index = self.count(parts, parts.cuts, index)
        for k, (start, _, step) in reversed(list(enumerate(parts.cuts))):
            first = self.count(parts, parts.cuts[:k], start) if isinstance(start, int) and start < 0 else start or 0
            index = add(g, mul(g, index, step), first)
        kind, args = PARTS[parts.kind.split(".", 1)[0]](self, parts, index)
        values = tuple([a if a.__class__ is Value else g.const(a) for a in args])
        return self.look(parts.source, self.rules.view_of[kind], values, kind)  # type: ignore[no-any-return]

    def count(self: Any, parts: Parts, cuts: tuple[Any, ...], place: int) -> Any:
        """`place`, counted from the end of the list of parts after `cuts`: an int where the length is one."""
        length = None if cuts else known_length(parts)
        if length is None:
            whole = self.cut(parts, self.memory.peek(parts.source), cuts)
            length = self.g.call("aten::len", (whole,), INT)
        return add(self.g, length, place)
