"""One program through eager and then through each target, in this process. Runs inside a worker's forked child.

Never raises for a program's fault: whatever a compiler does short of killing the process becomes a verdict here; the
supervisor makes verdicts of deaths.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inplace_fuzz.core.backend import Backend, Compiled
from inplace_fuzz.core.observation import Observation
from inplace_fuzz.core.program import Program
from inplace_fuzz.core.verdict import Channel, Kind, Lane, Verdict
from inplace_fuzz.judge.compare import compare
from inplace_fuzz.judge.observe import CallFailed, observe

Where = tuple[str, str]  # backend and lane
EAGER: Where = ("eager", "direct")


@dataclass
class _Stage:
    """The stage that the current target is in; `enter` tells the supervisor, for a death to be blamed on it."""

    where: Where
    tell: Callable[[Where, str], None]
    name: str = "import"

    def enter(self, name: str) -> None:
        self.name = name
        self.tell(self.where, name)


def evaluate(
    program: Program,
    targets: Sequence[tuple[Backend, Lane]],
    *,
    enter: Callable[[Where, str], None],
    emit: Callable[[Where, Verdict], None],
) -> None:
    """Emits one verdict for eager (`agree` or `invalid`) and, where eager runs, one for each target."""
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        enter(EAGER, "run")
        reference = observe_eager(program)
        if isinstance(reference, Verdict):
            emit(EAGER, reference)
            for backend, lane in targets:
                emit((backend.name, lane), reference)
            return
        emit(EAGER, Verdict(Kind.AGREE))
        for backend, lane in targets:
            where = (backend.name, str(lane))
            emit(where, judge(program, backend, lane, reference, _Stage(where, enter)))


def observe_eager(program: Program) -> Observation | Verdict:
    """What eager shows, or `invalid` with the reason when it raises or disagrees with itself."""
    from inplace_fuzz.core.materialize import forget_namespace, load_namespace

    try:
        namespace = load_namespace(program.source)
    except Exception as error:  # noqa: BLE001  the program's own text may raise anything
        return Verdict(Kind.INVALID, stage="import", message=one_line(error))
    try:
        module = namespace["M"]().eval()
        seen = observe(module, program.calls, names=program.parameters, buffers=lambda: dict(module.named_buffers()))
    except CallFailed as failure:
        return Verdict(Kind.INVALID, stage="run", message=f"call {failure.call + 1}: {one_line(failure.error)}")
    except Exception as error:  # noqa: BLE001
        return Verdict(Kind.INVALID, stage="run", message=one_line(error))
    finally:
        forget_namespace(namespace)
    return seen


def judge(program: Program, backend: Backend, lane: Lane, reference: Observation, stage: _Stage) -> Verdict:
    """The verdict of one backend and lane against eager's observation, confirmed by a second run when it differs."""
    seen = observe_target(program, backend, lane, stage)
    if isinstance(seen, Verdict):
        return seen
    channels = promised(backend, lane)
    verdict = compare(reference, seen, channels, exact=program.exact)
    if verdict.kind is not Kind.MISMATCH:
        return verdict
    eager_again = observe_eager(program)
    if isinstance(eager_again, Verdict) or compare(reference, eager_again, channels).kind is not Kind.AGREE:
        return Verdict(Kind.INVALID, stage="run", message="eager gives another result each time")
    second = observe_target(program, backend, lane, stage)
    if isinstance(second, Verdict):
        return replace(verdict, nondeterministic=True)
    repeated = compare(reference, second, channels, exact=program.exact)
    if repeated.kind is Kind.AGREE:
        return replace(verdict, kind=Kind.FLAKY)
    if compare(seen, second, channels, exact=program.exact).kind is not Kind.AGREE:
        # Which elements are wrong changes from run to run, so the channels are what both runs have in common.
        common = tuple(c for c in verdict.channels if c in repeated.channels) or verdict.channels
        verdict = replace(verdict, nondeterministic=True, channels=common)
    return replace(verdict, origin=_origin(program, backend, lane, reference))


def promised(backend: Backend, lane: Lane) -> frozenset[Channel]:
    """The channels that are judged. Functional operators choose their own layout, so a rewritten program's fresh
    tensors need not have eager's strides; everything else is kept.
    """
    return backend.channels - {Channel.STRIDES} if lane is Lane.REWRITTEN else backend.channels


def observe_target(program: Program, backend: Backend, lane: Lane, stage: _Stage) -> Observation | Verdict:
    """What the target shows, or the verdict of its refusing or failing."""
    from inplace_fuzz.core.materialize import load_module, make_call

    try:
        compiled = _compile(program, backend, lane, load_module(program), make_call(program.calls[0]), stage)
        stage.enter("run")
        return observe(
            compiled.call,
            program.calls,
            names=program.parameters,
            buffers=compiled.buffers,
            again=Channel.AGAIN in backend.channels,
        )
    except MemoryError as error:
        return Verdict(Kind.OUT_OF_MEMORY, stage=stage.name, message=one_line(error))
    except Exception as error:  # noqa: BLE001  a compiler may raise anything at all
        return _verdict_of(error, backend, stage.name)


def _compile(
    program: Program, backend: Backend, lane: Lane, module: Any, example: tuple[Any, ...], stage: _Stage
) -> Compiled:
    """Composes the lane: the pass and the legalisations are ours, compiling is the backend's."""
    if backend.form == "graph":
        return _compile_graph(program, backend, lane, example, stage)
    if lane is Lane.DIRECT:
        return backend.compile(module, example, stage.enter)
    from inplace_fuzz.rewrite import functionalize, legalise

    if lane is Lane.LEGALISED:
        import torch

        stage.enter("export")
        functional = torch.export.export(module, example).run_decompositions().module()
    elif backend.form == "fx":
        stage.enter("rewrite")
        functional = functionalize(module, example, target="fx")
    else:
        return backend.compile(_functional_script(module, example, backend.form, stage), example, stage.enter)
    stage.enter("legalise")
    return backend.compile(legalise(functional, backend.name), example, stage.enter)


def _functional_script(module: Any, example: tuple[Any, ...], form: str, stage: _Stage) -> Any:
    """Script or trace, then the pass: what TorchScript's front end says is its own, not the pass's."""
    import torch

    from inplace_fuzz.backends.torchscript import trace
    from inplace_fuzz.rewrite import functionalize

    stage.enter("convert")
    scripted = trace(module, example) if form == "trace" else torch.jit.script(module)
    stage.enter("rewrite")
    return functionalize(scripted, example)


def _compile_graph(program: Program, backend: Any, lane: Lane, example: tuple[Any, ...], stage: _Stage) -> Compiled:
    from inplace_fuzz.backends.torchscript import interpreted

    stage.enter("convert")
    opened = backend.open(program)
    graph = opened.graph
    if lane is Lane.REWRITTEN:
        from inplace_fuzz.rewrite import rewrite_graph

        stage.enter("rewrite")
        # A backend with a pass of its own is how another pass, or a planted wrong one, is put to the test.
        rewrite = getattr(backend, "rewrite_graph", rewrite_graph)
        graph = rewrite(graph, (*opened.leading, *example))
    return interpreted(graph, opened)


def _origin(program: Program, backend: Backend, lane: Lane, reference: Observation) -> str:
    """Who is to blame for a mismatch of a rewritten lane: the pass, or the graph that it was given.

    The pass is judged against its input graph, the lane against eager, so that TorchScript's own faults are not ours.
    """
    if lane is not Lane.REWRITTEN:
        return ""
    from inplace_fuzz import backends

    graph = backends.load("torchscript-graph")
    stage = _Stage((graph.name, Lane.DIRECT), lambda _where, _name: None)
    scripted = observe_target(program, graph, Lane.DIRECT, stage)
    rewritten = observe_target(program, graph, Lane.REWRITTEN, stage)
    if isinstance(scripted, Verdict) or isinstance(rewritten, Verdict):
        return ""
    if compare(scripted, rewritten, promised(graph, lane), exact=program.exact).kind is not Kind.AGREE:
        return "pass"
    given_wrong = compare(reference, scripted, backend.channels, exact=program.exact).kind is not Kind.AGREE
    return "torchscript" if given_wrong or backend.form in {"graph", "script", "trace"} else backend.name


def _verdict_of(error: Exception, backend: Backend, stage: str) -> Verdict:
    if isinstance(error, CallFailed):
        message = one_line(error.error) + (f" (call {error.call + 1})" if error.call else "")
        return _classify(error.error, backend, stage, message)
    return _classify(error, backend, stage, one_line(error))


def _classify(error: BaseException, backend: Backend, stage: str, message: str) -> Verdict:
    if "can't allocate memory" in message or isinstance(error, MemoryError):
        return Verdict(Kind.OUT_OF_MEMORY, stage=stage, message=message)
    # What the pass cannot prove from the graph it may guard, and then it refuses when the graph runs.
    ours = type(error).__name__ in {"UnsupportedMutation", "UnsupportedTarget"} or "inplace_fuzz: " in message
    if ours or (stage not in {"rewrite", "legalise"} and any(r.matches(error) for r in backend.refusals)):
        return Verdict(Kind.REFUSED, stage=stage, message=message)
    # The pass has one way of saying no; anything else that it raises is our own fault.
    return Verdict(Kind.ERROR, stage=stage, message=message, origin="pass" if stage in {"rewrite", "legalise"} else "")


_FRAMES = ("File ", "Traceback", "...", "^", "~", ">", "The above", "The following")
_INTERPRETER = re.compile(r"(?m)^(\w+(?:Error|Exception)): (.*)")


def one_line(error: BaseException) -> str:
    """`TypeName: text`, where the text is the line of a long report that says what is wrong."""
    text = str(error)
    if "in the TorchScript interpreter" in text and (inner := _INTERPRETER.findall(text)):
        return ": ".join(inner[-1])[:600]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_FRAMES)]
    return f"{type(error).__name__}: {(telling or lines or [''])[0]}"[:600]
