"""A sweep of the pass: very many drawn programs, in chunks, over as many runs as it takes.

1. A chunk is a number; its seed follows from the sweep's seed, the mix and that number, so every run takes chunks that
   no run has finished, and draws other programs.
2. A chunk is drawn and judged in one forked worker (`execute.sweeping`), whose memory goes with it.
3. When a worker dies, its chunk is halved until the program is found that kills it: a disagreement like any other.
4. Programs that disagreed under an earlier state of the pass are judged again first.
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from inplace_fuzz.campaign.sweep_state import SweepError, SweepState
from inplace_fuzz.core import Verdict
from inplace_fuzz.execute.drawing import GENERATOR
from inplace_fuzz.execute.engine import Engine, OperationFailed
from inplace_fuzz.execute.sweeping import REWRITE

CHUNK = 1000
SEED = 0
_SECONDS = 0.5  # for each program of a chunk, on a busy machine
_COMMON: dict[str, Any] = {
    "generator": GENERATOR,
    "backends": ("torchscript-graph",),
    "modules": (GENERATOR.partition(":")[0], "inplace_fuzz.execute.coverage"),
}


@dataclass(frozen=True)
class SweepConfig:
    """`programs` is what the state shall hold for the mix when the sweep ends; `seconds` ends it earlier."""

    programs: int
    state: Path
    mix: str = "default"
    workers: int = 1
    chunk: int = CHUNK
    seed: int = SEED
    seconds: float | None = None
    rewrite: str = REWRITE


def chunk_seed(seed: int, mix: str, number: int) -> int:
    return int.from_bytes(hashlib.sha256(f"sweep/{seed}/{mix}/{number}".encode()).digest()[:6])


def sweep(config: SweepConfig, heard: Callable[[SweepState], None]) -> None:
    """Draws and judges until the state holds enough. `heard` is called after each chunk has been written down."""
    deadline = None if config.seconds is None else time.monotonic() + config.seconds
    with SweepState(config.state) as state, Engine(workers=config.workers) as engine:
        common = {"pass": config.rewrite, **_COMMON}
        _recheck(state, engine, common)
        left = config.programs - state.programs(config.mix)
        done = state.done(config.mix)
        numbers = (n for n in itertools.count() if n not in done)

        def payloads() -> Iterator[dict[str, Any]]:
            todo = left
            while todo > 0 and (deadline is None or time.monotonic() < deadline):
                number = next(numbers)
                count = min(config.chunk, todo)
                todo -= count
                seed = chunk_seed(config.seed, config.mix, number)
                yield {"number": number, "seed": seed, "count": count, "mix": config.mix, **common}

        patience = 120.0 + config.chunk * _SECONDS
        for payload, answer in engine.answers("sweep", payloads(), seconds=patience):
            answers = _halved(engine, payload, answer, patience) if _is_death(answer) else [_whole(answer)]
            state.add(config.mix, payload["number"], payload["seed"], payload["count"], answers)
            heard(state)


def _is_death(answer: dict[str, Any] | OperationFailed) -> TypeGuard[OperationFailed]:
    if isinstance(answer, dict):
        return False
    try:
        Verdict.parse(answer.kind)
    except ValueError:  # it raised, and lived to say so
        return False
    return True


def _whole(answer: dict[str, Any] | OperationFailed) -> dict[str, Any]:
    if isinstance(answer, dict):
        return answer
    raise SweepError(answer.message if answer.kind == "UnknownPass" else str(answer))


def _recheck(state: SweepState, engine: Engine, common: dict[str, Any]) -> None:
    """Judges again what disagreed."""
    for finding in state.findings():
        payload = {"program": finding.program.to_json(), **common}
        try:
            answer = engine.ask("recheck", payload)
        except OperationFailed as death:
            if not _is_death(death):
                _whole(death)
            answer = {"pass": finding.checked, "outcome": "disagree", "detail": str(death)}
        state.checked(finding, answer)


def _halved(engine: Engine, payload: dict[str, Any], death: OperationFailed, patience: float) -> list[dict[str, Any]]:
    """What the parts of a chunk give whose worker died; the program that kills it is a part of its own."""

    def part(first: int, last: int, keep: int = -1) -> dict[str, Any] | None:
        try:
            return engine.ask("sweep", payload | {"part": (first, last), "keep": keep}, seconds=patience)
        except OperationFailed:
            return None

    answers = []
    parts = [(0, payload["count"])]
    while parts:
        first, last = parts.pop()
        answer = part(first, last)
        if answer is not None:
            answers.append(answer)
        elif last - first > 1:
            middle = (first + last) // 2
            parts += [(middle, last), (first, middle)]
            if not answers and last - first == payload["count"] and part(0, 0) is None:
                raise SweepError(
                    f"drawing seed {payload['seed']} kills the process ({death}); report this as a bug of inplace-fuzz"
                )
        elif (drawn := part(0, 0, first)) is not None:
            detail = f"the process died: {death}"
            finding = {"index": first, "detail": detail, "program": drawn["kept"]}
            answers.append(drawn | {"outcomes": [["disagree", detail, 1]], "findings": [finding]})
    return answers
