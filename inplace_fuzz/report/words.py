"""Words that the live display, the report and the pytest items share: durations, counts, one finding as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.campaign.text import finding_lines
from inplace_fuzz.core import Kind

# The order of columns and legends: what is well first, then what a reader looks for, worst first.
KINDS = (
    Kind.AGREE,
    Kind.MISMATCH,
    Kind.CRASH,
    Kind.TIMEOUT,
    Kind.OUT_OF_MEMORY,
    Kind.ERROR,
    Kind.FLAKY,
    Kind.REFUSED,
    Kind.INVALID,
)


def duration(seconds: float) -> str:
    """`0:07`, `12:30`, `3:04:05`."""
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def rate(programs: int, seconds: float) -> str:
    """Programs per second, with a digit after the point while that says something."""
    each = programs / seconds if seconds > 0 else 0.0
    return f"{each:.0f}" if each >= 100 else f"{each:.1f}"


def counted(count: int, noun: str) -> str:
    """`1 finding`, `3 findings`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def counts(numbers: Mapping[str, int]) -> str:
    """`agree 20, mismatch 3`: verdict kinds in the order of KINDS, those that occur."""
    return ", ".join(f"{kind} {numbers[kind]}" for kind in KINDS if numbers.get(kind))


def found_lines(finding: Finding, version: str) -> list[str]:
    """The block that announces a finding: its minimal program where there is one, else the program as drawn."""
    shrunk = finding.minimal is not None
    lines = finding_lines(
        finding.minimal or finding.program,
        finding.backend,
        finding.lane,
        version,
        finding.minimal_verdict or finding.verdict,
        original=finding.program if shrunk else None,
        cures=finding.cures,
        path=finding.entry if finding.entry.endswith(".py") else "",
    )
    if not shrunk:
        lines.append("    not shrunk: there was no time left; give it more, and it is shrunk and saved")
    return lines


def joined(lines: Iterable[str]) -> str:
    return "\n".join(lines)
