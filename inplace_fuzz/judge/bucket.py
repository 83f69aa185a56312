"""Which findings are the same, before they are shrunk.

Two findings fall into one bucket when backend, lane, verdict, channels or stage, and the message without its values are
the same. The reducer may not leave its bucket. Root causes are told apart after shrinking, by the canonical program.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from inplace_fuzz.core.backend import base_name
from inplace_fuzz.core.verdict import Kind, Verdict

_RULES = tuple(
    (re.compile(pattern), to)
    for pattern, to in (
        (r"0x[0-9a-fA-F]+", "0x…"),
        (r"(/[\w.+-]+){2,}", "/…"),  # paths
        (r"\b(lv|alloc|gv|param|fused_\w+|tensor_|v_|T_)\d+\w*", r"\1N"),  # generated names
        (r"<inplace_fuzz_program_\d+>", "<program>"),
        (r"\binplace_fuzz_program_\d+", "program"),
        (r"\b(CPU|torch\.)(Bool|Byte|Char|Short|Int|Long|Half|BFloat16|Float|Double)(Type|Tensor)\b", r"\1…\3"),
        (r"(?<![\w.])-?\d+(\.\d+)?(e[+-]?\d+)?", "N"),
        (r"\[(?:N|True|False|None)?(?:,\s*(?:N|True|False|None))*\]", "[N]"),
        (r"\((?:N|True|False|None)?(?:,\s*(?:N|True|False|None))*,?\)", "(N)"),
        (r"\s+", " "),
    )
)
_LENGTH = 200


def normalise_message(message: str) -> str:
    """The message without numbers, addresses, paths and generated names: what is left says which check failed."""
    for pattern, to in _RULES:
        message = pattern.sub(to, message)
    return message.strip()[:_LENGTH]


@dataclass(frozen=True, slots=True)
class Bucket:
    backend: str
    lane: str
    verdict: str  # short form, with channels, stage or signal
    message: str
    origin: str = ""

    def __str__(self) -> str:
        return " | ".join(
            part for part in (f"{self.backend}/{self.lane}", self.verdict, self.message, self.origin) if part
        )


def bucket(backend: str, lane: str, verdict: Verdict) -> Bucket:
    """Where a verdict of this backend and lane belongs. A mismatch has no message: its channels say it all.

    Two versions of one backend share their buckets: `tvm@0.26.0` is `tvm` here.
    """
    message = "" if verdict.kind is Kind.MISMATCH else normalise_message(verdict.message)
    return Bucket(base_name(backend), lane, str(verdict), message, verdict.origin)
