"""FX in and out: a TorchScript program as functional ATen FX, and an ATen FX graph with its in-place operators gone."""

# ruff: noqa: ARG002  (the functions of one table take the same arguments)
# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import dataclasses
from typing import Any, cast

import torch

from . import examples, fx_read, module, torchscript
from .errors import UnsupportedMutation
from .fx_emit import Emitter
from .fx_operators import Known
from .ir import looks_at_storage
from .rules import Rules
from .walk import Walk


@dataclasses.dataclass
class InputGuard:
    """A forward pre-hook: the inputs must be as the example inputs were, in everything the rewriting relied on."""

    expected: tuple[Any, ...]
    strides: bool

    def __call__(self, gm: torch.nn.Module, args: tuple[Any, ...]) -> None:
        described = describe(args, self.strides)
        if described != self.expected and not any(_is_fake(a) for a in args):
            wrong = next((i for i, (a, b) in enumerate(zip(described, self.expected, strict=False)) if a != b), 0)
            raise UnsupportedMutation(
                f"input {wrong}", f"rewritten for {self.expected[wrong]}, called with {described[wrong]}",
                hint="rewrite the module again, with these as example_inputs",
            )  # fmt: skip


def _is_fake(value: Any) -> bool:
    return type(value) not in (torch.Tensor, torch.nn.Parameter) and isinstance(value, torch.Tensor)


def describe(args: Any, strides: bool) -> tuple[Any, ...]:
    """What a guard compares: shape, dtype, sharing of storage, strides where they matter, other values as they are."""
    seen: dict[int, int] = {}

    def one(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            shared = 0
            if value.numel() and not _is_fake(value):
                shared = seen.setdefault(value.untyped_storage().data_ptr(), len(seen))
            layout = (value.stride(), value.storage_offset()) if strides else ()
            return tuple(value.shape), str(value.dtype), shared, *layout
        if isinstance(value, (list, tuple)):
            return tuple(map(one, value))
        if isinstance(value, dict):
            return tuple((k, one(v)) for k, v in value.items())
        return value

    return tuple(map(one, args))


def from_torchscript(
    source: Any, example_inputs: Any, rules: Rules, *, guard: bool, write_back: bool
) -> tuple[torch.fx.GraphModule, list[Any]]:
    """`source` as for functionalize(); `example_inputs` are needed, since sizes become part of the graph."""
    if example_inputs is None:
        raise ValueError('target="fx" needs example_inputs=(...): sizes become part of an FX graph')
    held: dict[str, Any] = {}
    tied: dict[tuple[str, ...], tuple[str, ...]] = {}
    modes: dict[tuple[str, ...], bool] = {}
    if isinstance(source, torch._C.Graph):
        graph = source
    elif isinstance(source, torch.jit.ScriptFunction):
        graph = cast("torch._C.Graph", source.inlined_graph)
    else:
        script = source if isinstance(source, torch.jit.ScriptModule) else module.as_script(source, example_inputs)
        example_inputs = (*example_inputs, *examples.defaults(script)[len(example_inputs) :])
        graph, tied, modes = script.inlined_graph, module.tied(source), module.modes(script)
        held = _held(script._c, {".".join(path): tensor for path, tensor in module.tensors(source)})
    read = torchscript.read(graph)
    with_self = len(read.block.params) - len(example_inputs)
    shared = examples.shared_storages(example_inputs, first=with_self, storage=looks_at_storage(read))
    options: dict[str, Any] = {"guard": False, "write_back": write_back, "shared": shared, "executor": False}
    walk = Walk(read, rules, tied=tied, modes=modes, inputs=example_inputs, **options)
    out = walk.run()
    emitter = Emitter(held)
    inputs = [Known(None, "")] * with_self
    for param, example in zip(out.block.params[with_self:], examples.copies(example_inputs), strict=True):
        inputs.append(_placeholder(emitter, param.name, example))
    results = emitter.run(out, inputs)
    result = results[0].arg if len(results) == 1 else tuple(r.arg for r in results)
    if not write_back and len(results) > 1:
        result = tuple(r.arg for r in results)
    return _finished(emitter, result, example_inputs, guard, shared), walk.explained


def _placeholder(emitter: Emitter, name: str, example: Any) -> Known:
    node = emitter.graph.placeholder(name.partition(".")[0] or f"arg{len(list(emitter.graph.nodes))}")
    if isinstance(example, torch.Tensor):
        size, stride = tuple(example.shape), example.stride()
        node.meta["example_meta"] = torch.empty_strided(size, stride, dtype=example.dtype, device="meta")
        return Known(node, example)
    if isinstance(example, (list, tuple)) and any(isinstance(e, torch.Tensor) for e in example):
        import operator

        items = [emitter.graph.call_function(operator.getitem, (node, i)) for i in range(len(example))]
        return Known(type(example)(items), example)
    if isinstance(example, dict):
        import operator

        return Known({k: emitter.graph.call_function(operator.getitem, (node, k)) for k in example}, example)
    return Known(example, example)


def _held(script: Any, tensors: dict[str, Any]) -> dict[str, Any]:
    """Attributes by path: the module's tensors, a copy of each to run on, and the script module for all others."""
    held: dict[str, Any] = {}
    for (path, tensor), copy in zip(tensors.items(), examples.copies(list(tensors.values())), strict=True):
        held[path], held["example:" + path] = tensor, copy
    held[""] = script
    return held


def _finished(emitter: Emitter, result: Any, example_inputs: Any, guard: bool, shared: Any) -> torch.fx.GraphModule:
    emitter.graph.output(result)
    for path in emitter.nodes:
        if path in emitter.attributes:
            _place(emitter.root, path, emitter.attributes[path])
    emitter.graph.eliminate_dead_code()
    emitter.graph.lint()
    gm = torch.fx.GraphModule(emitter.root, emitter.graph)
    if guard and example_inputs is not None:
        strides = emitter.reads_layout or bool(shared)
        gm.register_forward_pre_hook(InputGuard(describe(example_inputs, strides), strides))
    return gm


def _place(root: torch.nn.Module, path: str, tensor: torch.Tensor) -> None:
    *owners, name = path.split(".")
    for owner in owners:
        if not hasattr(root, owner):
            root.add_module(owner, torch.nn.Module())
        root = getattr(root, owner)
    if isinstance(tensor, torch.nn.Parameter):
        root.register_parameter(name, tensor)
    else:
        root.register_buffer(name, tensor)


def functionalized(
    source: Any, example_inputs: Any, rules: Rules, *, guard: bool, write_back: bool
) -> tuple[torch.fx.GraphModule, list[Any]]:
    """An ATen FX graph that still holds in-place operators, without them."""
    if isinstance(source, torch.export.ExportedProgram):
        if example_inputs is None and source.example_inputs is not None:
            example_inputs = source.example_inputs[0]
        source = source.module(check_guards=False)
    reader = fx_read.Reader(source)
    read = reader.graph()
    if example_inputs is None:
        raise ValueError("an FX graph needs example_inputs=(...): which inputs share memory, and their sizes")
    flat = torch.utils._pytree.tree_flatten(tuple(example_inputs))[0]
    shared = examples.shared_storages(flat, storage=looks_at_storage(read))
    options: dict[str, Any] = {"guard": False, "write_back": write_back, "shared": shared, "executor": False}
    walk = Walk(read, rules, tied=reader.tied, **options)
    out = walk.run()
    emitter = Emitter(_held_fx(reader.held))
    inputs = [_placeholder(emitter, p.name, e) for p, e in zip(out.block.params, examples.copies(flat), strict=False)]
    inputs += [Known(emitter.get_attr(path), emitter.attributes["example:" + path]) for path in reader.paths]
    results = emitter.run(out, inputs)
    whole, extra = results[0], results[1:]
    arg = (*whole.arg, *(e.arg for e in extra)) if extra else whole.arg
    gm = _finished(emitter, arg, None, guard, shared)
    if guard:
        strides = emitter.reads_layout or bool(shared)
        gm.register_forward_pre_hook(InputGuard(describe(example_inputs, strides), strides))
    if not extra:
        gm.graph._codegen = source.graph._codegen
        gm.recompile()
    return gm, walk.explained


def _held_fx(tensors: dict[str, Any]) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for (path, tensor), copy in zip(tensors.items(), examples.copies(list(tensors.values())), strict=True):
        held[path], held["example:" + path] = tensor, copy
    return held
