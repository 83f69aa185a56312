"""What the end of a worker means: an exit status, or the supervisor's reason for stopping it, becomes a verdict."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from typing import Any

from inplace_fuzz.core.verdict import Kind, Verdict

# How allocators, compilers and Python say that there was no memory. Torch raises a RuntimeError for it.
NO_MEMORY = re.compile(
    r"MemoryError|bad_alloc|can't allocate memory|Cannot allocate memory|not enough memory|[Oo]ut of memory|OutOfMemory"
)
_TELLING = re.compile(r"terminate called|what\(\)|[Ee]rror|[Aa]ssert|free\(\)|malloc|corrupt|smashing|overflow|LLVM")
_LINE = 200


@dataclass(frozen=True, slots=True)
class Ending:
    """How a worker ended. `reason` is the supervisor's own when it stopped the worker, else empty.

    Reasons: `deadline`, `output`, `memory`, `garbage`, `parent` (the warm process died, and the worker with it).
    """

    exit_code: int = 0
    signal: int = 0
    peak_bytes: int = 0
    reason: str = ""
    detail: str = ""
    tail: str = ""  # the end of what it printed

    @staticmethod
    def from_message(message: dict[str, Any], *, reason: str = "", detail: str = "", tail: str = "") -> Ending:
        return Ending(message["exit"], message["signal"], message["peak"], reason, detail, tail)


def verdict_of(
    ending: Ending, stage: str, *, seconds: float, memory_bytes: int, kernel_killed: bool = False
) -> Verdict:
    """The verdict of a program whose worker ended in mid-program."""
    said = telling_line(ending.tail)
    where = f"in {stage}" if stage else "before it began"
    if ending.reason == "deadline":
        return Verdict(Kind.TIMEOUT, stage=stage, message=f"still in {stage or 'the first stage'} after {seconds:g} s")
    if ending.reason in {"output", "garbage"}:
        return Verdict(Kind.ERROR, stage="run", message=ending.detail)
    if ending.reason == "memory":
        return Verdict(Kind.OUT_OF_MEMORY, stage=stage, message=ending.detail)
    if ending.reason == "parent":
        why = "it took the process that started its worker with it"
        return Verdict(Kind.CRASH, signal="SIGKILL", stage=stage, message=why)
    if ending.signal:
        name = signal_name(ending.signal)
        if ending.signal == signal.SIGKILL and (kernel_killed or ending.peak_bytes > memory_bytes // 2):
            return Verdict(Kind.OUT_OF_MEMORY, stage=stage, message=f"killed at {ending.peak_bytes >> 20} MiB resident")
        if NO_MEMORY.search(ending.tail):
            return Verdict(Kind.OUT_OF_MEMORY, stage=stage, message=said or name)
        return Verdict(Kind.CRASH, signal=name, stage=stage, message=said or f"died of {name} {where}")
    if NO_MEMORY.search(ending.tail):
        return Verdict(Kind.OUT_OF_MEMORY, stage=stage, message=said)
    why = said or f"the process exited {where}"
    return Verdict(Kind.CRASH, signal=f"exit {ending.exit_code}", stage=stage, message=why)


def flaky(first: Verdict, alone: Verdict) -> Verdict:
    """A death that did not come again when the program ran alone in a fresh worker."""
    why = f"{first} once ({first.message}), then {alone} alone in a fresh worker"
    return Verdict(Kind.FLAKY, stage=first.stage, message=why)


def without_memory(verdict: Verdict) -> Verdict:
    """An error that was caught, but says that memory ran out, as the same verdict that a death of it gives."""
    if verdict.kind is Kind.ERROR and NO_MEMORY.search(verdict.message):
        return Verdict(Kind.OUT_OF_MEMORY, stage=verdict.stage, message=verdict.message)
    return verdict


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def telling_line(tail: str) -> str:
    """The line of a dying process's output that says why, if one does."""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    for line in reversed(lines):
        if _TELLING.search(line):
            return line[:_LINE]
    return ""
