"""TorchScript by three routes.

`torchscript` is the user's: `torch.jit.script`, run by the optimising executor. `torchscript-trace` is
`torch.jit.trace`. `torchscript-graph` interprets the scripted graph as it stands, without the executor's own passes: it
costs a fifth of the others and keeps no memory, so the fast lane runs on it, and it is what the pass is judged against.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from inplace_fuzz.core.backend import Compiled, Refusal
from inplace_fuzz.core.materialize import load_module
from inplace_fuzz.core.program import Program
from inplace_fuzz.core.verdict import ALL_CHANNELS, Channel, Lane

_SCRIPT_REFUSALS = (
    Refusal("NotSupportedError", r".", "Python that TorchScript's front end does not read"),
    Refusal("UnsupportedNodeError", r".", "Python that TorchScript's front end does not read"),
    Refusal("RuntimeError", r"slices? with|Unsupported operation: indexing|cannot index|not supported|Unsupported"),
    Refusal("RuntimeError", r"(?s)Arguments for call are not valid|Unknown builtin op|Unknown type|no attribute"),
    Refusal("RuntimeError", r"(?s)Expected a value of type|is not (defined|usable)|undefined value|type mismatch"),
    Refusal("RuntimeError", r"(?s)tensor.*\.\.\.|Ellipsis|must have exactly one|Tried to access nonexistent"),
    Refusal("OSError", r"could not get source"),
)
_TRACE_REFUSALS = (
    Refusal("RuntimeError", r"Only (tensors|tuples)|cannot be understood by the tracer|Tracer cannot infer type"),
    Refusal("RuntimeError", r"Type '.*' cannot be traced|Encountering a dict at the output of the tracer"),
)


@contextmanager
def quiet() -> Iterator[None]:
    """TorchScript warns of its own deprecation, which is fatal where a project turns warnings into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True)
class Script:
    """`torch.jit.script(module)`, called as a user would, optimising executor included."""

    name: str = "torchscript"
    channels: frozenset[Channel] = ALL_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = _SCRIPT_REFUSALS
    form: str = "script"
    per_fork: int = 16

    def version(self) -> str:
        return f"torch {torch.__version__.partition('+')[0]}"

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        del example
        enter("convert")
        with quiet():
            scripted = module if isinstance(module, torch.jit.ScriptModule) else torch.jit.script(module)
        return Compiled(scripted, lambda: dict(scripted.named_buffers()))


@dataclass(frozen=True)
class Trace:
    """`torch.jit.trace(module, example)`; the check trace is left out, for the judge does its work."""

    name: str = "torchscript-trace"
    channels: frozenset[Channel] = ALL_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = _TRACE_REFUSALS
    form: str = "trace"
    per_fork: int = 16

    def version(self) -> str:
        return f"torch {torch.__version__.partition('+')[0]}"

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("convert")
        if isinstance(module, torch.jit.ScriptModule):
            return Compiled(module, lambda: dict(module.named_buffers()))
        traced = trace(module, example)
        return Compiled(traced, lambda: dict(traced.named_buffers()))


@dataclass(frozen=True)
class Graph:
    """The scripted graph, interpreted node by node without the executor's optimisation."""

    name: str = "torchscript-graph"
    channels: frozenset[Channel] = ALL_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = _SCRIPT_REFUSALS
    form: str = "graph"
    per_fork: int = 64

    def version(self) -> str:
        return f"torch {torch.__version__.partition('+')[0]}"

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        del example
        enter("convert")
        with quiet():
            scripted = module if isinstance(module, torch.jit.ScriptModule) else torch.jit.script(module)
        return interpreted(scripted.inlined_graph, scripted)

    def graph(self, program: Program) -> tuple[Any, Any]:
        """The program's scripted graph, and the script module that it takes first where it uses one (else None)."""
        if program.script and is_plain_function(program):
            # The class costs 4.9 ms and keeps 167 KiB for ever; its forward as a function 1.3 ms and nothing.
            unit = torch.jit.CompilationUnit(function_source(program))
            return unit.forward.graph, None
        with quiet():
            scripted = torch.jit.script(load_module(program))
        return scripted.inlined_graph, scripted


def trace(module: Any, example: tuple[Any, ...]) -> Any:
    """The traced module, with its buffers as they were: tracing runs the module, and that moves them."""
    state = {name: t.clone() for name, t in module.named_buffers()}
    with quiet():
        traced = torch.jit.trace(module, example, check_trace=False, strict=False)
    for name, buffer in traced.named_buffers():
        buffer.data.copy_(state[name])
    return traced


def interpreted(graph: Any, scripted: Any) -> Compiled:
    """Runs a TorchScript graph as it is. `scripted` is the module for a graph whose first input is `%self`."""
    run: Any = getattr(torch._C, "_jit_interpret_graph")  # noqa: B009, SLF001  no public way, and no stub
    if scripted is None:
        return Compiled(lambda *args: run(graph, args))
    cpp = scripted._c  # noqa: SLF001
    return Compiled(lambda *args: run(graph, (cpp, *args)), lambda: dict(scripted.named_buffers()))


def is_plain_function(program: Program) -> bool:
    """Whether `forward` stands alone: no self, and nothing beside torch and class M in the file."""
    alone = all(
        (isinstance(n, ast.Import) and [a.name for a in n.names] == ["torch"])
        or (isinstance(n, ast.ClassDef) and n.name == "M")
        for n in program.tree.body
    )
    return alone and program.stateless


def function_source(program: Program) -> str:
    """`forward` as a plain function, for programs that never mention self."""
    function = program.forward
    lines = program.source.splitlines()[function.lineno - 1 : function.end_lineno]
    indent = len(lines[0]) - len(lines[0].lstrip())
    text = "\n".join(line[indent:] for line in lines)
    copy = ast.parse(text).body[0]
    assert isinstance(copy, ast.FunctionDef)
    arguments = copy.args
    (arguments.posonlyargs or arguments.args).pop(0)
    header = f"def forward({ast.unparse(arguments)})"
    header += f" -> {ast.unparse(copy.returns)}:" if copy.returns else ":"
    body = text.splitlines()[copy.body[0].lineno - 1 :]
    return "\n".join([header, *body]) + "\n"


SCRIPT = Script()
TRACE = Trace()
GRAPH = Graph()
