"""What one run of one program through one backend and lane came to."""

from __future__ import annotations

import enum
import re
from dataclasses import asdict, dataclass, field
from typing import Any


class Channel(enum.StrEnum):
    """One thing that a caller can see. A backend declares the channels it promises; only those are judged."""

    VALUES = "values"  # the elements of outputs
    DTYPE = "dtype"  # of outputs
    SHAPE = "shape"  # of outputs
    STRUCTURE = "structure"  # tuples, lists, dicts and plain values that outputs are made of
    STRIDES = "strides"  # of outputs, in dimensions larger than one of non-empty tensors
    INPUTS = "inputs"  # inputs after the call: their whole storages, shape, dtype
    BUFFERS = "buffers"  # buffers after the call
    ALIAS = "alias"  # what shares memory with what among outputs, inputs and buffers
    AGAIN = "again"  # the call after the caller wrote into an output


OUTPUT_CHANNELS = frozenset({Channel.VALUES, Channel.DTYPE, Channel.SHAPE, Channel.STRUCTURE})
ALL_CHANNELS = frozenset(Channel)


class Lane(enum.StrEnum):
    """How a program reaches a compiler; the differences are what the legalisations and the pass are worth."""

    DIRECT = "direct"  # by the route that the compiler's manual recommends
    LEGALISED = "legalised"  # direct, after our per-compiler legalisation rules
    REWRITTEN = "rewritten"  # the pass, then the same rules


class Kind(enum.StrEnum):
    AGREE = "agree"
    MISMATCH = "mismatch"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    REFUSED = "refused"
    ERROR = "error"
    FLAKY = "flaky"
    INVALID = "invalid"


# What a campaign reports as a finding; `refused` is support data, `invalid` says nothing about the backend.
FINDINGS = frozenset({Kind.MISMATCH, Kind.CRASH, Kind.TIMEOUT, Kind.OUT_OF_MEMORY, Kind.ERROR, Kind.FLAKY})
STAGES = ("import", "export", "rewrite", "legalise", "convert", "build", "run")
_DETAIL = re.compile(r"(\w+)(?:\(([^)]*)\))?$")


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where a backend's run parts from eager's, ready to print."""

    where: str  # "output 0", "input x", "buffer buf", "output 1 after the second call"
    eager: str
    other: str
    differing: int = 0  # elements that differ
    total: int = 0
    call: int = 0  # which call, from 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """`str(verdict)` is its short form, for example `mismatch(values, inputs)`, `error(convert)`, `crash(SIGSEGV)`."""

    kind: Kind
    channels: tuple[Channel, ...] = ()
    stage: str = ""
    signal: str = ""
    message: str = ""  # one line: exception type and text, or what the supervisor saw
    nondeterministic: bool = False
    origin: str = ""  # who is to blame where that is known: "pass", "torchscript"
    differences: tuple[Difference, ...] = field(default=())

    def __str__(self) -> str:
        detail = ", ".join(self.channels) or self.signal or self.stage
        return f"{self.kind}({detail})" if detail else str(self.kind)

    @property
    def is_finding(self) -> bool:
        return self.kind in FINDINGS

    def to_json(self) -> dict[str, Any]:
        return {k: v for k, v in asdict(self).items() if v not in ("", (), False)}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Verdict:
        return Verdict(
            Kind(data["kind"]),
            tuple(Channel(c) for c in data.get("channels", ())),
            data.get("stage", ""),
            data.get("signal", ""),
            data.get("message", ""),
            data.get("nondeterministic", False),
            data.get("origin", ""),
            tuple(Difference(**d) for d in data.get("differences", ())),
        )

    @staticmethod
    def parse(text: str) -> Verdict:
        """The short form back again. Raises ValueError for a word that is no verdict."""
        match = _DETAIL.match(text.strip())
        if not match:
            raise ValueError(f"{text!r} is not a verdict; write for example agree, mismatch(values) or error(convert)")
        try:
            kind = Kind(match[1])
        except ValueError:
            raise ValueError(f"{match[1]!r} is not a verdict; one of {', '.join(Kind)}") from None
        details = tuple(d.strip() for d in (match[2] or "").split(",") if d.strip())
        if kind is Kind.MISMATCH:
            return Verdict(kind, channels=tuple(Channel(d) for d in details))
        if kind is Kind.CRASH:
            return Verdict(kind, signal=", ".join(details))
        return Verdict(kind, stage=", ".join(details))


def lane_key(backend: str, lane: str) -> str:
    """`tvm/direct`: how a backend and lane are written as one word in stores, tests and reports."""
    return f"{backend}/{lane}"
