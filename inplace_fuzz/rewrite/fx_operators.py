"""Operators that the FX target computes or spells its own way; a function gives True when it has dealt with a call."""

# ruff: noqa: ARG001, ARG005, SLF001  (the functions of one table take the same arguments; torch keeps schemas private)

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

import torch

from . import overloads
from .errors import UnsupportedMutation
from .examples import copies
from .ir import Node


@dataclasses.dataclass(frozen=True)
class Known:
    """A value as the graph spells it (`arg`: an fx.Node, a literal, a list of such) and as it came out (`example`).

    content: it depends on the content of a tensor; sized: its own size does
    """

    arg: Any
    example: Any
    content: bool = False
    sized: bool = False


PLAIN: dict[str, Callable[..., Any]] = {
    "prim::dtype": lambda t: overloads.DTYPE_NUMBERS[t.dtype],
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


def _list(e: Any, node: Node, inputs: list[Known]) -> bool:
    made = list if node.kind == "prim::ListConstruct" else tuple
    return e.give(node, Known(  # type: ignore[no-any-return]
        made(k.arg for k in inputs), made(k.example for k in inputs),
        content=any(k.content for k in inputs), sized=any(k.sized for k in inputs)))  # fmt: skip


def _dict(e: Any, node: Node, inputs: list[Known]) -> bool:
    pairs = list(zip(inputs[::2], inputs[1::2], strict=True))
    return e.give(node, Known({k.example: v.arg for k, v in pairs}, {k.example: v.example for k, v in pairs}))  # type: ignore[no-any-return]


def _unpack(e: Any, node: Node, inputs: list[Known]) -> bool:
    (whole,) = inputs
    return e.give(node, *(Known(a, x, sized=whole.sized) for a, x in zip(whole.arg, whole.example, strict=True)))  # type: ignore[no-any-return]


def _getitem(e: Any, node: Node, inputs: list[Known]) -> bool:
    whole, place = inputs
    if place.content:
        raise UnsupportedMutation(node.kind, "a place that depends on the content of a tensor, in the fx target")
    return e.give(node, Known(whole.arg[place.example], whole.example[place.example], sized=whole.sized))  # type: ignore[no-any-return]


def _if(e: Any, node: Node, inputs: list[Known]) -> bool:
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


def _loop(e: Any, node: Node, inputs: list[Known]) -> bool:
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


def _raise(e: Any, node: Node, inputs: list[Known]) -> bool:
    raise UnsupportedMutation("prim::RaiseException", f"the example inputs raise: {inputs[0].example}")


def _get_attribute(e: Any, node: Node, inputs: list[Known]) -> bool:
    name = node.origin if isinstance(node.origin, str) else node.origin.s("name")
    (owner,) = inputs
    path = f"{owner.example}.{name}" if owner.example else name
    return e.give(node, _attribute(e, path, e.attributes[path] if path in e.attributes else _script_value(e, path)))  # type: ignore[no-any-return]


def _attribute(e: Any, path: str, value: Any) -> Known:
    """A tensor is held under its path, the tensors of a list under paths of their own; a module stands for its path."""
    if isinstance(value, torch.Tensor):
        if path not in e.attributes:
            e.attributes[path], e.attributes["example:" + path] = value, copies([value])[0]
        return Known(e.get_attr(path), e.attributes["example:" + path])
    if isinstance(value, (list, tuple)) and any(isinstance(v, torch.Tensor) for v in value):
        items = [_attribute(e, f"{path}_{i}", v) for i, v in enumerate(value)]
        return Known(type(value)(k.arg for k in items), type(value)(k.example for k in items))
    return Known(None, path) if hasattr(value, "_get_method") else Known(value, value)


def _script_value(e: Any, path: str) -> Any:
    value = e.attributes[""]
    for name in path.split("."):
        value = value.getattr(name)
    return value


def _set_attribute(e: Any, node: Node, inputs: list[Known]) -> bool:
    owner, value = inputs
    if not isinstance(owner.example, str):
        return True
    path = f"{owner.example}.{node.origin}" if owner.example else str(node.origin)
    before = e.attributes.get(path)
    if not isinstance(before, torch.Tensor) or not isinstance(value.example, torch.Tensor) or (
        before.shape != value.example.shape or before.dtype != value.example.dtype
    ):  # fmt: skip
        raise UnsupportedMutation("prim::SetAttr", "an attribute that is bound to something else, in the fx target")
    e.graph.call_function(torch.ops.aten.copy_.default, (e.get_attr(path), value.arg))
    e.rebound.append((path, value.example))
    return True


def _expand_as(e: Any, node: Node, inputs: list[Known]) -> bool:
    value, like = inputs
    if value.example.shape == like.example.shape:
        return e.give(node, value)  # type: ignore[no-any-return]
    size = list(like.example.shape)
    return e.give(node, e.emit(torch.ops.aten.expand.default, [value, Known(size, size)]))  # type: ignore[no-any-return]


def _type_as(e: Any, node: Node, inputs: list[Known]) -> bool:
    value, like = inputs
    if value.example.dtype == like.example.dtype and value.example.device == like.example.device:
        return e.give(node, value)  # type: ignore[no-any-return]
    return e.give(node, e.emit(torch.ops.aten._to_copy.default, [value], {"dtype": like.example.dtype}))  # type: ignore[no-any-return]


def _zeros_like(e: Any, node: Node, inputs: list[Known]) -> bool:
    if any(k.example is not None for k in inputs[1:]):
        return False
    return e.give(node, e.emit(torch.ops.aten.zeros_like.default, inputs[:1]))  # type: ignore[no-any-return]


def _tensor(e: Any, node: Node, inputs: list[Known]) -> bool:
    data, dtype, device = inputs[0], inputs[1].example, inputs[2].example
    if data.content or isinstance(data.example, torch.Tensor):
        raise UnsupportedMutation(node.kind, "a tensor made of what comes out of a tensor, in the fx target")
    named = overloads.DTYPES[dtype] if isinstance(dtype, int) else dtype
    value = torch.tensor(data.example, dtype=named, device=device)
    if value.dim() == 0:
        filled = {"dtype": value.dtype} | ({"device": device} if device is not None else {})
        return e.give(node, e.emit(torch.ops.aten.full.default, [Known([], []), data], filled))  # type: ignore[no-any-return]
    return e.give(node, e.emit(torch.ops.aten.clone.default, [e.constant(value)]))  # type: ignore[no-any-return]


def _num_to_tensor(e: Any, node: Node, inputs: list[Known]) -> bool:
    if inputs[0].content:
        return False
    value = torch.tensor(inputs[0].example)
    return e.give(node, e.emit(torch.ops.aten.full.default, [Known([], []), inputs[0]], {"dtype": value.dtype}))  # type: ignore[no-any-return]


def _number(e: Any, node: Node, inputs: list[Known]) -> bool:
    """`.item()`, `int(t)`, `float(t)`: a number that comes out of a tensor. A cast of a known constant stays known."""
    (value,) = inputs
    if not isinstance(value.example, torch.Tensor):
        if value.content:
            return e.give(node, value)  # type: ignore[no-any-return]
        return False
    source = value.arg
    if source.op == "call_function" and source.target is torch.ops.aten.full.default:
        number = value.example.item()
        return e.give(node, Known(PLAIN.get(node.kind, lambda v: v)(number), PLAIN.get(node.kind, lambda v: v)(number)))  # type: ignore[no-any-return]
    number = value.example.item()
    if node.kind in ("aten::Int", "aten::IntImplicit") and not isinstance(number, int):
        source = e.graph.call_function(torch.ops.aten._to_copy.default, (source,), {"dtype": torch.int64})  # truncates
    made = e.graph.call_function(torch.ops.aten.item.default, (source,))
    cast = {"aten::Int": int, "aten::Float": float, "aten::Bool": bool}.get(node.kind, lambda v: v)
    return e.give(node, Known(made, cast(number), content=True))  # type: ignore[no-any-return]


def _random(e: Any, node: Node, inputs: list[Known]) -> bool:
    """`random(x, low, high)` as low + random(high - low): its overload is called `from`, no name in Python."""
    if len(inputs) != 4 or inputs[2].example is None:
        return False
    source, low, high, generator = inputs
    most = Known(high.example - low.example, high.example - low.example)
    drawn = e.emit(torch.ops.aten.random.to, [source, most], {"generator": generator.example})
    return e.give(node, e.emit(torch.ops.aten.add.Scalar, [drawn, low]))  # type: ignore[no-any-return]


def _created(e: Any, node: Node, inputs: list[Known]) -> bool:
    """`with torch.no_grad():`, which an FX graph cannot say."""
    return e.give(node, *(Known(None, None) for _ in node.outputs))  # type: ignore[no-any-return]


def _copy_back(e: Any, node: Node, inputs: list[Known]) -> bool:
    target, content = inputs[:2]
    return e.give(node, e.emit(torch.ops.aten.copy_.default, [target, content]))  # type: ignore[no-any-return]


def python_function(e: Any, node: Node, inputs: list[Known]) -> bool:
    """A Python function of numbers, or an assertion about them, kept as the FX graph had it."""
    function = node.origin
    result = function(*(k.example for k in inputs))
    if not any(k.content for k in inputs):
        return e.give(node, Known(result, result)) if node.outputs else True
    made = e.graph.call_function(function, tuple(k.arg for k in inputs))
    return e.give(node, Known(made, result, content=True)) if node.outputs else True


def _same(e: Any, node: Node, inputs: list[Known]) -> bool:
    return e.give(node, inputs[0])  # type: ignore[no-any-return]


OWN: dict[str, Callable[[Any, Node, list[Known]], bool]] = {
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
    "prim::CreateObject": _created,
    "prim::Enter": _created,
    "prim::Exit": _created,
    "aten::random": _random,
    "prim::NumToTensor": _num_to_tensor,
    "aten::_assert_scalar": python_function,
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
