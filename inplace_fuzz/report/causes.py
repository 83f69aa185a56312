"""Findings grouped by root cause.

A compiler has one root cause for each corpus file and verdict: its lanes are listed in it rather than counted as more
of them. A finding that was never shrunk joins the cause that explains it, and where none does, stands by its bucket.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from inplace_fuzz import corpus
from inplace_fuzz.campaign.causes import Causes
from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.campaign.text import difference_lines, finding_lines, program_lines
from inplace_fuzz.core import Channel, Kind, Lane, Program, Verdict
from inplace_fuzz.core.features import title
from inplace_fuzz.report.frames import Frames
from inplace_fuzz.shrink import statements

# What an answer is made of; a mismatch in the other channels (strides, aliasing) is silent too, but values are right.
_ANSWER = frozenset({Channel.VALUES, Channel.DTYPE, Channel.SHAPE, Channel.STRUCTURE, Channel.INPUTS, Channel.BUFFERS})

_UNSHRUNK = frozenset({"new", "unshrunk"})  # states of a finding that no cause is known for

SILENT = "Silent wrong values"
VISIBLE = "Other silent differences"
DEATHS = "Crashes, hangs and memory"
ERRORS = "Errors"
UNSTABLE = "Comes and goes"
SECTIONS = (SILENT, VISIBLE, DEATHS, ERRORS, UNSTABLE)
_ABOUT = {
    SILENT: "The compiled module gives another answer than eager, and says nothing.",
    VISIBLE: "The elements are right; what else a caller can see (strides, what shares memory, a second call) is not.",
    DEATHS: "The compiler or what it built took its process down, did not end, or ate the memory it was given.",
    ERRORS: "The compiler failed in a way that is none of its listed ways of saying that something is unsupported.",
    UNSTABLE: "Seen, and then not seen again.",
}


@dataclass
class RootCause:
    """One fault of one compiler, with the smallest program that shows it."""

    backend: str
    verdict: Verdict
    program: Program
    entry: str = ""  # corpus file name
    lanes: list[str] = field(default_factory=list)
    version: str = ""
    new: bool = False  # found in these runs, shrunk or not
    shrunk: bool = False
    met: int = 0
    first: float = 0.0  # seconds after its run began
    original: Program | None = None
    shown: tuple[str, ...] = ()  # comment lines of the corpus file, where this run did not see the minimal program

    @property
    def section(self) -> str:
        match self.verdict.kind:
            case Kind.MISMATCH:
                return SILENT if _ANSWER & set(self.verdict.channels) else VISIBLE
            case Kind.CRASH | Kind.TIMEOUT | Kind.OUT_OF_MEMORY:
                return DEATHS
            case Kind.FLAKY:
                return UNSTABLE
        return ERRORS

    @property
    def title(self) -> str:
        return title(self.program)

    @property
    def standing(self) -> str:
        """`new`, `known`, or `to shrink`: then it may yet turn out to be one of the others."""
        if self.new and not self.shrunk:
            return "to shrink"
        return "new" if self.new else "known"

    @property
    def size(self) -> str:
        count = statements(self.program)
        text = f"{count} statement{'s' * (count != 1)}"
        if not self.shrunk:
            return f"{text}, not shrunk"
        before = statements(self.original) if self.original else count
        return f"{text}, shrunk from {before}" if before > count else text

    @property
    def program_text(self) -> str:
        return "\n".join(line.rstrip() for line in program_lines(self.program))

    @property
    def difference_text(self) -> str:
        """Where the runs part, with carets under what differs."""
        lines = [line for d in self.verdict.differences[:2] for line in difference_lines(d, self.backend)]
        if not lines and not self.verdict.message:
            lines = list(self.shown)
        return "\n".join(line.rstrip() for line in lines)

    @property
    def says(self) -> str:
        """What the compiler said, or the supervisor of it."""
        return f"{self.backend} says  {self.verdict.message}" if self.verdict.message else ""

    def lines(self, *, path: str = "") -> list[str]:
        """The block that a terminal and JUnit show."""
        return finding_lines(
            self.program,
            self.backend,
            ", ".join(self.lanes),
            self.version,
            self.verdict,
            original=self.original if self.shrunk else None,
            path=path,
        )


def root_causes(frames: Frames, corpus_directory: Path) -> list[RootCause]:
    """Every root cause of these runs, silent wrong values first, new ones before known ones, the smallest first."""
    entries, learnt = _read_corpus(corpus_directory)
    names = _entry_names(frames.findings["finding"], learnt)
    found = {names.get(f.id) for f in frames.findings["finding"] if f.state == "found"}
    versions = {(r.run, r.backend): r.version for r in frames.versions.itertuples()}
    groups: dict[tuple[str, str, str], RootCause] = {}
    direct: dict[tuple[int, str, str], RootCause] = {}  # by run, backend and program
    repeats = []
    for row in frames.findings.itertuples():
        finding: Finding = row.finding
        version = versions.get((row.run, finding.backend), "")
        if finding.state in {"inherited", "baseline"}:
            repeats.append((row.run, finding, version))
            continue
        verdict = finding.minimal_verdict or finding.verdict
        if finding.state == "unstable":
            verdict = Verdict(Kind.FLAKY, message=f"seen as {finding.verdict} {finding.verdict.message}".rstrip())
        entry = names.get(finding.id, "")
        key = (finding.backend, str(verdict), entry or finding.cause or finding.bucket)
        group = groups.get(key)
        if group is None:
            group = groups[key] = RootCause(finding.backend, verdict, finding.program, entry, first=row.at)
        # A program that was found with one backend and faults another too is news for both.
        group.new = (
            group.new or finding.state in _UNSHRUNK or finding.state == "found" or (bool(entry) and entry in found)
        )
        _join(group, finding, verdict, version)
        if finding.lane == Lane.DIRECT:
            direct[row.run, finding.backend, finding.program.digest] = group
    for run, finding, version in repeats:
        # A lane that only repeats what the direct lane gave: one more lane of that cause.
        repeated = direct.get((run, finding.backend, finding.program.digest))
        if repeated is not None:
            _note_lane(repeated, finding, version)
    for group in groups.values():
        known = entries.get(group.entry)
        if not group.shrunk and known is not None and known.program is not None:
            # This run met it without shrinking it again: show the corpus file's program and what that says of it.
            group.program, group.shown, group.shrunk = known.program, tuple(corpus.shown_lines(known)), True
            group.verdict = _recorded(known, group)
    return sorted(groups.values(), key=_rank)


def _join(group: RootCause, finding: Finding, verdict: Verdict, version: str) -> None:
    _note_lane(group, finding, version)
    better = finding.minimal is not None and (not group.shrunk or finding.state == "found")
    if better and finding.minimal is not None:
        group.program, group.verdict, group.shrunk = finding.minimal, verdict, True
        group.original = finding.program
    elif not group.shrunk and statements(finding.program) < statements(group.program):
        group.program, group.verdict = finding.program, verdict


def _note_lane(group: RootCause, finding: Finding, version: str) -> None:
    group.met += 1
    group.version = version or group.version
    if finding.lane not in group.lanes:
        group.lanes.append(finding.lane)


def _recorded(entry: corpus.Entry, group: RootCause) -> Verdict:
    """The verdict without the difference of a program that is not shown, with the message that the file keeps."""
    said = [e.message for e in entry.expectations if e.backend == group.backend and e.lane in group.lanes and e.message]
    v = group.verdict
    return Verdict(v.kind, v.channels, v.stage, v.signal, said[0] if said else v.message, v.nondeterministic, v.origin)


def _read_corpus(directory: Path) -> tuple[dict[str, corpus.Entry], Causes]:
    """The entries by file name, and the causes they hold. A file that cannot be read is left to `replay` to tell of."""
    entries: dict[str, corpus.Entry] = {}
    learnt = Causes()
    for path in corpus.files(directory) if directory.is_dir() else ():
        try:
            entries[path.name] = corpus.read_entry(path)
        except corpus.CorpusError:
            continue
    learnt.learn_corpus(entries.values())
    return entries, learnt


def _entry_names(findings: Iterable[Finding], learnt: Causes) -> dict[int, str]:
    """Finding id -> corpus file name, also for findings that are only explained by a cause."""
    findings = list(findings)
    by_cause = {f.cause: Path(f.entry).name for f in findings if f.entry.endswith(".py") and f.cause}
    names = {}
    for f in findings:
        name = Path(f.entry).name if f.entry.endswith(".py") else by_cause.get(f.cause) or learnt.known(f.cause)
        if name:
            names[f.id] = name
    return names


def _rank(cause: RootCause) -> tuple[int, int, bool, int, str]:
    standing = ("new", "to shrink", "known").index(cause.standing)
    loud = Channel.VALUES not in cause.verdict.channels
    return SECTIONS.index(cause.section), standing, loud, statements(cause.program), cause.backend


def by_section(causes: Iterable[RootCause]) -> list[tuple[str, str, list[RootCause]]]:
    """(title, what it means, causes) of each section that has any."""
    causes = list(causes)
    sections = ((name, [c for c in causes if c.section == name]) for name in SECTIONS)
    return [(name, _ABOUT[name], group) for name, group in sections if group]
