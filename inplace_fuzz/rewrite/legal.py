"""Legalisation: what one compiler's importer cannot take, said in operators that it can.

A legalisation rule is legal when its result equals the operator's for every content of the same shapes. A rule that
does not apply (a shape that depends on content) returns None and the operator stays as it is: legalising never refuses.

Works on functional ATen FX graphs: ours, and those of `torch.export.export(...).run_decompositions().module()`.
"""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Mapping
from typing import Any

import torch

Rule = Callable[..., Any]

# backend: where its tables are, which are applied one after the other
TABLES = {
    "tvm": "legal_tvm:PASSES",
    "tvm-state": "legal_tvm:PASSES",
    "onnxruntime": "legal_onnx:PASSES",
    "onnxruntime-unoptimized": "legal_onnx:PASSES",
    "onnxruntime-torchscript-trace": "legal_torchscript:WIDE",
    "openvino": "legal_openvino:PASSES",
    "openvino-trace": "legal_torchscript:PASSES",
    "executorch": "legal_rules:PASSES",
    "executorch-xnnpack": "legal_rules:PASSES",
    "iree": "legal_rules:PASSES",
    "pnnx": "legal_torchscript:PASSES",
    "torch-tensorrt": "legal_rules:PASSES",
    "torch-tensorrt-lower": "legal_rules:PASSES",
    "torch-tensorrt-build": "legal_rules:PASSES",
}


def legalise(gm: torch.fx.GraphModule, backend: str) -> torch.fx.GraphModule:
    """`gm` with the rules of `backend` applied; `gm` is not changed. A backend without rules gets it as it is."""
    for rules in passes_of(backend):
        gm = _Rewriter(gm, rules).run()
    return gm


def passes_of(backend: str) -> tuple[Mapping[Any, Rule], ...]:
    """The tables of one compiler: ATen operator -> rule. None for a compiler that needs none."""
    module, _, name = TABLES.get(backend, "").partition(":")
    return getattr(importlib.import_module(f"{__package__}.{module}"), name) if module else ()


class Tensor:
    """A value in a rule: its node, and a tensor on the meta device that knows shape and dtype."""

    __slots__ = ("meta", "node")

    def __init__(self, node: torch.fx.Node, meta: torch.Tensor) -> None:
        self.node, self.meta = node, meta

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.meta.shape)

    @property
    def dtype(self) -> torch.dtype:
        return self.meta.dtype


class _Rewriter:
    """Copies a graph node by node; a rule sees itself as `g` and emits with `g.call`."""

    def __init__(self, gm: torch.fx.GraphModule, rules: Mapping[Any, Rule]) -> None:
        self.gm = gm
        self.rules = rules
        self.graph = torch.fx.Graph()
        self.root = torch.nn.Module()
        self.held = 0
        self.env: dict[torch.fx.Node, Any] = {}

    def run(self) -> torch.fx.GraphModule:
        for node in self.gm.graph.nodes:
            if node.op == "output":
                made = self.graph.output(self.plain(node.args[0]))
                made.meta = dict(node.meta)
            elif node.op == "call_module" and node.name == "_guards_fn":
                continue
            elif node.op == "call_function":
                self.env[node] = self.function(node)
            else:
                made = self.graph.node_copy(node, lambda n: _node(self.env[n]))
                meta = self.meta_of(node)
                self.env[node] = made if meta is None else Tensor(made, meta)
        self.graph._codegen = self.gm.graph._codegen
        for name, tensor in self.gm.state_dict(keep_vars=True).items():
            _place(self.root, name, tensor)
        for node in self.graph.nodes:
            if node.op == "get_attr" and not _has(self.root, str(node.target)):
                _place(self.root, str(node.target), _fetch(self.gm, str(node.target)))
        self.graph.eliminate_dead_code()
        self.graph.lint()
        result = torch.fx.GraphModule(self.root, self.graph)
        for hook in self.gm._forward_pre_hooks.values():
            if type(hook).__name__ == "InputGuard":
                result.register_forward_pre_hook(hook)
        return result

    def function(self, node: torch.fx.Node) -> Any:
        args = torch.fx.node.map_arg(node.args, lambda n: self.env[n])
        kwargs = torch.fx.node.map_arg(node.kwargs, lambda n: self.env[n])
        rule = self.rules.get(node.target)
        if rule is not None:
            result = rule(self, *args, **kwargs)
            if result is not None:
                return result
        return self.call(node.target, *args, **kwargs)

    # ------------------------------------------------------------------ for rules
    def call(self, op: Any, *args: Any, **kwargs: Any) -> Any:
        """Emit one call; gives a Tensor when its shape is known, else the bare node."""
        made = self.graph.call_function(op, self.plain(args), self.plain(kwargs))
        meta = self.meta(op, *args, **kwargs)
        return made if meta is None else Tensor(made, meta)

    def meta(self, op: Any, *args: Any, **kwargs: Any) -> torch.Tensor | None:
        """What a call would give, on the meta device; None where that is no tensor or not known."""
        try:
            with torch.no_grad():
                meta = op(*_metas(args), **{k: _metas(v) for k, v in kwargs.items() if k != "device"})
        except (_ShapelessError, NotImplementedError, RuntimeError, TypeError, ValueError):
            return None
        return meta.to("meta") if isinstance(meta, torch.Tensor) else None

    def hold(self, tensor: torch.Tensor) -> Tensor:
        """A constant of the graph."""
        name = f"_legal_constant{self.held}"
        self.held += 1
        self.root.register_buffer(name, tensor)
        return Tensor(self.graph.get_attr(name), tensor.to("meta"))

    def plain(self, arg: Any) -> Any:
        if isinstance(arg, (list, tuple)):
            return type(arg)(self.plain(a) for a in arg)
        if isinstance(arg, dict):
            return {k: self.plain(v) for k, v in arg.items()}
        if isinstance(arg, torch.fx.Node):
            return _node(self.env.get(arg, arg))
        return _node(arg)

    def meta_of(self, node: torch.fx.Node) -> torch.Tensor | None:
        value = node.meta.get("val", node.meta.get("example_meta"))
        if node.op == "get_attr":
            value = _fetch(self.gm, str(node.target))
        if not isinstance(value, torch.Tensor) or any(isinstance(s, torch.SymInt) for s in value.shape):
            return None
        shape, strides, first = tuple(value.shape), value.stride(), value.storage_offset()
        span = 1 + sum((max(size, 1) - 1) * stride for size, stride in zip(shape, strides, strict=True))
        return torch.empty(first + span, dtype=value.dtype, device="meta").as_strided(shape, strides, first)


class _ShapelessError(Exception):
    """An argument whose shape is not known."""


def _node(value: Any) -> Any:
    return value.node if isinstance(value, Tensor) else value


def _metas(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.meta
    if isinstance(value, torch.fx.Node):
        raise _ShapelessError
    if isinstance(value, (list, tuple)):
        return type(value)(_metas(v) for v in value)
    return value


def _fetch(owner: Any, path: str) -> Any:
    return operator.attrgetter(path)(owner)


def _has(owner: Any, path: str) -> bool:
    try:
        _fetch(owner, path)
    except AttributeError:
        return False
    return True


def _place(root: torch.nn.Module, path: str, tensor: Any) -> None:
    *owners, name = path.split(".")
    for owner in owners:
        if not hasattr(root, owner):
            root.add_module(owner, torch.nn.Module())
        root = getattr(root, owner)
    if isinstance(tensor, torch.nn.Parameter):
        root.register_parameter(name, tensor)
    else:
        root.register_buffer(name, tensor)
