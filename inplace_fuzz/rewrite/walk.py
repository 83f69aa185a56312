"""The walk: one pass over the program, in order, block by block, that leaves no write behind.

1.  Every input, buffer and tensor made inside is a *base*; a view is an alias of its parent with one step more
    (memory.py). View operators emit nothing: an alias is shown when somebody reads it.
2.  An operator that only reads is copied, its tensor arguments replaced by what their aliases show now.
3.  An operator that writes becomes its pure twin on what its self shows now (writes.py); the result is put back,
    step by step, into a new value of the base (views.py). Every alias of that base is stale from then on and is
    shown again, from the newest value, when next read. Values computed earlier are not touched.
4.  If (control.py) and Loop (loop.py) gain results and carried values for the bases written inside.
5.  At the end (finish.py) bases that were inputs or buffers are written back, once each; outputs are shown last, so
    that they alias what they aliased.

What makes it legal: after step 3 no emitted operator writes, so emitted values never change, so an alias shown twice
without a write between gives equal values and may be shared. What the walk cannot prove it refuses.

    before                                            after
    %xs  = aten::slice(%x, 1, None, None, 1)          %xs  = aten::slice(%x, 1, None, None, 1)
    %new = aten::index_put_(%xs, [%i], %v, False)     %xs2 = aten::index_put(%xs, [%i], %v, False)
    return (%x)                                       %x2  = aten::slice_scatter(%x, %xs2, 1, None, None, 1)
                                                      return (%x2)
"""

# ruff: noqa: ARG002  (the functions of one table take the same arguments)

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from . import schemas
from .containers import Containers
from .control import Control
from .errors import UnsupportedMutation
from .finish import Finish
from .ir import BOOL, INT, Block, Builder, Graph, Node, Value, holds_tensors
from .join import alias_of
from .loop import Loops
from .memory import STEP, Alias, Memory, lies_otherwise, shares_storage
from .rules import Rules
from .special import Special
from .state import SharedStorage, State
from .views import WHOLE, View
from .writes import Write

Handler = Callable[..., None]

_FACTORIES = frozenset(
    [
        "aten::zeros",
        "aten::ones",
        "aten::full",
        "aten::empty",
        "aten::arange",
        "aten::tensor",
        "aten::eye",
        "aten::rand",
        "aten::randn",
        "aten::linspace",
        "aten::scalar_tensor",
        "aten::new_zeros",
        "aten::new_ones",
        "aten::new_full",
        "aten::new_empty",
        "aten::stack",
    ]
)
_META = {
    "aten::transpose_": "aten::transpose",
    "aten::swapaxes_": "aten::transpose",
    "aten::swapdims_": "aten::transpose",
    "aten::t_": "aten::t",
    "aten::squeeze_": "aten::squeeze",
    "aten::unsqueeze_": "aten::unsqueeze",
    "aten::as_strided_": "aten::as_strided",
}
_SAME_OBJECT = frozenset(("aten::detach_", "aten::requires_grad_"))
_UNKNOWN_ALIAS = frozenset(
    [
        "aten::meshgrid",
        "aten::broadcast_tensors",
        "aten::einsum",
        "aten::cartesian_prod",
        "aten::combinations",
        "aten::native_dropout",
        "aten::flatten_dense_tensors",
        "aten::as_tensor",
        "prim::data",
        "prim::ConstantChunk",
        "aten::_cast_Float",
        "aten::_cast_Double",
        "aten::_cast_Int",
        "aten::_cast_Long",
        "aten::_cast_Half",
    ]
)
_CALLS = frozenset(["prim::PythonOp", "prim::fork", "prim::CallMethod", "prim::CallFunction", "prim::rpc_async"])
_SHAPE_READS = frozenset(
    [
        "aten::size",
        "aten::dim",
        "aten::numel",
        "aten::len",
        "prim::dtype",
        "prim::device",
        "prim::layout",
        "prim::is_cuda",
        "prim::is_cpu",
        "aten::is_floating_point",
        "aten::is_complex",
    ]
)
_LAYOUT_READS = frozenset(["aten::stride", "aten::storage_offset", "aten::is_contiguous", "aten::is_set_to"])


_OPEN = 2**63 - 1


class Walk(Containers, Control, Loops, Special, State, Finish):
    """One walk of one graph. `source` is read, `out` is made."""

    def __init__(
        self, source: Graph, rules: Rules, *, guard: bool = True, write_back: bool = True,
        shared: Sequence[SharedStorage] = (), tied: Mapping[tuple[str, ...], tuple[str, ...]] | None = None,
        modes: Mapping[tuple[str, ...], bool] | None = None, inputs: Sequence[Any] | None = None, executor: bool = True,
    ) -> None:  # fmt: skip
        self.source = source
        self.rules = rules
        self.policy = rules.policy
        self.guard = guard
        self.write_back = write_back
        self.out = Graph()
        self.out.constants = source.constants
        self.g = Builder(self.out, rules.view_of)
        self.memory = Memory(self.g)
        self.memory.location = self.line
        self.node: Any = None
        self.explained: list[tuple[str, str, str]] = []
        self.prologue: list[Node] = []
        self.externals: list[Alias] = []
        self.rows = handlers_of(rules)
        self.start_state()
        self.shared = shared
        self.executor = executor
        self.tied.update(tied or {})
        self.modes = dict(modes or {})
        self.examples = list(inputs or ())

    def run(self) -> Graph:
        params = self.source.block.params
        given = [None] * (len(params) - len(self.examples)) + self.examples
        for param, example in zip(params, given, strict=False):
            self.input(param, example)
        if self.shared:
            self.share(self.shared)
        for constant in self.source.constants:
            if isinstance(constant.py, torch.Tensor):
                self.held(constant)
        self.nodes(self.source.block)
        self.finish(self.source.block.results)
        return self.out

    def held(self, constant: Value) -> None:
        """A tensor that the graph holds: read as it is, cloned before anybody outside could write it."""
        constant.fresh = False
        constant.block = self.out.block
        constant.bound = self.memory.base(constant)
        constant.bound.root.constant = True

    def nodes(self, block: Block) -> None:
        handlers = self.rows
        for node in block.nodes:
            self.node = node
            found = handlers.get(node.kind)
            if found is None:
                self.find(node)
            else:
                found[0](self, node, found[1])

    def find(self, node: Node) -> None:
        """A kind with an overload (`aten::add_.Tensor`) takes the row of its base name, and keeps the overload."""
        base, dot, _ = node.kind.partition(".")
        handler, row = self.rows.get(base, (Walk.pure, None)) if dot else (Walk.pure, None)
        if isinstance(row, View):
            handler, row = self.rows.get(node.kind, (handler, row))
        self.rows[node.kind] = handler, row
        handler(self, node, row)

    alias_of = staticmethod(alias_of)

    # ------------------------------------------------------------------ what a value stands for
    def value(self, bound: Any) -> Value:
        """The value that an operator gets for `bound`."""
        if bound.__class__ is Value:
            return bound
        if bound.__class__ is Alias:
            return self.policy.read(self.memory, bound.moved or bound)
        return self.whole(bound)

    def values(self, inputs: list[Value]) -> list[Value]:
        return [v.bound if v.bound.__class__ is Value else self.value(v.bound) for v in inputs]

    def tensor(self, value: Value, operator: str) -> Alias:
        bound = value.bound
        if bound.__class__ is not Alias:
            raise self.refuse(operator, "it writes to something that is not a tensor of this graph")
        return bound.moved or bound

    # ------------------------------------------------------------------ operators
    def pure(self, node: Node, row: Any = None) -> None:
        """An operator without a row: copied when its schema writes nothing."""
        kind, inputs = node.kind, node.inputs
        what = schemas.verdict(kind, len(inputs), node.origin) if not kind.startswith("prim::") else schemas.PURE
        if what is schemas.WRITE:
            self.written_out(node)
            return
        self.copy(node, self.values(inputs), what)

    def copy(self, node: Node, inputs: list[Value], what: str, *, keep: bool = True) -> None:
        g = self.g
        kind = node.kind
        outputs = []
        for out in node.outputs:
            made = Value(out.type, block=g.block)
            outputs.append(made)
            if out.type is None:
                if what is schemas.PURE:
                    out.bound = self.memory.base(made, contiguous=_made_contiguous(kind, inputs))
                else:
                    made.fresh = False
                    out.bound = self.memory.opaque(made, self.roots_of(node.inputs), kind)
            elif holds_tensors(out.type):
                out.bound = self.held_by(node, made, what)
            else:
                out.bound = made
        copied = Node(kind, inputs, outputs, origin=node.origin, keep=keep)
        for made in outputs:
            made.node = copied
        g.block.nodes.append(copied)

    def held_by(self, node: Node, made: Value, what: str) -> Any:
        """What a container stands for that an operator gives: one that is made of another holds that one's tensors."""
        containers = [v.bound for v in node.inputs if v.bound.__class__ not in (Value, Alias)]
        if what is schemas.PURE and (not containers or node.kind.startswith("aten::_foreach_")):
            return made
        for bound in containers:
            self.refuse_callers(bound, node.kind)
        return self.unknown_container(made, self.roots_of(node.inputs), node.kind)

    def shape(self, node: Node, row: Any) -> None:
        """Shape, dtype and device are the same before and after a write: any value that was kept will do."""
        bound = node.inputs[0].bound
        first = self.memory.peek(bound.moved or bound) if bound.__class__ is Alias else self.value(bound)
        self.copy(node, [first, *self.values(node.inputs[1:])], schemas.PURE, keep=False)

    def layout(self, node: Node, row: Any) -> None:
        """Strides are asked of the chain on the first value of the base: later values may lie otherwise."""
        inputs = [self.memory.witness(v.bound.moved or v.bound) if v.bound.__class__ is Alias else self.value(v.bound)
                  for v in node.inputs]  # fmt: skip
        self.copy(node, inputs, schemas.PURE, keep=False)

    def view(self, node: Node, row: View) -> None:
        source = node.inputs[0].bound
        if source.__class__ is not Alias:
            self.pure(node)
            return
        out = node.outputs[0]
        args = tuple([v.bound if v.bound.__class__ is Value else self.shown(v.bound) for v in node.inputs[1:]])
        out.bound = self.look(source.moved or source, row, args, node.kind)

    def view_or_list(self, node: Node, row: Any) -> None:
        """`aten::slice` is a view of a tensor and a copy of a list."""
        view, (handler, own) = row
        if node.inputs[0].bound.__class__ is Alias:
            self.view(node, view)
        else:
            handler(self, node, own)

    def shown(self, bound: Any) -> Value:
        return self.memory.peek(bound.moved or bound) if bound.__class__ is Alias else self.value(bound)

    def look(self, source: Alias, row: View, args: tuple[Value, ...], kind: str) -> Alias:
        memory, g = self.memory, self.g
        if kind == "aten::slice" and args[3].py == 1 and args[1].py in (None, 0) and args[2].py in (None, _OPEN):
            return memory.step(source, WHOLE, ())
        if row.make is not None:
            kind, made = row.make(g, *args)
            args = tuple([a if a.__class__ is Value else g.const(a) for a in made])
            row = self.rules.view_of[kind]
        if row.storage and source.root is None:
            return self.either_storage(source, row, args)
        if row.storage:
            source, args = self.storage(source, args)
        if row.complex:
            return self.of_complex(source, row, args)
        if row.maybe:
            return self.view_or_copy(source, row, args)
        return memory.step(source, row, args)

    def view_or_copy(self, source: Alias, row: View, args: tuple[Value, ...]) -> Alias:
        """A Phi whose condition, asked only when a write makes it matter, looks whether memory is shared."""
        memory = self.memory
        if memory_known_contiguous(source) and row.kind in _CONTIGUOUS_COPIES:
            return memory.step(source, row, args)
        value = row.show(self.g, memory.read(source), args)
        value.fresh = False

        def condition() -> Value:
            seen = memory.witness(source)
            return shares_storage(self.g, seen, row.show(self.g, seen, args))

        view, copy = memory.step(source, row, args), memory.base(value)
        return memory.phi(condition, view, copy, value)

    def of_complex(self, source: Alias, row: View, args: tuple[Value, ...]) -> Alias:
        """A Phi whose condition, asked only when it matters, is whether the tensor is complex."""
        memory = self.memory
        value = row.show(self.g, memory.read(source), args)

        def condition() -> Value:
            return self.g.call("aten::is_complex", (memory.peek(source),), BOOL)

        return memory.phi(condition, memory.step(source, row, args), memory.step(source, WHOLE, ()), value)

    def storage(self, source: Alias, args: tuple[Value, ...]) -> tuple[Alias, tuple[Value, ...]]:
        """as_strided looks at the storage of the base: the step starts there, with the offset of the alias."""
        base = source
        while base.form == STEP:
            base = base.parent
        if source.form == STEP and args[2].py is None:
            offset = self.g.call("aten::storage_offset", (self.memory.witness(source),), INT)
            args = (args[0], args[1], offset)
        if base.root.external is not None:
            self.need_plain_storage(base)
            self.need_reach(base, args)
        elif base.root.laid_as is not None:
            self.need_own_storage(base, args)
        return base, args

    def either_storage(self, source: Alias, row: View, args: tuple[Value, ...]) -> Alias:
        """The storage of a tensor picked at run time is that of one or of the other."""
        memory = self.memory
        found = memory.sides(source)
        if found is None:
            raise self.refuse("aten::as_strided", "the storage of a tensor picked at run time is not known")
        phi, *sides = found
        first, second = (self.look(side, row, args, row.kind) for side in sides)
        return memory.phi(
            phi.cond if isinstance(phi.cond, Value) else partial(memory.condition, phi), first, second, None
        )

    def write(self, node: Node, row: Write) -> None:
        memory = self.memory
        target = self.tensor(node.inputs[0], node.kind)
        args = self.values(node.inputs[1:])
        try:
            before = memory.read(target)
            content = row.content(self.g, node.kind, before, args)
            if row.relaid and lies_otherwise(target):
                content.fresh = False
            self.put(target, content)
        except LookupError as missing:
            raise self.refuse(node.kind, str(missing)) from missing
        self.explained.append((node.kind, self.line(), "computed without a write, put back into its base"))
        if node.outputs:
            result = self.policy.result(memory, target, content)
            node.outputs[0].bound = node.inputs[0].bound if result is target else result

    def put(self, target: Alias, content: Value) -> None:
        """Make `content` what `target` shows."""
        self.policy.write(self.memory, target, content)
        for root in target.roots:
            root.without_grad = self.without_grad > 0 and root.without_grad is not False

    # ------------------------------------------------------------------ saying no
    def line(self) -> str:
        node = self.node
        origin = node.origin if node is not None else None
        if origin is None:
            return ""
        if hasattr(origin, "sourceRange"):
            return _first_source_line(origin.sourceRange())
        return ""

    def refuse(self, operator: str, reason: str, *, hint: str = "") -> UnsupportedMutation:
        return UnsupportedMutation(operator, reason, source_line=self.line(), hint=hint)

    def refused(self, node: Node, reason: str) -> None:
        raise self.refuse(node.kind, reason)


def _first_source_line(text: str) -> str:
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if "<--- HERE" in line or "~~" in line:
            return lines[i - 1].strip() if i else ""
    return lines[-1].strip() if lines else ""


_CONTIGUOUS_COPIES = frozenset(["aten::reshape", "aten::flatten", "aten::ravel", "aten::contiguous"])


def _made_contiguous(kind: str, inputs: list[Value]) -> bool:
    """A factory, but for `empty` where its last argument is another memory format."""
    name = kind.partition(".")[0]
    return name in _FACTORIES and (name != "aten::empty" or inputs[-1].py in (None, 0))


def memory_known_contiguous(alias: Alias) -> bool:
    """A base that its operator makes contiguous, or a reshaping of one."""
    while alias.form == STEP and alias.row.kind in ("aten::view", "aten::unsqueeze", "aten::detach", "aten::alias"):
        alias = alias.parent
    return alias.form == 0 and alias.root.contiguous


def handler_table(rules: Rules) -> dict[str, tuple[Handler, Any]]:
    """One entry per kind; a rule of the tables wins over nothing else, the two tables do not meet."""
    table: dict[str, tuple[Handler, Any]] = {}
    for kind in _SHAPE_READS:
        table[kind] = Walk.shape, None
    for kind in _LAYOUT_READS:
        table[kind] = Walk.layout, None
    for kind in _UNKNOWN_ALIAS:
        table[kind] = Walk.unknown_alias, None
    for kind in _CALLS:
        table[kind] = Walk.refused, "it calls what the pass cannot see into"
    for kind in ("aten::dropout", "aten::feature_dropout", "aten::alpha_dropout", "aten::feature_alpha_dropout"):
        table[kind] = Walk.dropout, None
    table["aten::as_strided_copy"] = Walk.storage_copy, None
    table["aten::as_strided_scatter"] = Walk.storage_scatter, None
    for name in ("slice", "select", "diagonal"):
        table[f"aten::{name}_scatter"] = Walk.scatter, None
    table["aten::batch_norm"] = Walk.normalise, 5
    table["aten::instance_norm"] = Walk.normalise, 5
    for kind in _SAME_OBJECT:
        table[kind] = Walk.same_object, None
    for kind, view in _META.items():
        table[kind] = Walk.metadata, view
    table.update(Containers.handlers())
    table.update(Control.handlers())
    table.update(Loops.handlers())
    table.update(State.handlers())
    for view_row in rules.views:
        if view_row.kind not in table:
            table[view_row.kind] = Walk.view, view_row
        else:
            table[view_row.kind] = Walk.view_or_list, (view_row, table[view_row.kind])
    for write_row in rules.writes:
        table[write_row.kind] = Walk.write, write_row
    return table


_handlers_of: dict[int, tuple[Rules, dict[str, tuple[Handler, Any]]]] = {}


def handlers_of(rules: Rules) -> dict[str, tuple[Handler, Any]]:
    """The table of `rules`, made once and kept with them."""
    found = _handlers_of.get(id(rules))
    if found is None or found[0] is not rules:
        found = _handlers_of[id(rules)] = rules, handler_table(rules)
    return found[1]
