"""Inputs, buffers and attributes: the tensors that somebody outside can see."""

# ruff: noqa: ARG002  (the functions of one table take the same arguments)

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from .containers import Items, Sealed, Table, Tup
from .ir import BOOL, INT, INTS, Block, Node, Value, holds_tensors
from .memory import Alias, certain, shares_storage, storage_start
from .views import add, known_ints


class Module:
    """`self`, or a submodule of it: a path of names and the value that stands for it in the result."""

    __slots__ = ("path", "value")

    def __init__(self, path: tuple[str, ...], value: Value) -> None:
        self.path, self.value = path, value


@dataclasses.dataclass(frozen=True)
class SharedStorage:
    """Inputs that share one storage of `length` elements; members are (input, size, stride, offset)."""

    length: int
    members: tuple[tuple[int, tuple[int, ...], tuple[int, ...], int], ...]


class Cell:
    """An attribute that the program rebinds: what it is bound to now."""

    __slots__ = ("items", "module", "name", "origin")

    def __init__(self, items: Any, module: Module, name: str, origin: Any) -> None:
        self.items, self.module, self.name, self.origin = items, module, name, origin


class State:
    """The part of the walk that knows inputs and attributes."""

    @staticmethod
    def handlers() -> dict[str, tuple[Callable[..., None], Any]]:
        return {
            "prim::GetAttr": (State.get_attribute, None),
            "prim::SetAttr": (State.set_attribute, None),
            "prim::Enter": (State.grad_mode, 1),
            "prim::Exit": (State.grad_mode, -1),
            "fx::grad_mode": (State.region, None),
        }

    def start_state(self: Any) -> None:
        self.attributes: dict[tuple[str, ...], Any] = {}
        self.cells: dict[tuple[str, ...], Cell] = {}
        self.changed_cells: list[tuple[Any, Any]] | None = None
        self.plain_storage: list[Alias] = []
        self.tied: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.storages: list[tuple[Alias, list[Any]]] = []
        self.assumed: list[tuple[Callable[[], Value], str]] = []
        self.without_grad = 0
        self.regions: list[bool] = []

    # ------------------------------------------------------------------ inputs
    def input(self: Any, param: Value, example: Any = None) -> None:
        mine = Value(param.type, fresh=False, block=self.g.block)
        self.out.block.params.append(mine)
        name = param.name or (param.target.debugName() if param.target is not None else "")
        mine.name = "" if name.isdigit() else name
        param.bound = self.external(mine, (f"input {len(self.out.block.params) - 1}",), example)

    def share(self: Any, groups: Sequence[SharedStorage]) -> None:
        """Inputs that share memory, as the example inputs do: each is a look at one storage. Guarded, see `guards`."""
        g = self.g
        params = self.source.block.params
        for group in groups:
            values = [params[i].bound.root.first for i, _, _, _ in group.members]
            args = [g.ints([group.length]), g.ints([1]), g.const(0)]
            for value in args[:2]:
                self.prologue.append(self.g.block.nodes.pop(self.g.block.nodes.index(value.node)))
            base = self.memory.base(self.early("aten::as_strided", [values[0], *args], None), external=("storage",))
            members = []
            for (i, size, stride, offset), value in zip(group.members, values, strict=True):
                self.externals.remove(params[i].bound)
                step = (g.ints(size), g.ints(stride), g.const(offset))
                alias = params[i].bound = self.memory.step(base, self.rules.view_of["aten::as_strided"], step)
                members.append((value, alias, (size, stride, offset)))
            self.storages.append((base, members))

    def external(self: Any, value: Value, name: tuple[Any, ...], example: Any = None) -> Any:
        """What a value that comes from outside stands for; `example` says what a list or dict of the caller's holds."""
        type_ = value.type
        if type_ is None:
            value.fresh = False
            alias = self.memory.base(value, external=name)
            # It was there before the program ran, wherever it is first mentioned.
            alias.block = alias.root.block = self.out.block
            self.externals.append(alias)
            return alias
        kind = type_.kind() if hasattr(type_, "kind") else ""
        if kind == "TupleType":
            return Tup(tuple(self._tuple_items(value, name, example)), type_)
        if kind == "ClassType":
            return Module((), value)
        if kind == "OptionalType" and type_.getElementType().kind() == "TensorType":
            alias = self.memory.base(value, external=name)
            alias.block = alias.root.block = self.out.block
            self.externals.append(alias)
            return alias
        if not holds_tensors(type_):
            return value
        if kind == "ListType" and isinstance(example, (list, tuple)):
            return self._list_items(value, name, list(example))
        if kind == "DictType" and isinstance(example, dict):
            return self._dict_items(value, name, example)
        if kind in ("ListType", "DictType"):
            return Sealed(value, (), "prim::ListConstruct", self.memory.clock, external=name)
        # Whatever it is, its tensors are the caller's: they can be read, and writing them is refused.
        return Sealed(value, self.memory.base(value).roots, str(type_), self.memory.clock)

    def _list_items(self: Any, value: Value, name: tuple[Any, ...], example: list[Any]) -> Items:
        """A list of the caller's, as long as the example; guarded."""
        element = value.type.getElementType()
        own = None if element.kind() == "TensorType" else element
        items = [self.early("aten::__getitem__", [value, self.g.const(i)], own) for i in range(len(example))]
        bounds = [self.external(item, (*name, i), e) for i, (item, e) in enumerate(zip(items, example, strict=True))]

        def differs() -> Value:
            return self.g.call("aten::ne", (self.g.call("aten::len", (value,), INT), len(example)), BOOL)  # type: ignore[no-any-return]

        self.assumed.append((differs, f"{_words(name)} had {len(example)} items"))
        return Items(tuple(bounds), value.type, self.out.block, external=True)

    def _dict_items(self: Any, value: Value, name: tuple[Any, ...], example: dict[Any, Any]) -> Table:
        """A dict of the caller's, with the keys of the example, in that order; guarded."""
        g = self.g
        keys, element = value.type.getKeyType(), value.type.getValueType()
        own = None if element.kind() == "TensorType" else element
        held = [
            (k, self.external(self.early("aten::__getitem__", [value, g.const(k)], own), (*name, k), e))
            for k, e in example.items()
        ]

        def differs() -> Value:
            listed = type(INTS)(keys)
            names = g.call("prim::ListConstruct", list(example), listed)
            return g.call("aten::ne", (g.call("aten::keys", (value,), listed), names), BOOL)  # type: ignore[no-any-return]

        self.assumed.append((differs, f"{_words(name)} had the keys {list(example)}"))
        return Table(tuple(held), value.type, self.out.block, external=True)

    def _tuple_items(self: Any, value: Value, name: tuple[Any, ...], example: Any) -> list[Any]:
        types = value.type.elements()
        items = [Value(None if t.kind() == "TensorType" else t, fresh=False, block=self.out.block) for t in types]
        node = Node("prim::TupleUnpack", [value], items)
        for item in items:
            item.node = node
        self.prologue.append(node)
        known = example if isinstance(example, tuple) and len(example) == len(items) else [None] * len(items)
        return [self.external(item, (*name, i), known[i]) for i, item in enumerate(items)]

    def early(self: Any, kind: str, inputs: list[Value], type_: Any, origin: Any = None) -> Value:
        """A node at the very top of the graph, where it sees what the caller gave."""
        value = Value(type_, fresh=False, block=self.out.block)
        value.node = node = Node(kind, inputs, [value], origin=origin)
        self.prologue.append(node)
        return value

    # ------------------------------------------------------------------ attributes
    def get_attribute(self: Any, node: Node, row: Any) -> None:
        module = node.inputs[0].bound
        out = node.outputs[0]
        if module.__class__ is not Module:
            self.copy(node, self.values(node.inputs), "alias")
            return
        path = (*module.path, node.origin.s("name"))
        if path[-1] == "training" and module.path in self.modes:
            self._assume_mode(module, path)
            out.bound = self.g.const(self.modes[module.path])
            return
        cell = self.cells.get(path)
        if cell is not None:
            out.bound = cell.items
            return
        out.bound = self.attribute(module, path, out.type, node.origin)

    def _assume_mode(self: Any, module: Module, path: tuple[str, ...]) -> None:
        """A module is rewritten for the mode that it is in; guarded."""
        if path in self.attributes:
            return
        value = self.attributes[path] = self.early("prim::GetAttr", [module.value], BOOL, "training")
        mode = self.modes[module.path]
        what = f"the module was in {'training' if mode else 'eval'} mode"
        self.assumed.append((lambda: self.g.call("aten::ne", (value, mode), BOOL), what))

    def attribute(self: Any, module: Module, path: tuple[str, ...], type_: Any, origin: Any) -> Any:
        found = self.attributes.get(self.tied.get(path, path))
        if found is None:
            value = self.early("prim::GetAttr", [module.value], type_, path[-1])
            kind = type_.kind() if hasattr(type_, "kind") else ""
            found = Module(path, value) if kind == "ClassType" else self.external(value, ("attribute", *path))
            self.attributes[self.tied.get(path, path)] = found
        return found

    def set_attribute(self: Any, node: Node, row: Any) -> None:
        module, bound = node.inputs[0].bound, node.inputs[1].bound
        if module.__class__ is not Module:
            if bound.__class__ is not Value or bound.type is None or holds_tensors(bound.type):
                raise self.refuse(node.kind, "it puts a tensor into an object that is not a module")
            self.copy(node, [self.value(module), bound], "pure")
            return
        path = (*module.path, node.origin.s("name"))
        cell = self.cells.get(path)
        if cell is None:
            before = self.attribute(module, path, node.inputs[1].type, node.origin)
            if before is bound:
                return
            cell = self.cells[path] = Cell(before, module, path[-1], node.origin)
        self.note_cell(cell, cell.items)
        cell.items = bound

    def note_cell(self: Any, cell: Any, before: Any) -> None:
        if self.changed_cells is not None:
            self.changed_cells.append((cell, before))

    def grad_mode(self: Any, node: Node, step: int) -> None:
        """`with torch.no_grad():` stays, in its place; what is written inside may be a leaf that requires gradients."""
        if "no_grad" in str(node.inputs[0].type):
            self.without_grad += step
        self.copy(node, self.values(node.inputs), "pure")

    def region(self: Any, node: Node, row: Any) -> None:
        """The beginning or the end of what an FX graph runs with gradients off, or on again."""
        enabled = node.inputs[0].bound.py
        self.regions.append(enabled is False) if enabled is not None else self.regions.pop()
        self.without_grad = sum(self.regions[-1:])

    # ------------------------------------------------------------------ guards
    def need_plain_storage(self: Any, base: Alias) -> None:
        if base not in self.plain_storage:
            self.plain_storage.append(base)

    def need_reach(self: Any, base: Alias, args: tuple[Value, ...]) -> None:
        """A caller's storage may be larger than its tensor: what is looked at must lie in the tensor, which is all that
        can be written back.
        """
        self._guard_reach(
            base, args, "the caller's storage",
            f"inplace_fuzz: as_strided looks beyond {_name(base)} into its storage; "
            "give functionalize() example_inputs",
        )  # fmt: skip

    def need_own_storage(self: Any, base: Alias, args: tuple[Value, ...]) -> None:
        """What a scatter made lies as its argument does, in a copy of all the storage behind that. What is written to
        it later does not, so nothing but the tensor may be looked at. Asked of the argument, as the program lays it.
        """
        g, source, kind = self.g, base.root.laid_as, base.root.first.node.kind
        if any(root.laid_as is not None for root in source.roots):
            raise self.refuse("aten::as_strided", f"the storage that {kind} copied is itself such a copy")
        seen = self.memory.witness(source)
        plain = g.call("aten::is_contiguous", (seen,), BOOL)
        first = g.call("aten::eq", (g.call("aten::storage_offset", (seen,), INT), 0), BOOL)
        self._guard(
            g.call("aten::__not__", (g.call("aten::__and__", (plain, first), BOOL),), BOOL),
            f"inplace_fuzz: as_strided looks at what {kind} made of a tensor that is not contiguous from the start of "
            "its storage; clone that first",
        )
        self._guard_reach(
            base, args, f"the storage that {kind} copied",
            f"inplace_fuzz: as_strided looks beyond what {kind} made into the storage that it copied",
        )  # fmt: skip

    def _guard_reach(self: Any, base: Alias, args: tuple[Value, ...], where: str, message: str) -> None:
        g = self.g
        sizes, strides = known_ints(args[0]), known_ints(args[1])
        if sizes is None or strides is None:
            raise self.refuse(
                "aten::as_strided", f"how far it reaches into {where} is not known",
                hint="give constant sizes and strides",
            )  # fmt: skip
        if 0 in sizes:
            return
        reach = 1 + sum((n - 1) * step for n, step in zip(sizes, strides, strict=True))
        end = reach if args[2].py is None else add(g, args[2], reach)
        self._guard(g.call("aten::lt", (g.numel(base.root.first), end), BOOL), message)

    def guards(self: Any, written: list[Alias]) -> None:
        """Check, when the program runs, what was assumed: that a written input shares no memory with another."""
        g = self.g
        block, g.block = g.block, Block(self.out.block)
        try:
            self._guard_sharing(written)
            self._guard_assumed()
            for base in self.plain_storage:
                value = base.root.first
                plain = g.call("aten::is_contiguous", (value,), BOOL)
                offset = g.call("aten::storage_offset", (value,), INT)
                both = g.call("aten::__and__", (plain, g.call("aten::eq", (offset, 0), BOOL)), BOOL)
                self._guard(
                    g.call("aten::__not__", (both,), BOOL),
                    f"inplace_fuzz: {_name(base)} is looked at by as_strided and must be contiguous, from offset 0",
                )
            for _, members in self.storages:
                for value, _, (size, stride, offset) in members:
                    self._guard_layout(value, members[0][0], size, stride, offset)
            self.prologue.extend(g.block.nodes)
        finally:
            g.block = block

    def _guard_sharing(self: Any, written: list[Alias]) -> None:
        """One question for all pairs, since it is asked on every call; which pair it was is asked only then."""
        g = self.g
        starts = {alias: self._start(alias.root.first) for alias in (self.externals if written else ())}
        pairs = [
            (first, second, g.call("aten::is_set_to", (starts[first], starts[second]), BOOL))
            for i, first in enumerate(written)
            for second in self.externals
            if second is not first and second not in written[:i]
        ]
        if not pairs:
            return
        found = functools.reduce(lambda a, b: g.call("aten::__or__", (a, b), BOOL), [same for _, _, same in pairs])
        outer, g.block = g.block, Block(g.block)
        for first, second, same in pairs:
            # Two empty tensors share nothing that can be written.
            holds = g.call("aten::gt", (g.numel(certain(g, first.root.first)), 0), BOOL)
            self._guard(
                g.call("aten::__and__", (same, holds), BOOL),
                f"inplace_fuzz: {_name(first)} is written and shares memory with {_name(second)}; "
                "pass tensors of their own, or give functionalize() example inputs that share memory",
            )
        doubts, g.block = g.block, outer
        self._when(found, doubts)

    def _start(self: Any, value: Value) -> Value:
        """The start of a storage; of one that nobody else has, where an optional tensor is None."""
        g = self.g
        if value.type is None:
            return storage_start(g, value)
        blocks, results = [], []
        for given in (True, False):
            outer, g.block = g.block, Block(g.block)
            of = certain(g, value) if given else g.call("aten::zeros", ([1], None, None, None, None))
            results.append([storage_start(g, of)])
            blocks.append(g.block)
            g.block = outer
        out = Value(block=g.block)
        given = g.call("aten::__isnot__", (value, None), BOOL)
        self.memory.join_values(given, tuple(blocks), tuple(results), [out])
        return out

    def _guard_assumed(self: Any) -> None:
        """Also one question for all; what it was that differs is asked only then."""
        if not self.assumed or not self.guard:
            return
        g = self.g
        pairs = [(make(), what) for make, what in self.assumed]
        found = functools.reduce(lambda a, b: g.call("aten::__or__", (a, b), BOOL), [wrong for wrong, _ in pairs])
        outer, g.block = g.block, Block(g.block)
        for wrong, what in pairs:
            self._guard(wrong, f"inplace_fuzz: {what} when this module was rewritten; rewrite it again for this call")
        doubts, g.block = g.block, outer
        self._when(found, doubts)

    def _guard_layout(self: Any, value: Value, first: Value, size: Any, stride: Any, offset: int) -> None:
        g = self.g
        same = [
            g.call("aten::eq", (g.call("aten::size", (value,)), g.ints(size)), BOOL),
            g.call("aten::eq", (g.call("aten::stride", (value,), INTS), g.ints(stride)), BOOL),
            g.call("aten::eq", (g.call("aten::storage_offset", (value,), INT), offset), BOOL),
            shares_storage(g, value, first),
        ]
        for cond in same:
            self._guard(
                g.call("aten::__not__", (cond,), BOOL),
                "inplace_fuzz: this module was rewritten for inputs that share memory as its example inputs did; "
                "rewrite it again for these",
            )

    def _guard(self: Any, wrong: Value, message: str) -> None:
        g = self.g
        fails = Block(g.block)
        fails.nodes.append(Node("prim::RaiseException", [g.const(message), g.const(None)], [], keep=True))
        self._when(wrong, fails)

    def _when(self: Any, wrong: Value, then: Block) -> None:
        node = Node("prim::If", [wrong], [], keep=True)
        node.blocks = [then, Block(self.g.block)]
        self.g.block.nodes.append(node)


def _name(alias: Alias) -> str:
    return _words(alias.root.external)


def _words(name: tuple[Any, ...]) -> str:
    return " ".join(map(str, name))
