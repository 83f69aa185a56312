"""How a program reaches a compiler: the pass and the legalisations are ours, compiling is the backend's."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from inplace_fuzz.core.backend import Backend, Compiled
from inplace_fuzz.core.verdict import Channel, Lane
from inplace_fuzz.execute.subject import Subject

Where = tuple[str, str]  # backend and lane


@dataclass
class Stage:
    """The stage that the current target is in; `enter` tells the supervisor, for a death to be blamed on it.

    `remark` is what the adapter said of what it made last.
    """

    where: Where
    tell: Callable[[Where, str], None]
    name: str = "import"
    remark: str = ""

    def enter(self, name: str) -> None:
        self.name = name
        self.tell(self.where, name)


def promised(backend: Backend, lane: Lane) -> frozenset[Channel]:
    """The channels that are judged. Functional operators choose their own layout, so a rewritten program's fresh
    tensors need not have eager's strides; everything else is kept. What a compiler without state loses, the other
    lanes give it as outputs and write back.
    """
    if lane is not Lane.DIRECT and getattr(backend, "stateless", False):
        return backend.channels | {Channel.INPUTS, Channel.BUFFERS}
    return backend.channels - {Channel.STRIDES} if lane is Lane.REWRITTEN else backend.channels


def compile_lane(subject: Subject, backend: Backend, lane: Lane, stage: Stage) -> Compiled:
    """The program, compiled by this backend in this lane. Raises whatever the pass or the compiler raises."""
    if backend.form == "graph":
        return _compile_graph(subject, backend, lane, stage)
    scripts = backend.form in {"script", "trace"}
    module = subject.module_of_its_own_class() if scripts else subject.module()
    example = subject.example()
    if lane is Lane.DIRECT:
        return backend.compile(module, example, stage.enter)
    if lane is Lane.REWRITTEN and backend.form != "fx":
        return backend.compile(_functional_script(module, example, backend.form, stage), example, stage.enter)
    from inplace_fuzz.rewrite import functionalize, without_state

    if lane is Lane.LEGALISED:
        import torch

        stage.enter("export")
        functional = torch.export.export(module, example).run_decompositions().module()
    else:
        stage.enter("rewrite")
        functional = functionalize(module, example, target="fx")
    stage.enter("legalise")
    if not getattr(backend, "stateless", False):
        return backend.compile(_legal(functional, backend, subject.example), subject.example(), stage.enter)
    state = without_state(functional, subject.example())
    pure = state.legalised(lambda module: _legal(module, backend, lambda: state.inputs(subject.example())))
    compiled = backend.compile(pure.module, pure.inputs(subject.example()), stage.enter)
    return Compiled(pure.wrap(compiled.call), lambda: dict(functional.named_buffers()))


def _legal(functional: Any, backend: Backend, inputs: Callable[[], tuple[Any, ...]]) -> Any:
    """After the backend's rules. Rules that make what does not run are our fault, and raise it here."""
    from inplace_fuzz.rewrite import legalise

    legal = legalise(functional, backend.name)
    copy.deepcopy(legal)(*inputs())  # on a copy, for running moves buffers
    return legal


def _functional_script(module: Any, example: tuple[Any, ...], form: str, stage: Stage) -> Any:
    """Script or trace, then the pass: what TorchScript's front end says is its own, not the pass's."""
    import torch

    from inplace_fuzz.backends.torchscript import trace
    from inplace_fuzz.rewrite import functionalize

    stage.enter("convert")
    scripted = trace(module, example) if form == "trace" else torch.jit.script(module)
    stage.enter("rewrite")
    return functionalize(scripted, example)


def _compile_graph(subject: Subject, backend: Any, lane: Lane, stage: Stage) -> Compiled:
    from inplace_fuzz.backends.torchscript import interpreted

    stage.enter("convert")
    if backend.name in subject.not_opened:
        raise subject.not_opened[backend.name]  # the lane before has heard it
    try:
        opened = backend.open(subject.program, subject.module_to_script)
    except Exception as error:
        subject.not_opened[backend.name] = error
        raise
    graph = opened.graph
    if lane is Lane.REWRITTEN:
        from inplace_fuzz.rewrite import rewrite_graph

        stage.enter("rewrite")
        # A backend with a pass of its own is how another pass, or a planted wrong one, is put to the test.
        rewrite = getattr(backend, "rewrite_graph", rewrite_graph)
        graph = rewrite(graph, (*opened.leading, *subject.example()))
    return interpreted(graph, opened)
