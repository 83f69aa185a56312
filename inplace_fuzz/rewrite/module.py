"""A ScriptModule whose `forward` is a rewritten graph: same calling convention, same parameters and buffers."""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from . import examples
from .errors import UnsupportedMutation
from .faithful import faithful, has_branches


def as_script(module: torch.nn.Module, example_inputs: Any) -> torch.jit.ScriptModule:
    """`module` as TorchScript: scripted, or, when script does not take it, traced on copies of the example inputs.

    Where there are example inputs, script is checked against the module on them (`faithful`): a program that script
    gets wrong is traced, if it has no branches that a trace would freeze and the trace is right.
    Raises the error that script raised when there are no example inputs to trace with, and UnsupportedMutation when
    TorchScript does not do what the module does.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            script = torch.jit.script(module)
        except Exception:
            if example_inputs is None:
                raise
            script = None
        if script is not None and (example_inputs is None or faithful(module, script, example_inputs)):
            return script
        if script is None or not has_branches(script):
            try:
                traced = torch.jit.trace(copy.deepcopy(module), examples.copies(example_inputs), check_trace=False)
            except Exception as why:
                raise UnsupportedMutation(
                    "torch.jit.script", f"neither script nor trace takes the module: {str(why).partition(chr(10))[0]}",
                    hint='use target="fx", or give a module that torch.export.export made',
                ) from why  # fmt: skip
            share_tensors(traced._c, module)
            if script is None or faithful(module, traced, example_inputs):
                return traced  # type: ignore[no-any-return]
    raise UnsupportedMutation(
        "torch.jit.script",
        "the scripted module does not do what the module does on the example inputs: a fault of TorchScript",
        hint='use target="fx", or give a module that torch.jit.trace or torch.export.export made',
    )


def exported(module: torch.nn.Module, example_inputs: Any) -> torch.export.ExportedProgram:
    """`torch.export.export`, which may run writes on tensors that the module did not register: they are put back."""
    before = [(tensor, tensor.detach().clone()) for _, tensor in tensors(module)]
    try:
        return torch.export.export(module, examples.copies(example_inputs))
    finally:
        with torch.no_grad():
            for tensor, value in before:
                tensor.data.copy_(value)


def with_graph(module: torch.jit.ScriptModule, graph: torch._C.Graph) -> torch.jit.ScriptModule:
    """A module of its own type that holds `module`'s own tensors and runs `graph`, whose first input is `self`."""
    cloned = torch._C._hack_do_not_use_clone_module_with_class(module._c, [], [])  # type: ignore[attr-defined]
    share_tensors(cloned, module)
    target = cloned._get_method("forward").graph
    for _ in list(target.outputs()):
        target.eraseOutput(0)
    for node in reversed(list(target.nodes())):
        node.destroy()
    for value in target.insertGraph(graph, list(target.inputs())):
        target.registerOutput(value)
    _retype(target, cloned)
    return torch.jit._recursive.wrap_cpp_module(cloned)  # type: ignore[no-any-return]


def _retype(graph: torch._C.Graph, module: Any) -> None:
    """Submodules of the clone have types of their own."""
    objects = {next(iter(graph.inputs())): module}
    for node in graph.nodes():
        if node.kind() == "prim::GetAttr" and node.inputsAt(0) in objects:
            owner, name = objects[node.inputsAt(0)], node.s("name")
            value = owner.getattr(name)
            if isinstance(value, torch._C.ScriptObject) and hasattr(value, "_get_method"):
                out = node.output()
                out.setType(value._type())
                objects[out] = value


def share_tensors(target: Any, module: torch.nn.Module) -> None:
    """Make every tensor of the C++ module `target` the very tensor that `module` holds."""
    for path, tensor in tensors(module):
        owner = target
        for name in path[:-1]:
            owner = owner.getattr(name) if owner.hasattr(name) else None
            if owner is None:
                break
        if owner is not None and owner.hasattr(path[-1]):
            owner.setattr(path[-1], tensor)


def tensors(module: torch.nn.Module) -> Iterator[tuple[tuple[str, ...], torch.Tensor]]:
    """Every parameter, buffer and plain attribute with its path, those that appear under two names twice."""
    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    found = {tuple(name.split(".")): tensor for name, tensor in named}
    yield from (found | {path: value for path, value in _plain(module) if path not in found}).items()


def _plain(module: torch.nn.Module) -> Iterator[tuple[tuple[str, ...], torch.Tensor]]:
    """Tensors that a module holds without having registered them. Of a ScriptModule, those that its graph uses."""
    if not isinstance(module, torch.jit.ScriptModule):
        for prefix, inner in module.named_modules(remove_duplicate=False):
            owner = tuple(prefix.split(".")) if prefix else ()
            yield from (((*owner, k), v) for k, v in vars(inner).items() if isinstance(v, torch.Tensor))
        return
    graph: Any = module.inlined_graph
    owners: dict[Any, tuple[tuple[str, ...], Any]] = {next(iter(graph.inputs())): ((), module._c)}
    for node in graph.findAllNodes("prim::GetAttr"):
        if node.inputsAt(0) in owners:
            path, owner = owners[node.inputsAt(0)]
            value = owner.getattr(node.s("name"))
            if isinstance(value, torch.Tensor):
                yield (*path, node.s("name")), value
            owners[node.output()] = (*path, node.s("name")), value


def modes(script: torch.jit.ScriptModule) -> dict[tuple[str, ...], bool]:
    """Which modules are in training mode, by path; not of those that keep no such attribute."""
    found = {}
    for name, inner in script.named_modules():
        if inner._c.hasattr("training"):
            found[tuple(name.split(".")) if name else ()] = bool(inner._c.getattr("training"))
    return found


def refuse_shared_state(module: torch.nn.Module, inputs: Any) -> None:
    """An FX graph takes each tensor of a module as one of its own. Raises UnsupportedMutation where two different ones,
    or one and an input, look into one storage.
    """
    owners: dict[int, tuple[torch.Tensor, str]] = {}
    for path, tensor in tensors(module):
        if tensor.numel():
            first, name = owners.setdefault(tensor.untyped_storage().data_ptr(), (tensor, ".".join(path)))
            if first is not tensor:
                raise UnsupportedMutation("fx", f"{name} and {'.'.join(path)} share memory", hint="clone one of them")
    for value in inputs:
        if isinstance(value, torch.Tensor) and value.numel() and value.untyped_storage().data_ptr() in owners:
            name = owners[value.untyped_storage().data_ptr()][1]
            raise UnsupportedMutation("fx", f"an input and {name} share memory", hint="clone one of them")


def tied(module: torch.nn.Module) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Attribute paths that hold one tensor: each path to the first of them."""
    first: dict[int, tuple[str, ...]] = {}
    found = {}
    held = list(tensors(module))  # alive together, so that no two have one id
    for path, tensor in held:
        other = first.setdefault(id(tensor), path)
        if other is not path:
            found[path] = other
    return found
