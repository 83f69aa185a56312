"""The corpus: one readable file per program, with what each backend and lane gave for it.

    # The copy of x is taken after x.zero_() instead of before it.
    #
    # inplace-fuzz: 1
    # inductor   direct   torch 2.13.0              mismatch(values)   known   https://…
    # tvm        direct   apache-tvm >=0.26,<0.28   agree

The table's columns stand at least two spaces apart: backend, lane, versions, verdict, status, note. The status of a
fault is `known`. Versions are a distribution name and a version or a range; an expectation says nothing of others.
"""

from __future__ import annotations

import fcntl
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from inplace_fuzz.core import (
    Kind,
    Lane,
    ParsedFile,
    Program,
    ProgramError,
    Verdict,
    lane_key,
    names_code,
    parse,
    render,
)
from inplace_fuzz.core.features import slug, title
from inplace_fuzz.core.intake import read_file, shown_path
from inplace_fuzz.judge.bucket import normalise_message

FORMAT = 1
_HALF = ".inplace-fuzz-"  # how files that are being written begin
CURED = "agrees with "  # in a note, before the names of respellings
_MARK = re.compile(r"inplace-fuzz:\s*(\d{1,9})$")
_BACKEND = re.compile(r"[\w.:-]+")
_RAISES = re.compile(
    r"^#\s*(?P<backend>[\w.:-]+)/(?P<lane>\w+)(?: in (?P<versions>.*?))? (?:says|raises): (?P<message>.*)$",
    re.MULTILINE,
)


class CorpusError(ValueError):
    """A corpus file or directory that cannot be used; the message says what to do about it."""


@dataclass(frozen=True)
class Expectation:
    """What one backend and lane gives for the program, in the versions where that was seen."""

    backend: str
    lane: str
    versions: str  # `apache-tvm 0.27.0.post1` or `torch >=2.13,<2.15`
    verdict: str  # short form
    status: str = ""  # `known` for a fault
    note: str = ""  # a link, a reason
    message: str = ""  # what the backend said, for verdicts that have a message

    @property
    def key(self) -> str:
        return lane_key(self.backend, self.lane)

    @property
    def cures(self) -> tuple[str, ...]:
        """The names of the respellings (`shrink.respell`) that this backend gets right, as the note says."""
        found = re.search(rf"{CURED}([\w, -]+)", self.note)
        return tuple(found[1].split(", ")) if found else ()

    @property
    def is_fault(self) -> bool:
        return Verdict.parse(self.verdict).is_finding

    def covers(self, installed: str) -> bool:
        """Whether it speaks of an installed version such as `apache-tvm 0.27.0.post1`."""
        name, _, wanted = self.versions.partition(" ")
        have_name, _, have = installed.partition(" ")
        if name != have_name:
            return False
        try:
            specifier = SpecifierSet(wanted if wanted.strip()[:1] in "<>=!~" else f"=={wanted}")
            return specifier.contains(Version(have), prereleases=True)
        except ValueError:  # no version, or one of more digits than Python reads
            return wanted == have


@dataclass(frozen=True)
class Entry:
    """A corpus file. `program` is None while its inputs must still be computed by a process that has torch."""

    path: Path
    title: str
    parsed: ParsedFile
    program: Program | None
    expectations: tuple[Expectation, ...]


def read_entry(path: Path, *, trust: bool = False) -> Entry:
    """Takes a corpus file apart without running it. Raises CorpusError, naming the file and what is wrong with it.

    `trust` lifts the limits on where it is, how large and how deep. Whether it may be run is for `api.as_program`.
    """
    try:
        text = read_file(path, trust=trust)
    except ProgramError as error:
        raise CorpusError(str(error)) from None
    except OSError as error:
        raise CorpusError(f"{shown_path(path)} cannot be read: {error.strerror}") from None
    return take_apart(path, text, trust=trust)


def take_apart(path: Path, text: str, *, trust: bool = False) -> Entry:
    """What `read_entry` makes of the text of a file."""
    name = shown_path(path)
    try:
        parsed = parse(text, name=name, trust=trust)
        program = None if parsed.calls is None else parsed.program(title=_title(parsed.header))
    except ProgramError as error:
        raise CorpusError(str(error)) from None
    return Entry(path, _title(parsed.header), parsed, program, tuple(_expectations(parsed, name)))


def _title(header: tuple[str, ...]) -> str:
    lines = []
    for line in header:
        if not line or _MARK.match(line):
            break
        lines.append(line)
    return " ".join(lines)


def _expectations(parsed: ParsedFile, name: str) -> Iterator[Expectation]:
    marks = [k for k, line in enumerate(parsed.header) if _MARK.match(line)]
    if not marks:
        return
    version = _MARK.match(parsed.header[marks[0]])
    if version and int(version[1]) > FORMAT:
        raise CorpusError(f"{name} has format {version[1]}, newer than this tool reads; upgrade inplace-fuzz")
    messages = {
        (lane_key(m["backend"], m["lane"]), m["versions"] or ""): m["message"] for m in _RAISES.finditer(parsed.text)
    }
    for line in parsed.header[marks[0] + 1 :]:
        if not line.strip():
            continue
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) < 4:
            raise CorpusError(
                f"{name}: cannot read the table row {line!r}; write backend, lane, versions and verdict, "
                "two spaces or more between them"
            )
        backend, lane, versions, verdict, *rest = cells
        if not _BACKEND.fullmatch(backend):
            raise CorpusError(f"{name}: {backend!r} is no name of a backend; write for example torchscript or tvm")
        try:
            Verdict.parse(verdict)
            Lane(lane)
        except ValueError as error:
            raise CorpusError(f"{name}: {error}") from None
        status, note = (*rest, "", "")[:2]
        key = lane_key(backend, lane)
        message = messages.get((key, versions), messages.get((key, ""), ""))
        yield Expectation(backend, lane, versions, verdict, status, note, message)


def files(directory: Path) -> list[Path]:
    """Every program file of a corpus, in order. Raises CorpusError where there is no such directory."""
    if not directory.is_dir():
        raise CorpusError(f"there is no corpus directory {directory}; name one with --corpus, or run a campaign first")
    return sorted(p for p in directory.glob("*.py") if not p.name.startswith(("_", ".")) and p.name != "conftest.py")


def entries(directory: Path) -> list[Entry]:
    return [read_entry(path) for path in files(directory)]


def known_fault(entry: Entry, *, trust: bool) -> tuple[str, str]:
    """Backend and lane of the first fault in the table. Raises CorpusError where there is none that may be asked."""
    fault = next((x for x in entry.expectations if x.is_fault), None)
    if fault is None:
        raise CorpusError(f"{entry.path} records no known fault; say whose is meant, for example --backend tvm")
    if names_code(fault.backend) and not trust:
        raise CorpusError(f"{entry.path} names code to be imported, {fault.backend}; --trust imports it")
    return fault.backend, fault.lane


# ----------------------------------------------------------------------------------------------------------- writing
def render_entry(program: Program, expectations: Iterable[Expectation], shown: Iterable[str] = ()) -> str:
    """The file's text. `shown` are lines for the comment block at the end: what eager gives, what the backend gives."""
    rows = list(expectations)
    lines = [f"# {line}" for line in _wrap(program.title or title(program))]
    lines += ["#", f"# inplace-fuzz: {FORMAT}", *table_lines(rows)]
    text = "\n".join(lines) + "\n\n" + render(program)
    comments = [f"# {line}".rstrip() for line in shown]
    comments += said_lines(rows)
    if comments:
        text += "\n\n" + "\n".join(comments) + "\n"
    fault = next((e for e in _in_order(rows) if e.is_fault), None)
    if fault is not None:
        lane = "" if fault.lane == Lane.DIRECT else f', lane="{fault.lane}"'
        later = [f"inputs_{k + 1}" for k in range(1, len(program.calls))]
        arguments = ", ".join(["M", "inputs", *later])
        gap = "" if comments else "\n\n"
        text += gap + (
            'if __name__ == "__main__":\n    from inplace_fuzz import show_difference\n\n'
            f'    show_difference({arguments}, backend="{fault.backend}"{lane})\n'
        )
    return text


def _in_order(rows: Iterable[Expectation]) -> list[Expectation]:
    """Faults first: they are what the file is kept for."""
    return sorted(rows, key=lambda e: (not e.is_fault, e.backend, e.lane))


def table_lines(rows: Iterable[Expectation]) -> list[str]:
    """The header's table."""
    cells = [(e.backend, e.lane, e.versions, e.verdict, e.status, e.note) for e in _in_order(rows)]
    widths = [max((len(row[k]) for row in cells), default=0) for k in range(6)]
    return ["# " + "   ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells]


def said_lines(rows: Iterable[Expectation]) -> list[str]:
    """What the backends say; where versions of one say different things, each with the versions that do."""
    faults = [e for e in _in_order(rows) if e.message and e.is_fault]
    said: dict[str, set[str]] = {}
    for e in faults:
        said.setdefault(e.key, set()).add(e.message)
    lines = [f"# {e.key}{f' in {e.versions}' if len(said[e.key]) > 1 else ''} says: {e.message}" for e in faults]
    return list(dict.fromkeys(lines))


def _wrap(text: str, width: int = 110) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width) or [""]


def write_entry(
    directory: Path, program: Program, expectations: Iterable[Expectation], shown: Iterable[str] = (), *, name: str = ""
) -> Path:
    """Saves a program as `<slug>-<hash8>.py` and returns the path. Raises CorpusError when it cannot be written."""
    path = directory / f"{name or slug(program)}-{program.digest}.py"
    write_atomically(path, render_entry(program, expectations, shown))
    return path


def write_atomically(path: Path, text: str) -> None:
    """Writes beside the file and renames, so that a reader, a full disk or a kill never leaves half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = _half_written(path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(temporary, 0o644)
                os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        _keep_names(path.parent)
    except OSError as error:
        raise CorpusError(
            f"cannot write {path}: {error.strerror}; make the directory writable, free some space, "
            "or name another with --corpus"
        ) from None


def _half_written(directory: Path) -> tuple[int, str]:
    """A new file beside the one to be written, locked, so that nobody takes it for what a kill has left."""
    while True:
        handle, name = tempfile.mkstemp(dir=directory, prefix=_HALF, suffix=".tmp")
        with suppress(OSError):  # not every file system has locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)  # taken for one before it was locked


def _keep_names(directory: Path) -> None:
    """What was renamed into the directory is there after a power cut too."""
    with suppress(OSError):  # not every file system can say so
        handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove_half_written(directory: Path) -> None:
    """Removes what was being written when its writer was killed: a lock ends with the process that holds it."""
    for path in directory.glob(f"{_HALF}*.tmp"):
        with suppress(OSError):
            handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(handle)


def check_writable(directory: Path) -> None:
    """Raises CorpusError now rather than when the first finding is to be saved. Removes what a kill has left."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle, name = _half_written(directory)
        Path(name).unlink(missing_ok=True)
        os.close(handle)
        _remove_half_written(directory)
    except OSError as error:
        raise CorpusError(
            f"the corpus directory {directory} cannot be written: {error.strerror}; "
            "make it writable or name another with --corpus"
        ) from None


def updated(entry: Entry, fresh: Iterable[Expectation]) -> str:
    """The entry's text with these expectations in place of those of the same backend, lane and version.

    Only the table and what the backends say at the end change; whatever else a person wrote stays.
    """
    new = [e for e in fresh if not any(_says_already(row, e) for row in entry.expectations)]
    replaced = {(e.key, e.versions) for e in new}
    kept = [e for e in entry.expectations if (e.key, e.versions) not in replaced]
    notes = {e.key: _written_by_hand(e.note) for e in entry.expectations}
    rows = [*kept, *(replace(e, note="; ".join(filter(None, [e.note, notes.get(e.key, "")]))) for e in new)]
    lines = [line for line in entry.parsed.text.splitlines() if not _RAISES.match(line)]
    header = next((k for k, line in enumerate(lines) if not line.startswith("#")), len(lines))
    mark = next((k for k in range(header) if _MARK.match(lines[k][1:].strip())), None)
    if mark is None:
        lines[header:header] = ["#", f"# inplace-fuzz: {FORMAT}", *table_lines(rows)]
    else:
        after = next((k for k in range(mark + 1, header) if not lines[k].strip("# ")), header)
        lines[mark + 1 : after] = table_lines(rows)
    says = said_lines(rows)
    end = next((k for k, line in enumerate(lines) if line.startswith("if __name__")), len(lines))
    lines[end:end] = says
    return "\n".join(lines) + "\n"


def _says_already(row: Expectation, fresh: Expectation) -> bool:
    """Whether a row about a range of versions says what was seen in one of them."""
    ranged = row.versions != fresh.versions and row.covers(fresh.versions)
    return ranged and (row.key, row.verdict) == (fresh.key, fresh.verdict)


def _written_by_hand(note: str) -> str:
    parts = (part for part in note.split("; ") if part not in _UNSTEADY and not part.startswith((CURED, "origin: ")))
    return "; ".join(parts)


def shown_lines(entry: Entry) -> list[str]:
    """The comment block at the end of the file, without what the backends say."""
    lines = entry.parsed.text.splitlines()
    start = max((k for k, line in enumerate(lines) if line.startswith(("    return", "        return"))), default=0)
    block = [line for line in lines[start + 1 :] if line.startswith("#") and not _RAISES.match(line)]
    return [line[1:].removeprefix(" ") for line in block]


def table(directory: Path) -> list[tuple[Entry, Expectation]]:
    """One row per expectation, in file order."""
    return [(entry, expectation) for entry in entries(directory) for expectation in entry.expectations]


def render_readme(directory: Path) -> str:
    """`corpus/README.md`, generated from the headers."""
    rows = table(directory)
    faults = [(e, x) for e, x in rows if x.is_fault]
    lines = [
        "# Corpus",
        "",
        "Generated by `inplace-fuzz corpus readme`; do not edit. One file per program; each row is a fault that a",
        "released compiler had when the row was written. `inplace-fuzz replay PATH` runs a file again.",
        "",
        f"{len({e.path for e, _ in rows})} programs, {len(rows)} expectations, {len(faults)} faults.",
        "",
    ]
    for group in sorted({x.key for _, x in faults}):
        lines += [f"## {group}", "", "| program | what it does | verdict | versions | note |", "|---|---|---|---|---|"]
        for entry, x in faults:
            if x.key == group:
                note = x.note.replace("|", "\\|")
                lines.append(
                    f"| [{entry.path.stem}]({entry.path.name}) | {entry.title.replace('|', chr(92) + '|')} "
                    f"| {x.verdict} | {x.versions} | {note} |"
                )
        lines.append("")
    return "\n".join(lines)


def silent(expectation: Expectation) -> bool:
    """Whether the fault gives a wrong answer without saying so."""
    return Verdict.parse(expectation.verdict).kind is Kind.MISMATCH


# Notes that a campaign writes beside what does not show every time.
_UNSTEADY = ("comes and goes", "differs from run to run")


def holds(expected: Expectation, seen: Verdict) -> bool:
    """Whether the expectation describes what came. An error counts as the same when its message, values apart, is."""
    if any(note in expected.note for note in _UNSTEADY) and seen.kind in (Kind.AGREE, Kind.FLAKY):
        return True
    if str(seen) != expected.verdict:
        return False
    if seen.kind is Kind.ERROR and expected.message:
        return normalise_message(seen.message) == normalise_message(expected.message)
    return True
