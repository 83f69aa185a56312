"""One program through eager and then through each target, in this process. Runs inside a worker's forked child.

Never raises for a program's fault: whatever a compiler does short of killing the process becomes a verdict here; the
supervisor makes verdicts of deaths.

A run is *dirty* where the backend promises the channel `again`: between its calls, the caller writes into the outputs
of the one before. A mismatch is confirmed by a second run, and a clean run then says whether it needs that write; an
error is confirmed by a second run too.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace

from inplace_fuzz.core.backend import Backend
from inplace_fuzz.core.observation import Observation
from inplace_fuzz.core.program import Program
from inplace_fuzz.core.verdict import Channel, Kind, Lane, Verdict
from inplace_fuzz.execute.classify import one_line, verdict_of
from inplace_fuzz.execute.lanes import Stage, Where, compile_lane, promised
from inplace_fuzz.execute.subject import Subject
from inplace_fuzz.judge.compare import compare
from inplace_fuzz.judge.observe import CallFailed

EAGER: Where = ("eager", "direct")
# What a compiler starts from, by its form, where it does not say so itself.
_STARTS = {"fx": "export"}


def evaluate(
    program: Program,
    targets: Sequence[tuple[Backend, Lane]],
    *,
    enter: Callable[[Where, str], None],
    emit: Callable[[Where, Verdict], None],
    confirm: bool = True,
) -> None:
    """Emits one verdict for eager (`agree` or `invalid`) and, where eager runs, one for each target.

    Without `confirm` a mismatch or an error is believed at once.
    """
    if logging.root.manager.disable < logging.WARNING:
        logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        enter(EAGER, "run")
        subject = open_subject(program)
        if isinstance(subject, Verdict):
            emit(EAGER, subject)
            for backend, lane in targets:
                emit((backend.name, lane), subject)
            return
        emit(EAGER, Verdict(Kind.AGREE))
        try:
            for backend, lane in targets:
                where = (backend.name, str(lane))
                stage = Stage(where, enter)
                verdict = judge(subject, backend, lane, stage, confirm=confirm)
                emit(where, verdict if verdict.message else replace(verdict, message=stage.remark))
        finally:
            subject.close()


def open_subject(program: Program) -> Subject | Verdict:
    """The program with eager's dirty run done, or `invalid` with the reason why eager cannot run it."""
    try:
        subject = Subject(program)
    except Exception as error:  # noqa: BLE001  the program's own text may raise anything
        return Verdict(Kind.INVALID, stage="import", message=one_line(error))
    try:
        subject.eager(dirty=True)
    except CallFailed as failure:
        subject.close()
        return Verdict(Kind.INVALID, stage="run", message=f"call {failure.call + 1}: {one_line(failure.error)}")
    except Exception as error:  # noqa: BLE001
        subject.close()
        return Verdict(Kind.INVALID, stage="run", message=one_line(error))
    return subject


def judge(subject: Subject, backend: Backend, lane: Lane, stage: Stage, *, confirm: bool = True) -> Verdict:
    """The verdict of one backend and lane, confirmed by further runs when it fails or differs from eager."""
    dirty = Channel.AGAIN in backend.channels
    seen = observe_target(subject, backend, lane, stage, dirty=dirty)
    if isinstance(seen, Verdict):
        looked_at_again = confirm and seen.kind is Kind.ERROR
        return _failed_again(subject, backend, lane, stage, seen, dirty=dirty) if looked_at_again else seen
    channels = promised(backend, lane)
    try:
        verdict = compare(subject.eager(dirty=dirty), seen, channels, exact=subject.program.exact)
        if verdict.kind is not Kind.MISMATCH:
            return verdict
        if confirm and not subject.repeats(dirty=dirty, channels=channels):
            return Verdict(Kind.INVALID, stage="run", message="eager gives another result each time")
    except CallFailed as failure:
        # Eager ran dirty but not clean: the program counts on what the caller writes, and says nothing.
        return Verdict(Kind.INVALID, stage="run", message=one_line(failure.error))
    if confirm:
        verdict, dirty = _confirmed(subject, backend, lane, stage, verdict, seen, dirty=dirty)
    if dirty:
        verdict = _cleanly(subject, backend, lane, stage, verdict)
    if verdict.kind is not Kind.MISMATCH:
        return verdict
    return replace(verdict, origin=_origin(subject, backend, lane))


def _failed_again(
    subject: Subject, backend: Backend, lane: Lane, stage: Stage, verdict: Verdict, *, dirty: bool
) -> Verdict:
    """An error looked at a second time: flaky where the backend is right then, else as it was."""
    second = observe_target(subject, backend, lane, stage, dirty=dirty)
    if isinstance(second, Verdict):
        return verdict if second.kind is verdict.kind else replace(verdict, nondeterministic=True)
    try:
        other = compare(subject.eager(dirty=dirty), second, promised(backend, lane), exact=subject.program.exact)
    except CallFailed as failure:
        return Verdict(Kind.INVALID, stage="run", message=one_line(failure.error))
    if other.kind is not Kind.AGREE:
        return replace(verdict, nondeterministic=True)
    return replace(verdict, kind=Kind.FLAKY, message=f"{verdict} once ({verdict.message}), then agree")


def _confirmed(
    subject: Subject, backend: Backend, lane: Lane, stage: Stage, verdict: Verdict, seen: Observation, *, dirty: bool
) -> tuple[Verdict, bool]:
    """A mismatch looked at a second time: flaky, or different each time, or as it was.

    Also says whether it remains to be seen that it needs a dirty run.
    """
    channels, exact = promised(backend, lane), subject.program.exact
    second = observe_target(subject, backend, lane, stage, dirty=dirty)
    if isinstance(second, Verdict):
        return replace(verdict, nondeterministic=True), False
    repeated = compare(subject.eager(dirty=dirty), second, channels, exact=exact)
    if repeated.kind is Kind.AGREE:
        return replace(verdict, kind=Kind.FLAKY), False
    if compare(seen, second, channels, exact=exact).kind is Kind.AGREE:
        return verdict, dirty
    # Which elements are wrong changes from run to run, so the channels are what both runs have in common.
    common = tuple(c for c in verdict.channels if c in repeated.channels) or verdict.channels
    return replace(verdict, nondeterministic=True, channels=common), False


def _cleanly(subject: Subject, backend: Backend, lane: Lane, stage: Stage, verdict: Verdict) -> Verdict:
    """The mismatch of a dirty run as a clean run shows it; on `again` alone, where a clean run shows nothing."""
    clean = observe_target(subject, backend, lane, stage, dirty=False)
    if isinstance(clean, Verdict):
        return verdict
    try:
        calm = compare(subject.eager(dirty=False), clean, promised(backend, lane), exact=subject.program.exact)
    except CallFailed as failure:
        return Verdict(Kind.INVALID, stage="run", message=one_line(failure.error))
    return calm if calm.kind is Kind.MISMATCH else replace(verdict, channels=(Channel.AGAIN,))


def observe_target(
    subject: Subject, backend: Backend, lane: Lane, stage: Stage, *, dirty: bool
) -> Observation | Verdict:
    """What the target shows, or the verdict of its refusing or failing."""
    try:
        compiled = compile_lane(subject, backend, lane, stage)
        stage.remark = compiled.remark
        stage.enter("run")
        return subject.observe(compiled.call, compiled.buffers, dirty=dirty)
    except Exception as error:  # noqa: BLE001  a compiler may raise anything at all
        return verdict_of(error, backend, stage.name)


def _origin(subject: Subject, backend: Backend, lane: Lane) -> str:
    """Who is to blame for a mismatch, where that can be told.

    A rewritten lane: the pass is judged against its input graph, the lane against eager, so that TorchScript's own
    faults are not the pass's. A compiler that starts from `torch.export`, `torch.jit.script` or `torch.jit.trace`:
    those are to blame for what they get wrong.
    """
    from inplace_fuzz import backends

    start = getattr(backend, "starts_from", _STARTS.get(backend.form, ""))
    name = "torchscript-graph" if lane is Lane.REWRITTEN else start
    if lane is not Lane.REWRITTEN and name in {"", backend.name}:
        return ""
    other = backend if backend.form == "graph" else backends.load(name)
    stage = Stage((other.name, Lane.DIRECT), lambda _where, _name: None)
    exact = subject.program.exact
    try:
        given = observe_target(subject, other, Lane.DIRECT, stage, dirty=False)
        if isinstance(given, Verdict):
            return ""
        channels = promised(other, lane) & promised(backend, lane)
        given_wrong = compare(subject.eager(dirty=False), given, channels, exact=exact).kind is not Kind.AGREE
    except CallFailed:
        return ""
    if lane is not Lane.REWRITTEN:
        return name.partition("-")[0] if given_wrong else ""
    rewritten = observe_target(subject, other, Lane.REWRITTEN, stage, dirty=False)
    if isinstance(rewritten, Verdict):
        return ""
    if compare(given, rewritten, promised(other, lane), exact=exact).kind is not Kind.AGREE:
        return "pass"
    return "torchscript" if given_wrong or backend.form in {"graph", "script", "trace"} else backend.name
