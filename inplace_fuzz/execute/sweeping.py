"""One chunk of a sweep: programs drawn and judged in one worker, a graph against what the pass makes of it.

The reference is the TorchScript graph and not eager, so that TorchScript's own faults are not the pass's. What counts
as an outcome, each program having exactly one:

    agree          everything that the caller can see is the same: both calls, and after writing into the outputs
    refused        the pass raised UnsupportedMutation, or a guard of the rewritten graph did: operator and reason
    disagree       anything else: another result, another exception, an operator left that writes
    not taken      TorchScript does not compile the program, or its graph fails where eager does not
    eager invalid  eager itself fails
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import logging
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from inplace_fuzz.core.program import Program
from inplace_fuzz.core.spec import TensorSpec
from inplace_fuzz.core.verdict import ALL_CHANNELS, Channel, Kind
from inplace_fuzz.execute.drawer import mix_options

Payload = dict[str, Any]
Rewrite = Callable[[Any, Any], Any]
REWRITE = "inplace_fuzz.rewrite:rewrite_graph"
AGREE, REFUSED, DISAGREE, NOT_TAKEN, INVALID = OUTCOMES = ("agree", "refused", "disagree", "not taken", "eager invalid")
# The rewritten graph lays out fresh tensors as its operators do.
_CHANNELS = ALL_CHANNELS - {Channel.STRIDES}
_KEPT = 20  # disagreements of one chunk that are kept with their program


class UnknownPass(Exception):
    """The name of a pass that cannot be loaded."""


@dataclass(frozen=True)
class Outcome:
    """What became of one program; `opened` is its graph, where that was compared."""

    word: str
    detail: str = ""
    opened: Any = None


def sweep(payload: Payload) -> Payload:
    """`{"seed", "count", "mix", "generator", "pass"}` -> counts of outcomes and pairs, what disagreed, CPU time.

    All `count` programs are drawn, but only those within `part` judged; the one at `keep` is returned.
    """
    started = time.process_time()
    rewrite, source = _pass(payload["pass"])
    first, last = payload.get("part", (0, payload["count"]))
    outcomes: Counter[tuple[str, str]] = Counter()
    pairs: Counter[tuple[str, str, str]] = Counter()
    findings: list[Payload] = []
    kept: Payload = {}
    index = 0

    def emit(program: Program) -> None:
        nonlocal index, kept
        if index == payload.get("keep", -1):
            kept = program.to_json()
        if first <= index < last:
            outcome = judged(program, rewrite)
            outcomes[outcome.word, outcome.detail] += 1
            if outcome.word == DISAGREE and len(findings) < _KEPT:
                findings.append({"index": index, "detail": outcome.detail, "program": program.to_json()})
            if outcome.opened is not None:
                pairs.update(_pairs(program, outcome.opened))
        index += 1

    with _quiet():
        module, _, name = payload["generator"].partition(":")
        draw = getattr(importlib.import_module(module), name)
        options = mix_options(payload["mix"], module, inspect.signature(draw).parameters)
        draw(payload["seed"], payload["count"], emit, **options)
    return {
        "pass": source,
        "outcomes": [[*key, n] for key, n in outcomes.items()],
        "pairs": [[*key, n] for key, n in pairs.items()],
        "findings": findings,
        "kept": kept,
        "cpu": time.process_time() - started,
    }


def recheck(payload: Payload) -> Payload:
    """`{"program", "pass"}` -> `{"outcome", "detail", "pass"}`: a program that disagreed once, as it is now."""
    rewrite, source = _pass(payload["pass"])
    with _quiet():
        outcome = judged(Program.from_json(payload["program"]), rewrite)
    return {"outcome": outcome.word, "detail": outcome.detail, "pass": source}


@cache
def _pass(name: str) -> tuple[Rewrite, str]:
    """A pass, and eight hex digits that name its source as it was when it was first used.

    `name` is `module:name` of a function of a graph and example inputs, or of an object with such a `rewrite_graph`.
    """
    module, _, attribute = name.partition(":")
    try:
        loaded = importlib.import_module(module)
        found = getattr(loaded, attribute)
    except (ImportError, AttributeError) as error:
        raise UnknownPass(f"there is no pass {name!r} ({error}); write --pass module:function") from None
    home = Path(str(loaded.__file__))
    digest = hashlib.sha256(attribute.encode())
    for path in sorted(home.parent.glob("*.py")) if home.name == "__init__.py" else [home]:
        digest.update(path.name.encode() + path.read_bytes())
    return getattr(found, "rewrite_graph", found), digest.hexdigest()[:8]


def _quiet() -> warnings.catch_warnings[None]:
    if logging.root.manager.disable < logging.WARNING:
        logging.disable(logging.WARNING)
    return warnings.catch_warnings(action="ignore")


def judged(program: Program, rewrite: Rewrite) -> Outcome:
    """Graph against rewritten graph."""
    from inplace_fuzz.backends.torchscript import GRAPH, interpreted
    from inplace_fuzz.core.materialize import CallMaker
    from inplace_fuzz.execute.classify import one_line
    from inplace_fuzz.judge.compare import compare
    from inplace_fuzz.judge.observe import CallFailed, observe
    from inplace_fuzz.rewrite import UnsupportedMutation, writing_operators

    if not program.script:
        return Outcome(NOT_TAKEN, "the generator says so")
    makers = tuple(CallMaker(call) for call in program.calls)
    instance = _instances(program)

    def seen(graph: Any, opened: Any) -> Any:
        call = interpreted(graph, opened).call
        return observe(call, makers, names=program.parameters, buffers=opened.buffers, dirty=True)

    try:
        opened = GRAPH.open(program, instance)
    except Exception as error:  # noqa: BLE001  TorchScript raises many types for what it does not take
        return Outcome(NOT_TAKEN, type(error).__name__)
    try:
        expected = seen(opened.graph, opened)
    except CallFailed as failure:
        return _failed_before_the_pass(program, failure)
    if not program.is_plain:
        opened = GRAPH.open(program, instance)
    try:
        rewritten = rewrite(opened.graph, (*opened.leading, *makers[0].make()))
    except UnsupportedMutation as refusal:
        return Outcome(REFUSED, f"{refusal.operator}: {refusal.reason}")
    except Exception as error:  # noqa: BLE001  the pass has one way of saying no
        return Outcome(DISAGREE, f"the pass raised {one_line(error)}")
    left = writing_operators(rewritten)
    if left:
        return Outcome(DISAGREE, f"{left[0]} is left", opened)
    try:
        verdict = compare(expected, seen(rewritten, opened), _CHANNELS, exact=program.exact)
    except CallFailed as failure:
        text = one_line(failure.error)
        if "inplace_fuzz: " in text:
            return Outcome(REFUSED, f"guard: {text.partition('inplace_fuzz: ')[2]}")
        return Outcome(DISAGREE, f"the rewritten graph raised {text}", opened)
    if verdict.kind is Kind.AGREE:
        return Outcome(AGREE, opened=opened)
    return Outcome(DISAGREE, str(verdict), opened)


def _instances(program: Program) -> Callable[[], Any]:
    from inplace_fuzz.core.materialize import load_module

    return lambda: load_module(program)


def _failed_before_the_pass(program: Program, failure: Any) -> Outcome:
    """The graph fails: either the program is no good, or TorchScript is at fault."""
    from inplace_fuzz.core.verdict import Verdict
    from inplace_fuzz.execute.classify import one_line
    from inplace_fuzz.execute.evaluate import open_subject

    subject = open_subject(program)
    if isinstance(subject, Verdict):
        return Outcome(INVALID, subject.message)
    subject.close()
    return Outcome(NOT_TAKEN, f"its graph raises {one_line(failure.error)}")


def _pairs(program: Program, opened: Any) -> set[tuple[str, str, str]]:
    from inplace_fuzz.core.materialize import make_call
    from inplace_fuzz.execute.coverage import pairs_of

    call = program.calls[0]
    storages = [-1] * len(opened.leading) + [a.storage if isinstance(a, TensorSpec) else None for a in call]
    return pairs_of(opened.graph, (*opened.leading, *make_call(call)), storages)
