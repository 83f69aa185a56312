"""Passes that remove in-place writes, each as a backend: this package's, and the peers that come with torch.

A pass is run the way its own documentation or tests run it, and what it makes is called like any module. `remark`
names the operators that still write, beside one write-back per input or buffer at the end.
"""

# ruff: noqa: SLF001  (torch keeps its graphs and passes behind underscores)

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from inplace_fuzz.backends.export import EXPORT_REFUSALS
from inplace_fuzz.backends.torchscript import SCRIPT as SCRIPT_DIRECT
from inplace_fuzz.backends.torchscript import TRACE as TRACE_DIRECT
from inplace_fuzz.backends.torchscript import quiet, trace
from inplace_fuzz.core.backend import Compiled, Refusal
from inplace_fuzz.core.materialize import torch_version
from inplace_fuzz.core.verdict import ALL_CHANNELS, OUTPUT_CHANNELS, Channel, Lane
from inplace_fuzz.rewrite import functionalize, writing_operators

Enter = Callable[[str], None]
STILL = "still writes: "
# Functional operators choose their own layout; a functional program may hand out tensors of its own.
_OURS = ALL_CHANNELS - {Channel.STRIDES}
_STATE = OUTPUT_CHANNELS | {Channel.INPUTS, Channel.BUFFERS}


@dataclass(frozen=True)
class Pass:
    """One pass. `make` takes an eval-mode module and example inputs that it may consume."""

    name: str
    make: Callable[[Any, tuple[Any, ...], Enter], Compiled]
    channels: frozenset[Channel]
    refusals: tuple[Refusal, ...] = ()
    lanes: tuple[Lane, ...] = (Lane.DIRECT,)
    form: str = "script"  # a class of its own for each module: TorchScript remembers what it made of one
    per_fork: int = 16
    starts_no_threads: bool = True

    def version(self) -> str:
        return torch_version()

    def compile(self, module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
        with quiet():
            return self.make(module, example, enter)


def _called(made: Any, call: Callable[..., Any] | None = None) -> Compiled:
    """A module as its caller uses it, with what in it still writes."""
    left = writing_operators(made)
    remark = STILL + ", ".join(dict.fromkeys(left)) if left else ""
    return Compiled(call or made, lambda: dict(made.named_buffers()), remark)


# ------------------------------------------------------------------------------------------------------------- ours
def _module(module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
    enter("rewrite")
    return _called(functionalize(module, example))


def _module_to_fx(module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
    enter("rewrite")
    return _called(functionalize(module, example, target="fx"))


def _script(module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
    enter("convert")
    scripted = torch.jit.script(module)
    enter("rewrite")
    return _called(functionalize(scripted, example))


def _trace(module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
    enter("convert")
    traced = trace(module, example)
    enter("rewrite")
    return _called(functionalize(traced, example))


def _exported(module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
    enter("export")
    exported = torch.export.export(module, example)
    return _called(exported.module())


def _export(module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
    enter("export")
    exported = torch.export.export(module, example)
    enter("rewrite")
    return _called(functionalize(exported, example, target="fx"))


# ------------------------------------------------------------------------------------------------------------ peers
def _jit_pass(name: str) -> Callable[[Any, tuple[Any, ...], Enter], Compiled]:
    """A pass of TorchScript, run on the graph in place as torch's own tests run it."""

    def make(module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
        del example
        enter("convert")
        scripted = torch.jit.script(module)
        enter("build")
        torch._C._jit_pass_inline(scripted.graph)
        getattr(torch._C, name)(scripted.graph)
        torch._C._jit_pass_lint(scripted.graph)
        return _called(scripted)

    return make


def _make_fx(remove: str) -> Callable[[Any, tuple[Any, ...], Enter], Compiled]:
    """`make_fx(functionalize(f))`, f being the module as a function of its state and its arguments."""

    def make(module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
        from torch.fx.experimental.proxy_tensor import make_fx

        state = {**dict(module.named_parameters()), **dict(module.named_buffers())}

        def function(held: dict[str, Any], *args: Any) -> Any:
            return torch.func.functional_call(module, held, args)

        enter("build")
        copies = {name: t.detach().clone() for name, t in state.items()}
        made = make_fx(torch.func.functionalize(function, remove=remove))(copies, *example)
        left = writing_operators(made)
        remark = STILL + ", ".join(dict.fromkeys(left)) if left else ""
        return Compiled(lambda *args: made(state, *args), lambda: dict(module.named_buffers()), remark)

    return make


def _run_decompositions(module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
    enter("export")
    exported = torch.export.export(module, example)
    enter("build")
    return _called(exported.run_decompositions().module())


def _converter(module: Any, example: tuple[Any, ...], enter: Enter) -> Compiled:
    from torch._export.converter import TS2EPConverter

    enter("convert")
    scripted = torch.jit.script(module)
    enter("build")
    exported = TS2EPConverter(scripted, example).convert()
    return _called(exported.run_decompositions().module())


MODULE = Pass("module-to-torchscript", _module, _OURS)
MODULE_FX = Pass("module-to-fx", _module_to_fx, _OURS)
SCRIPT = Pass("script-to-torchscript", _script, _OURS, SCRIPT_DIRECT.refusals)
TRACE = Pass("trace-to-torchscript", _trace, _OURS, TRACE_DIRECT.refusals)
EXPORT = Pass("export-to-fx", _export, _OURS, EXPORT_REFUSALS)

REMOVE_MUTATION = Pass("remove-mutation", _jit_pass("_jit_pass_remove_mutation"), _OURS, SCRIPT_DIRECT.refusals)
REMOVE_INPLACE = Pass("remove-inplace-ops", _jit_pass("_jit_pass_remove_inplace_ops"), _OURS, SCRIPT_DIRECT.refusals)
FUNCTIONALIZE = Pass("functionalize", _make_fx("mutations"), _STATE)
FUNCTIONALIZE_VIEWS = Pass("functionalize-views", _make_fx("mutations_and_views"), _STATE)
EXPORTED = Pass("export", _exported, _STATE, EXPORT_REFUSALS)
DECOMPOSED = Pass("run-decompositions", _run_decompositions, _STATE, EXPORT_REFUSALS)
CONVERTER = Pass("ts2ep", _converter, _STATE, (*SCRIPT_DIRECT.refusals, *EXPORT_REFUSALS))
