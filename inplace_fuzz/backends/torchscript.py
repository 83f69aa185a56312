"""TorchScript by several routes.

`torchscript` is the user's: `torch.jit.script`, run by the optimising executor. `torchscript-legacy` is the same under
the executor that does not profile, `torchscript-frozen` what is deployed: frozen, and optimised for inference.
`torchscript-trace` is `torch.jit.trace`. `torchscript-graph` interprets the scripted graph as it stands, without the
executor's own passes: it costs a fifth of the others and keeps no memory, so the fast lane runs on it, and it is what
the pass is judged against.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from inplace_fuzz.core.backend import Compiled, Refusal, Requirements
from inplace_fuzz.core.materialize import torch_version
from inplace_fuzz.core.program import Program
from inplace_fuzz.core.verdict import ALL_CHANNELS, Channel, Lane

REQUIREMENTS = Requirements("torch")
_READ = {"why": "Python that TorchScript's front end does not read", "stage": "convert"}
_TRACED = {"why": "what the tracer says it cannot record", "stage": "convert"}
SCRIPT_REFUSALS = (
    Refusal("NotSupportedError", r".", **_READ),
    Refusal("UnsupportedNodeError", r".", **_READ),
    Refusal("RuntimeError", r"currently not supported|Unsupported operation: indexing|are not supported", **_READ),
    Refusal("RuntimeError", r"Arguments for call are not valid|Unknown builtin op|Unknown type name", **_READ),
    Refusal(
        "RuntimeError",
        r"undefined value|cannot be used as a value|Expected a value of type|has no attribute|Cannot emit expr for",
        **_READ,
    ),
    Refusal("OSError", r"could not get source|source code not available", **_READ),
)
TRACE_REFUSALS = (
    Refusal(
        "RuntimeError", r"Only (tensors|tuples)|cannot be understood by the tracer|Tracer cannot infer type", **_TRACED
    ),
    Refusal("RuntimeError", r"Type '.*' cannot be traced|Encountering a dict at the output of the tracer", **_TRACED),
)


@contextmanager
def quiet() -> Iterator[None]:
    """TorchScript warns of its own deprecation, which is fatal where a project turns warnings into errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@dataclass(frozen=True)
class Script:
    """`torch.jit.script(module)`, called as a user would, optimising executor included.

    `legacy` runs it under the executor from before profiling, which optimises a graph before its first run.
    """

    name: str = "torchscript"
    legacy: bool = False
    channels: frozenset[Channel] = ALL_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = SCRIPT_REFUSALS
    form: str = "script"
    per_fork: int = 16
    starts_no_threads: bool = True

    def version(self) -> str:
        return torch_version()

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        del example
        enter("convert")
        scripted = _scripted(module)
        call = _under_the_legacy_executor(scripted) if self.legacy else scripted
        return Compiled(call, lambda: dict(scripted.named_buffers()))


def _scripted(module: Any) -> Any:
    with quiet():
        return module if isinstance(module, torch.jit.ScriptModule) else torch.jit.script(module)


def _under_the_legacy_executor(module: Any) -> Callable[..., Any]:
    """Which executor a graph gets is decided when it first runs, by two switches of the whole process."""

    def call(*args: Any) -> Any:
        executor: Any = getattr(torch._C, "_jit_set_profiling_executor")  # noqa: B009, SLF001
        mode: Any = getattr(torch._C, "_jit_set_profiling_mode")  # noqa: B009, SLF001
        before = executor(False), mode(False)
        try:
            return module(*args)
        finally:
            executor(before[0])
            mode(before[1])

    return call


@dataclass(frozen=True)
class Frozen:
    """`torch.jit.freeze`, then `optimize_for_inference`: attributes become constants, and constants are folded.

    Buffers that the program writes stay attributes, and are shown by what later calls return.
    """

    name: str = "torchscript-frozen"
    channels: frozenset[Channel] = ALL_CHANNELS - {Channel.BUFFERS}
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = SCRIPT_REFUSALS
    form: str = "script"
    starts_from: str = "torchscript"
    per_fork: int = 16
    starts_no_threads: bool = True

    def version(self) -> str:
        return torch_version()

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        del example
        enter("convert")
        scripted = _scripted(module)
        enter("build")
        with quiet():
            frozen = torch.jit.optimize_for_inference(torch.jit.freeze(scripted.eval()))
        return Compiled(frozen, None)


@dataclass(frozen=True)
class Trace:
    """`torch.jit.trace(module, example)`; the check trace is left out, for the judge does its work."""

    name: str = "torchscript-trace"
    channels: frozenset[Channel] = ALL_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = TRACE_REFUSALS
    form: str = "trace"
    per_fork: int = 16
    starts_no_threads: bool = True

    def version(self) -> str:
        return torch_version()

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
    refusals: tuple[Refusal, ...] = SCRIPT_REFUSALS
    form: str = "graph"
    per_fork: int = 256
    starts_no_threads: bool = True

    def version(self) -> str:
        return torch_version()

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        del example
        enter("convert")
        scripted = _scripted(module)
        opened = Opened(scripted.inlined_graph, (scripted._c,), lambda: dict(scripted.named_buffers()))  # noqa: SLF001
        return interpreted(opened.graph, opened)

    def open(self, program: Program, instance: Callable[[], Any]) -> Opened:
        """The program's scripted graph, with what it takes before the caller's arguments. `instance` makes a module."""
        graph = _function_graph(program)
        if graph is not None:
            if program.is_plain:
                return Opened(graph)
            state = dict(instance().named_buffers())
            leading = () if program.stateless else tuple(state.values())
            return Opened(graph, leading, lambda: state)
        with quiet():
            scripted = torch.jit.script(instance())
        return Opened(scripted.inlined_graph, (scripted._c,), lambda: dict(scripted.named_buffers()))  # noqa: SLF001


@dataclass(frozen=True)
class Opened:
    """A bare graph. `leading` are the arguments that it takes first: the script module, or the buffers one by one."""

    graph: Any
    leading: tuple[Any, ...] = ()
    buffers: Callable[[], Any] = dict


def trace(module: Any, example: tuple[Any, ...]) -> Any:
    """The traced module, with its state as it was: tracing runs the module, and that moves it."""
    state = [(t, t.detach().clone()) for t in (*module.parameters(), *module.buffers())]
    with quiet():
        traced = torch.jit.trace(module, example, check_trace=False, strict=False)
    for tensor, before in state:
        tensor.data.copy_(before)
    return traced


_last: tuple[Program | None, Any] = None, None


def _function_graph(program: Program) -> Any:
    """The graph of `forward` as a function, or None where it is more than that. Nobody writes into it.

    Kept while the lanes of one program ask for it: the class costs 4.9 ms and keeps 167 KiB for ever; its forward as a
    function costs 1.3 ms and keeps nothing.
    """
    global _last
    if _last[0] is not program:
        source = function_source(program) if program.script else None
        _last = program, None if source is None else torch.jit.CompilationUnit(source).forward.graph
    return _last[1]


def interpreted(graph: Any, opened: Opened) -> Compiled:
    """Runs a TorchScript graph as it is, with the state of the program that it came from."""
    run: Any = getattr(torch._C, "_jit_interpret_graph")  # noqa: B009, SLF001  no public way, and no stub
    leading = opened.leading
    return Compiled(lambda *args: run(graph, leading + args), opened.buffers)


def function_source(program: Program) -> str | None:
    """`forward` as a plain function, for programs that hold nothing beside it but buffers; otherwise None.

    Buffers become leading parameters, in the order in which they are registered, so the graph reads and writes them as
    it would through self.
    """
    buffers = _only_buffers(program)
    if buffers is None:
        return None
    text = program.forward_text
    if program.stateless:
        buffers = []
    else:
        text = re.sub(r"\bself\.(\w+)", r"\1", text)
    return re.sub(r"^def forward\(self\b(, )?", f"def forward({', '.join(buffers)}" + (r"\1" if buffers else ""), text)


def _only_buffers(program: Program) -> list[str] | None:
    """The names of the buffers, where the program is torch, class M, `register_buffer` calls and forward alone."""
    buffers: list[str] = []
    if program.is_plain:
        return buffers if program.stateless else None
    for node in program.tree.body:
        match node:
            case ast.Import(names=[ast.alias(name="torch", asname=None)]):
                continue
            case ast.ClassDef(
                name="M", body=[ast.FunctionDef(name="__init__") as init, ast.FunctionDef(name="forward")]
            ):
                for statement in init.body:
                    match statement:
                        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="__init__"))):
                            continue
                        case ast.Expr(
                            value=ast.Call(
                                func=ast.Attribute(value=ast.Name(id="self"), attr="register_buffer"),
                                args=[ast.Constant(value=str(name)), _],
                            )
                        ):
                            buffers.append(name)
                        case _:
                            return None
            case ast.ClassDef(name="M", body=[ast.FunctionDef(name="forward")]):
                continue
            case _:
                return None
    return buffers if _reads_only(program, buffers) else None


def _reads_only(program: Program, buffers: list[str]) -> bool:
    """Whether forward uses self for these buffers alone, never rebinds one, and has no other name like theirs."""
    if program.stateless:
        return True
    bare = attributes = 0
    for node in ast.walk(program.forward):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=context):
                attributes += 1
                if name not in buffers or not isinstance(context, ast.Load):
                    return False
            case ast.Name(id="self"):
                bare += 1
            case ast.Name(id=name) | ast.arg(arg=name) if name in buffers:
                return False
    return bare == attributes


SCRIPT = Script()
LEGACY = Script("torchscript-legacy", legacy=True)
FROZEN = Frozen()
TRACE = Trace()
GRAPH = Graph()
