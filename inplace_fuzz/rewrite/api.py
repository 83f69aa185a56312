"""`functionalize` and `rewrite_graph`: the pass, as users call it."""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, cast

import torch

from . import examples, module, torchscript
from .errors import UnsupportedMutation
from .faithful import faithful_fx
from .ir import Graph, looks_at_storage
from .rules import DEFAULT_RULES, Rules
from .walk import Walk


@dataclasses.dataclass(frozen=True)
class Explained:
    """What became of one write: the operator, the line of the program that called it, and what was done."""

    operator: str
    source_line: str
    became: str

    def __str__(self) -> str:
        return f"{self.operator:24} {self.source_line:40} {self.became}"


def rewrite_graph(
    graph: torch._C.Graph, example_inputs: Any = None, *, rules: Rules = DEFAULT_RULES, guard: bool = True,
    write_back: bool = True,
) -> torch._C.Graph:  # fmt: skip
    """A new graph that computes what `graph` computes, and in which nothing writes but one write-back per input.

    graph:          a TorchScript graph, from script or trace; it is not changed
    example_inputs: the arguments after `self`; inputs that share memory here are rewritten as sharing it
    guard:          the result checks, when it runs, that a written input shares no memory with another one
    write_back:     False returns the new contents of written inputs and buffers as further outputs instead
    Raises UnsupportedMutation for what cannot be proved.
    """
    return _rewritten(graph, example_inputs, rules, guard=guard, write_back=write_back)[0]


def functionalize(
    module_or_graph: Any, example_inputs: Any = None, *, target: str = "torchscript", write_back: bool = True,
    explain: bool = False, guard: bool = True, rules: Rules = DEFAULT_RULES,
) -> Any:  # fmt: skip
    """The same program without in-place operators, ready for a compiler that cannot follow them.

    module_or_graph: an nn.Module (scripted, or traced on `example_inputs` when script does not take it or gets it
                     wrong; for target="fx" exported where torch.export takes it), a
                     ScriptModule, a ScriptFunction, a torch._C.Graph (gives a torch._C.Graph), or an
                     fx.GraphModule or ExportedProgram of ATen operators (gives an fx.GraphModule)
    target:          "torchscript" (a ScriptModule that can be saved) or "fx" (functional torch.ops.aten calls, for
                     the shapes of `example_inputs`)
    write_back:      written inputs and buffers are written once, at the end; False returns their new contents as
                     further outputs, after the program's own
    explain:         return (result, [Explained, ...]): what became of every write
    guard:           the result checks, when it runs, what was assumed of its inputs
    Raises UnsupportedMutation for whatever cannot be proved, ValueError for a target that does not exist.
    """
    if target not in ("torchscript", "fx"):
        raise ValueError(f'target={target!r}: write target="torchscript" or target="fx"')
    options = {"guard": guard, "write_back": write_back}
    if isinstance(example_inputs, list):
        example_inputs = tuple(example_inputs)
    if isinstance(module_or_graph, (torch.fx.GraphModule, torch.export.ExportedProgram)):
        from . import fx

        result, explained = fx.functionalized(module_or_graph, example_inputs, rules, **options)
    elif target == "fx":
        from . import fx

        result, explained = _fx(module_or_graph, example_inputs, rules, **options)
    else:
        result, explained = _torchscript(module_or_graph, example_inputs, rules, **options)
    return (result, [Explained(*e) for e in explained]) if explain else result


def _fx(source: Any, example_inputs: Any, rules: Rules, **options: bool) -> tuple[Any, list[Any]]:
    """A module of the user's own goes through torch.export, which loses no write, and through TorchScript where export
    does not take it or the pass refuses what export makes of it.
    """
    from . import fx

    if isinstance(source, torch.nn.Module):
        module.refuse_shared_state(source, example_inputs or ())
    own = isinstance(source, torch.nn.Module) and not isinstance(source, torch.jit.ScriptModule)
    # Export raises many types for what it does not take; the other way may do.
    with contextlib.suppress(Exception):
        if own and example_inputs is not None:
            exported = module.exported(source, example_inputs)
            made = fx.functionalized(exported, example_inputs, rules, **options)
            if not options["write_back"] or faithful_fx(source, made[0], example_inputs):
                return made
    made = fx.from_torchscript(source, example_inputs, rules, **options)
    if own and options["write_back"] and not faithful_fx(source, made[0], example_inputs):
        raise UnsupportedMutation(
            "fx",
            "neither torch.export nor TorchScript does what the module does on the example inputs",
            hint="report which line differs; `inplace-fuzz check` shows it",
        )
    return made


def _torchscript(source: Any, example_inputs: Any, rules: Rules, **options: bool) -> tuple[Any, list[Any]]:
    if isinstance(source, torch._C.Graph):
        return _rewritten(source, example_inputs, rules, **options)
    if isinstance(source, torch.jit.ScriptFunction):
        graph, explained = _rewritten(cast("torch._C.Graph", source.inlined_graph), example_inputs, rules, **options)
        return torch._C._create_function_from_graph("forward", _one_output(graph)), explained
    script = source if isinstance(source, torch.jit.ScriptModule) else module.as_script(source, example_inputs)
    if example_inputs is not None:
        example_inputs = (*example_inputs, *examples.defaults(script)[len(example_inputs) :])
    known: dict[str, Any] = {"tied": module.tied(source), "modes": module.modes(script)}
    graph, explained = _rewritten(script.inlined_graph, example_inputs, rules, **known, **options)
    return module.with_graph(script, _one_output(graph)), explained


def _one_output(graph: torch._C.Graph) -> torch._C.Graph:
    if len(list(graph.outputs())) != 1:
        graph.makeMultiOutputIntoTuple()
    return graph


def _rewritten(
    graph: torch._C.Graph, example_inputs: Any, rules: Rules, *, tied: Any = None, modes: Any = None, **options: bool
) -> tuple[torch._C.Graph, list[Any]]:
    source = torchscript.read(graph)
    shared = _shared(source, example_inputs)
    walk = Walk(source, rules, shared=shared, tied=tied, modes=modes, inputs=example_inputs, **options)
    return torchscript.emit(walk.run()), walk.explained


def _shared(source: Graph, example_inputs: Any) -> list[Any]:
    if example_inputs is None:
        return []
    first = len(source.block.params) - len(example_inputs)
    return examples.shared_storages(example_inputs, first=first, storage=looks_at_storage(source))
