"""The findings that wait to be shrunk: which one is next, and which buckets have had enough of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from inplace_fuzz.campaign.causes import Causes, has_message
from inplace_fuzz.campaign.store import Finding

_MOST_SHRINKS = 16  # of one mismatch bucket
_MOST_REPEATS = 4  # shrinks in a row that gave nothing new, after which a bucket rests
_MOST_EXPLAINED = 4 * _MOST_SHRINKS  # explained findings of one bucket that wait; the store has the others too


class Waiting:
    def __init__(self, causes: Causes) -> None:
        self._causes = causes
        self._findings: list[Finding] = []
        self._explained: Counter[str] = Counter()
        self._shrinks: Counter[str] = Counter()
        self._repeats: Counter[str] = Counter()

    def add(self, finding: Finding) -> None:
        """Unexplained findings all wait: what there was no time to shrink is news too."""
        if finding.state == "explained":
            if self._explained[finding.bucket] >= _MOST_EXPLAINED:
                return
            self._explained[finding.bucket] += 1
        # Triage has parsed the program. A syntax tree is twenty times the text, and thousands wait in a long campaign.
        finding.program = replace(finding.program)
        self._findings.append(finding)

    def remove(self, finding: Finding) -> None:
        self._findings.remove(finding)

    def unexplained(self) -> list[Finding]:
        return [f for f in self._findings if f.state == "new"]

    def next(self) -> Finding | None:
        """The finding most likely to be news: unexplained, of the bucket shrunk least, the smallest program first."""
        self._findings = [f for f in self._findings if not self._rests(f)]
        self._explained = Counter(f.bucket for f in self._findings if f.state == "explained")
        if not self._findings:
            return None
        return min(
            self._findings, key=lambda f: (f.state != "new", self._shrinks[f.bucket], len(f.program.source), f.id)
        )

    def shrunk(self, bucket: str) -> None:
        """A finding of this bucket has had its time."""
        self._shrinks[bucket] += 1

    def repeated(self, bucket: str, *, again: bool = True) -> None:
        """Whether what came of a finding was known already."""
        self._repeats[bucket] = self._repeats[bucket] + 1 if again else 0

    def _rests(self, finding: Finding) -> bool:
        if has_message(finding.verdict):
            return finding.state == "explained" or bool(self._causes.known(finding.bucket))
        spent = self._shrinks[finding.bucket] >= _MOST_SHRINKS or self._repeats[finding.bucket] >= _MOST_REPEATS
        return spent and finding.state == "explained"
