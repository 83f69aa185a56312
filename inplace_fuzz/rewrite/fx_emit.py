"""The FX target: functional `torch.ops.aten` calls, for the shapes of the example inputs.

The rewritten graph is run once on copies of the example inputs, operator by operator, and every tensor operator that
runs is written down. What is known then (sizes, dtypes, ints, which branch, how many iterations) becomes part of the
graph; `InputGuard` refuses other inputs. What depends on the content of a tensor cannot become part of the graph: a
branch on it is refused.
"""

# ruff: noqa: ARG001, ARG005  (the functions of one table take the same arguments)
# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

import torch

from . import overloads
from .errors import UnsupportedMutation
from .examples import copies
from .ir import Block, Graph, Node, Value, mark_live

_METADATA = frozenset(
    [
        "aten::size",
        "aten::dim",
        "aten::numel",
        "aten::stride",
        "aten::storage_offset",
        "aten::is_contiguous",
        "aten::is_set_to",
        "prim::dtype",
        "prim::device",
        "prim::layout",
        "aten::is_floating_point",
        "aten::is_complex",
        "aten::len",
        "prim::is_cuda",
        "prim::requires_grad",
        "aten::__is__",
        "aten::__isnot__",
    ]
)
_DATA_SHAPED = frozenset(
    [
        "aten::nonzero",
        "aten::masked_select",
        "aten::unique_dim",
        "aten::_unique2",
        "aten::unique_consecutive",
        "aten::repeat_interleave",
        "aten::bincount",
    ]
)
_SHAPED_LIKE_SELF = frozenset(
    [
        "aten::index_put",
        "aten::masked_scatter",
        "aten::slice_scatter",
        "aten::select_scatter",
        "aten::index_copy",
        "aten::index_add",
        "aten::index_fill",
        "aten::masked_fill",
        "aten::copy",
        "aten::scatter",
        "aten::put",
        "aten::type_as",
        "aten::copy_",
    ]
)
_LIMIT = 20_000


@dataclasses.dataclass(frozen=True)
class Known:
    """A value as the graph spells it (`arg`: an fx.Node, a literal, a list of such) and as it came out (`example`).

    content: it depends on the content of a tensor; sized: its own size does
    """

    arg: Any
    example: Any
    content: bool = False
    sized: bool = False


class Emitter:
    """One run. `attributes` maps a path to what the module holds there, and "" to the script module itself."""

    def __init__(self, attributes: dict[str, Any]) -> None:
        self.graph = torch.fx.Graph()
        self.root = torch.nn.Module()
        self.attributes = attributes
        self.known: dict[Value, Known] = {}
        self.count = 0
        self.held = 0
        self.nodes: dict[str, torch.fx.Node] = {}
        self.reads_layout = False

    # ------------------------------------------------------------------ the run
    def run(self, graph: Graph, inputs: list[Known]) -> list[Known]:
        mark_live(graph.block)
        for param, known in zip(graph.block.params, inputs, strict=True):
            self.known[param] = known
        for constant in graph.constants:
            if constant.live:
                self.known[constant] = self.constant(constant.py)
        with torch.no_grad():
            self.block(graph.block)
        return [self.known[v] for v in graph.block.results]

    def constant(self, py: Any) -> Known:
        if isinstance(py, torch.Tensor):
            name = f"_tensor_constant{self.held}"
            self.held += 1
            self.root.register_buffer(name, py)
            return Known(self.get_attr(name), py)
        return Known(py, py)

    def get_attr(self, path: str) -> torch.fx.Node:
        if path not in self.nodes:
            first = next((n for n in self.graph.nodes if n.op not in ("placeholder", "get_attr")), None)
            with self.graph.inserting_before(first) if first is not None else self.graph.inserting_after(None):
                self.nodes[path] = self.graph.create_node("get_attr", path)
        return self.nodes[path]

    def block(self, block: Block) -> None:
        for node in block.nodes:
            if node.live:
                self.count += 1
                if self.count > _LIMIT:
                    raise UnsupportedMutation(node.kind, f"more than {_LIMIT} operators when its loops are written out")
                self.node(node)

    def node(self, node: Node) -> None:
        kind = node.kind.partition(".")[0]
        own = _OWN.get(kind) if not kind.startswith("python::") else _python
        inputs = [self.known[v] for v in node.inputs] if not node.blocks else []
        if own is not None and own(self, node, inputs):
            return
        self.general(node, kind, inputs)

    def give(self, node: Node, *results: Known) -> bool:
        for out, known in zip(node.outputs, results, strict=True):
            self.known[out] = known
        return True

    # ------------------------------------------------------------------ operators
    def general(self, node: Node, kind: str, inputs: list[Known]) -> None:
        values = [k.example for k in inputs]
        tensors = _any_tensor(values)
        if not tensors and _makes_tensor(overloads.resolve(kind, values, _overload_of(node))):
            self.call(node, kind, inputs)
            return
        if not tensors:
            if any(k.content for k in inputs) and len(inputs) != 1:
                raise UnsupportedMutation(kind, "arithmetic on a number that comes out of a tensor, in the fx target")
            result = _plain(kind, node, values)
            self.give(node, *(Known(r, r) for r in (result if len(node.outputs) > 1 else (result,))))
            return
        if kind in _METADATA:
            if any(k.sized for k in inputs):
                raise UnsupportedMutation(kind, "a size that depends on the content of a tensor, in the fx target")
            self.reads_layout |= kind in (
                "aten::stride",
                "aten::storage_offset",
                "aten::is_contiguous",
                "aten::is_set_to",
            )
            result = _plain(kind, node, values)
            self.give(node, Known(result, result))
            return
        self.call(node, kind, inputs)

    def call(self, node: Node, kind: str, inputs: list[Known]) -> None:
        overload = _overload_of(node)
        values = [k.example for k in inputs]
        op = overloads.resolve(kind, values, overload)
        if op is None:
            raise UnsupportedMutation(kind, "no operator of torch.ops takes these arguments, in the fx target")
        positional, keywords = overloads.arrange(op, values)
        example = op(*positional, **keywords)
        args, kwargs = overloads.arrange(op, [k.arg for k in inputs])
        made = self.graph.call_function(op, args, kwargs)
        sized = _data_shaped(kind, inputs)
        if len(op._schema.returns) <= 1:
            if isinstance(example, (list, tuple)):
                items = [self.graph.call_function(operator.getitem, (made, i)) for i in range(len(example))]
                self.give(node, Known(items, list(example), sized=sized))
                return
            content = not isinstance(example, torch.Tensor)
            made.meta["example"] = example
            if node.outputs:
                self.give(node, Known(made, example, content=content, sized=sized))
            return
        self.give(
            node,
            *(
                Known(self.graph.call_function(operator.getitem, (made, i)), e, sized=sized)
                for i, e in enumerate(example)
            ),
        )

    def emit(self, op: Any, args: list[Known], kwargs: dict[str, Any] | None = None) -> Known:
        """One more operator that the target spells in its own way."""
        kwargs = kwargs or {}
        made = self.graph.call_function(op, tuple(k.arg for k in args), kwargs)
        return Known(made, op(*(k.example for k in args), **kwargs), sized=any(k.sized for k in args[:1]))


def _data_shaped(kind: str, inputs: list[Known]) -> bool:
    if kind in _SHAPED_LIKE_SELF:
        return inputs[0].sized
    if kind in _DATA_SHAPED or any(k.sized for k in inputs):
        return True
    return kind == "aten::index" and any(
        isinstance(t, torch.Tensor) and t.dtype in (torch.bool, torch.uint8) for t in inputs[1].example
    )


def _makes_tensor(op: Any) -> bool:
    return op is not None and any("Tensor" in str(r.type) for r in op._schema.returns)


def _overload_of(node: Node) -> str | None:
    origin = node.origin
    if origin is None or isinstance(origin, str):
        dot = node.kind.partition(".")
        return (dot[2] if dot[2] != "default" else "") if dot[1] else None
    if isinstance(origin, torch._ops.OpOverload):
        return origin._schema.overload_name
    text = origin.schema()
    if text == "(no schema)":
        return None
    head = text.split("(", 1)[0].partition(".")
    return head[2]  # type: ignore[no-any-return]


def _any_tensor(values: Any) -> bool:
    return any(isinstance(v, torch.Tensor) or (isinstance(v, (list, tuple)) and _any_tensor(v)) for v in values)


def _plain(kind: str, node: Node, values: list[Any]) -> Any:
    """Operators on numbers, lists and shapes, as TorchScript computes them."""
    own = _PLAIN.get(kind)
    if own is not None:
        return own(*values)
    namespace, name = kind.split("::")
    try:
        return getattr(getattr(torch.ops, namespace), name)(*values)
    except (AttributeError, TypeError, RuntimeError) as why:
        raise UnsupportedMutation(kind, f"not computed before the program runs, in the fx target: {why}") from why


def _dtype_number(value: torch.Tensor) -> int:
    return overloads.DTYPE_NUMBERS[value.dtype]


_PLAIN: dict[str, Callable[..., Any]] = {
    "prim::dtype": _dtype_number,
    "prim::device": lambda t: t.device,
    "prim::layout": lambda t: 0,
    "prim::is_cuda": lambda t: t.is_cuda,
    "prim::min": min,
    "prim::max": max,
    "prim::unchecked_cast": lambda v: v,
    "prim::Uninitialized": lambda: None,
    "prim::NumToTensor": lambda v: v,
    "aten::size": lambda t, *d: list(t.shape) if not d else t.shape[d[0]],
    "aten::stride": lambda t, *d: list(t.stride()) if not d else t.stride()[d[0]],
    "aten::dim": lambda t: t.dim(),
    "aten::numel": lambda t: t.numel(),
    "aten::storage_offset": lambda t: t.storage_offset(),
    "aten::is_contiguous": lambda t, *f: t.is_contiguous(),
    "aten::is_set_to": lambda a, b: a.is_set_to(b),
    "aten::is_floating_point": lambda t: t.is_floating_point(),
    "aten::is_complex": lambda t: t.is_complex(),
    "aten::len": len,
    "aten::__getitem__": lambda items, i: items[i],
    "aten::eq": operator.eq,
    "aten::ne": operator.ne,
    "aten::__not__": operator.not_,
    "aten::__is__": lambda a, b: a is b,
    "aten::__isnot__": lambda a, b: a is not b,
    "aten::Int": int,
    "aten::Float": float,
    "aten::Bool": bool,
    "aten::ScalarImplicit": lambda v: v,
    "aten::sum": sum,
    "aten::add": operator.add,
    "aten::mul": operator.mul,
    "aten::sub": operator.sub,
    "aten::list": list,
    "aten::slice": lambda items, start, end, step: items[start:end:step],
    "prim::requires_grad": lambda t: t.requires_grad,
}


# ---------------------------------------------------------------------- operators with a spelling of their own
def _list(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    made = list if node.kind == "prim::ListConstruct" else tuple
    return e.give(node, Known(
        made(k.arg for k in inputs), made(k.example for k in inputs),
        content=any(k.content for k in inputs), sized=any(k.sized for k in inputs)))  # fmt: skip


def _dict(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    pairs = list(zip(inputs[::2], inputs[1::2], strict=True))
    return e.give(node, Known({k.example: v.arg for k, v in pairs}, {k.example: v.example for k, v in pairs}))


def _unpack(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    (whole,) = inputs
    return e.give(node, *(Known(a, x, sized=whole.sized) for a, x in zip(whole.arg, whole.example, strict=True)))


def _getitem(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    whole, place = inputs
    if place.content:
        raise UnsupportedMutation(node.kind, "a place that depends on the content of a tensor, in the fx target")
    return e.give(node, Known(whole.arg[place.example], whole.example[place.example], sized=whole.sized))


def _if(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    cond = e.known[node.inputs[0]]
    if cond.content or isinstance(cond.example, torch.Tensor):
        raise UnsupportedMutation(
            "prim::If", "a branch on the content of a tensor, in the fx target",
            hint='functionalize(..., target="torchscript") keeps the branch',
        )  # fmt: skip
    taken = node.blocks[0 if cond.example else 1]
    e.block(taken)
    for out, result in zip(node.outputs, taken.results, strict=True):
        if out.live:
            e.known[out] = e.known[result]
    return True


def _loop(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    trip, go = (e.known[v] for v in node.inputs[:2])
    carried = [e.known.get(v) for v in node.inputs[2:]]
    body = node.blocks[0]
    i = 0
    while i < trip.example and go.example:
        if go.content or trip.content:
            raise UnsupportedMutation("prim::Loop", "a loop that asks the content of a tensor, in the fx target",
                                      hint='functionalize(..., target="torchscript") keeps the loop')  # fmt: skip
        e.known[body.params[0]] = Known(i, i)
        for param, known in zip(body.params[1:], carried, strict=True):
            if known is not None:
                e.known[param] = known
        e.block(body)
        go = e.known[body.results[0]]
        carried = [e.known.get(r) for r in body.results[1:]]
        i += 1
    if go.content:
        raise UnsupportedMutation("prim::Loop", "a loop that asks the content of a tensor, in the fx target")
    for out, known in zip(node.outputs, carried, strict=True):
        if known is not None:
            e.known[out] = known
    return True


def _raise(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    raise UnsupportedMutation("prim::RaiseException", f"the example inputs raise: {inputs[0].example}")


def _get_attribute(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    name = node.origin if isinstance(node.origin, str) else node.origin.s("name")
    (owner,) = inputs
    path = f"{owner.example}.{name}" if owner.example else name
    return e.give(node, _attribute(e, path, e.attributes[path] if path in e.attributes else _script_value(e, path)))


def _attribute(e: Emitter, path: str, value: Any) -> Known:
    """A tensor is held under its path, the tensors of a list under paths of their own; a module stands for its path."""
    if isinstance(value, torch.Tensor):
        if path not in e.attributes:
            e.attributes[path], e.attributes["example:" + path] = value, copies([value])[0]
        return Known(e.get_attr(path), e.attributes["example:" + path])
    if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
        items = [_attribute(e, f"{path}_{i}", v) for i, v in enumerate(value)]
        return Known(type(value)(k.arg for k in items), type(value)(k.example for k in items))
    return Known(None, path) if hasattr(value, "_get_method") else Known(value, value)


def _script_value(e: Emitter, path: str) -> Any:
    value = e.attributes[""]
    for name in path.split("."):
        value = value.getattr(name)
    return value


def _set_attribute(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    owner, value = inputs
    path = f"{owner.example}.{node.origin}" if owner.example else str(node.origin)
    before = e.attributes.get(path)
    if not isinstance(before, torch.Tensor) or not isinstance(value.example, torch.Tensor) or (
        before.shape != value.example.shape or before.dtype != value.example.dtype
    ):  # fmt: skip
        raise UnsupportedMutation("prim::SetAttr", "an attribute that is bound to something else, in the fx target")
    e.graph.call_function(torch.ops.aten.copy_.default, (e.get_attr(path), value.arg))
    return True


def _expand_as(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    value, like = inputs
    if value.example.shape == like.example.shape:
        return e.give(node, value)
    size = list(like.example.shape)
    return e.give(node, e.emit(torch.ops.aten.expand.default, [value, Known(size, size)]))


def _type_as(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    value, like = inputs
    if value.example.dtype == like.example.dtype and value.example.device == like.example.device:
        return e.give(node, value)
    return e.give(node, e.emit(torch.ops.aten._to_copy.default, [value], {"dtype": like.example.dtype}))


def _zeros_like(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    if any(k.example is not None for k in inputs[1:]):
        return False
    return e.give(node, e.emit(torch.ops.aten.zeros_like.default, inputs[:1]))


def _tensor(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    data, dtype, device = inputs[0], inputs[1].example, inputs[2].example
    if data.content or isinstance(data.example, torch.Tensor):
        raise UnsupportedMutation(node.kind, "a tensor made of what comes out of a tensor, in the fx target")
    named = overloads.DTYPES[dtype] if isinstance(dtype, int) else dtype
    value = torch.tensor(data.example, dtype=named, device=device)
    if value.dim() == 0:
        filled = {"dtype": value.dtype} | ({"device": device} if device is not None else {})
        return e.give(node, e.emit(torch.ops.aten.full.default, [Known([], []), data], filled))
    return e.give(node, e.emit(torch.ops.aten.clone.default, [e.constant(value)]))


def _num_to_tensor(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    if inputs[0].content:
        return False
    value = torch.tensor(inputs[0].example)
    return e.give(node, e.emit(torch.ops.aten.full.default, [Known([], []), inputs[0]], {"dtype": value.dtype}))


def _number(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    """`.item()`, `int(t)`, `float(t)`: a number that comes out of a tensor. A cast of a known constant stays known."""
    (value,) = inputs
    if not isinstance(value.example, torch.Tensor):
        if value.content:
            return e.give(node, value)
        return False
    source = value.arg
    if source.op == "call_function" and source.target is torch.ops.aten.full.default:
        number = value.example.item()
        return e.give(
            node, Known(_PLAIN.get(node.kind, lambda v: v)(number), _PLAIN.get(node.kind, lambda v: v)(number))
        )
    number = value.example.item()
    made = e.graph.call_function(torch.ops.aten.item.default, (source,))
    cast = {"aten::Int": int, "aten::Float": float, "aten::Bool": bool}.get(node.kind, lambda v: v)
    return e.give(node, Known(made, cast(number), content=True))


def _copy_back(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    target, content = inputs[:2]
    return e.give(node, e.emit(torch.ops.aten.copy_.default, [target, content]))


def _python(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    """A Python function of numbers, or an assertion about them, kept as the FX graph had it."""
    function = node.origin
    result = function(*(k.example for k in inputs))
    if not any(k.content for k in inputs):
        return e.give(node, Known(result, result)) if node.outputs else True
    made = e.graph.call_function(function, tuple(k.arg for k in inputs))
    return e.give(node, Known(made, result, content=True)) if node.outputs else True


def _same(e: Emitter, node: Node, inputs: list[Known]) -> bool:
    return e.give(node, inputs[0])


_OWN: dict[str, Callable[[Emitter, Node, list[Known]], bool]] = {
    "prim::ListConstruct": _list,
    "prim::TupleConstruct": _list,
    "prim::DictConstruct": _dict,
    "prim::ListUnpack": _unpack,
    "prim::TupleUnpack": _unpack,
    "prim::TupleIndex": _getitem,
    "aten::__getitem__": _getitem,
    "prim::unchecked_cast": _same,
    "prim::unchecked_unwrap_optional": _same,
    "prim::If": _if,
    "prim::Loop": _loop,
    "prim::RaiseException": _raise,
    "prim::GetAttr": _get_attribute,
    "prim::SetAttr": _set_attribute,
    "prim::NumToTensor": _num_to_tensor,
    "aten::_assert_scalar": _python,
    "aten::copy_": _copy_back,
    "aten::expand_as": _expand_as,
    "aten::type_as": _type_as,
    "aten::zeros_like": _zeros_like,
    "aten::tensor": _tensor,
    "aten::Int": _number,
    "aten::Float": _number,
    "aten::Bool": _number,
    "aten::item": _number,
    "aten::ScalarImplicit": _number,
    "aten::IntImplicit": _number,
    "aten::FloatImplicit": _number,
}
