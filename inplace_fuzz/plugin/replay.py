"""The corpus as ordinary tests: `corpus/snapshot-then-zero-3f9a1c02.py::tvm/direct` holds while the file's table does.

A corpus file is read, never imported: workers run its program. All that was selected goes to them as one stream in the
order of the items, so that an item waits for its own verdict only. Under pytest-xdist, where no process knows which
items it will be given, each is judged when its turn comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from inplace_fuzz.api import as_program, vet_entry
from inplace_fuzz.backends import UnknownBackend
from inplace_fuzz.campaign.text import difference_lines
from inplace_fuzz.core import Kind, Lane, Program, ProgramError, Verdict, names_code
from inplace_fuzz.core.intake import typed_path
from inplace_fuzz.corpus import CorpusError, Entry, Expectation, holds, read_entry
from inplace_fuzz.execute.engine import Engine, EngineError, OperationFailed, Result, Target, Task
from inplace_fuzz.execute.environments import versions_of
from inplace_fuzz.plugin.options import TRUST_INI, ini_directory, trusted
from inplace_fuzz.plugin.shown import Fault, shown

REPLAY = pytest.StashKey["Replay"]()
_SETTING = f"`{TRUST_INI} = true` in the pytest configuration"


def in_our_words(text: str) -> str:
    """Errors of the rooms below, with this command line's way of saying `--trust`."""
    return text.replace("--trust", _SETTING)


def is_entry(path: Path, config: pytest.Config) -> bool:
    """Whether this is a program file of the corpus that the project's ini setting names."""
    directory = ini_directory(config)
    return directory is not None and path.parent == directory and not path.name.startswith((".", "_", "conftest"))


class CorpusFile(pytest.File):
    """One corpus file: an item for each backend and lane of its table."""

    def collect(self) -> Iterator[pytest.Item]:
        trust = trusted(self.config)
        try:
            entry = read_entry(self.path, trust=trust)
            if not trust:
                vet_entry(entry.parsed, str(self.path))
        except (CorpusError, ProgramError) as error:
            raise self.CollectError(in_our_words(str(error))) from None
        rows: dict[str, list[Expectation]] = {}
        for row in entry.expectations:
            rows.setdefault(row.key, []).append(row)
        for key, expectations in rows.items():
            yield CorpusItem.from_parent(self, name=key, entry=entry, expectations=tuple(expectations))


class CorpusItem(pytest.Item):
    """What one backend and lane is expected to give, in each version that the table has a row for."""

    def __init__(self, *, entry: Entry, expectations: tuple[Expectation, ...], **rest: Any) -> None:
        super().__init__(**rest)
        self.entry = entry
        self.expectations = expectations
        named = expectations[0].backend
        # Looking for the versions of `package.module:ATTRIBUTE` imports the package.
        column = _column(expectations) if self._may_load(named) else named
        self.target = Target(column, Lane(expectations[0].lane))

    def _may_load(self, backend: str) -> bool:
        return not names_code(backend) or trusted(self.config)

    def skip_reason(self, replay: Replay) -> str:
        """Why the table says nothing of what is installed here, or nothing at all when it does."""
        if not self._may_load(self.target.backend):
            return f"the file names code to be imported; {_SETTING} imports it"
        version, unavailable = replay.version(self.target.backend, self.session)
        if unavailable:
            return unavailable
        if self.expected(version) is None:
            recorded = ", ".join(e.versions for e in self.expectations)
            return f"recorded for {recorded}; {version} is installed, which `{self.update}` records too"
        return ""

    def expected(self, version: str) -> Expectation | None:
        return next((e for e in self.expectations if e.covers(version)), None)

    @property
    def update(self) -> str:
        return f"inplace-fuzz corpus update {typed_path(self._shown_path)}"

    @property
    def _shown_path(self) -> Path:
        here = self.config.invocation_params.dir
        return self.path.relative_to(here) if self.path.is_relative_to(here) else self.path

    def runtest(self) -> None:
        replay = self.config.stash[REPLAY]
        version, _ = replay.version(self.target.backend, self.session)
        expected = self.expected(version)
        assert expected is not None, "skip_reason has dealt with it"
        try:
            seen = replay.verdict(self)
        except ProgramError as error:
            raise Fault(in_our_words(str(error))) from None
        except (EngineError, OperationFailed) as error:
            raise Fault(f"the program could not be run: {error}") from None
        if not holds(expected, seen):
            raise Fault(_summary(expected, seen), "\n".join(self._lines(expected, seen, version)))

    def _lines(self, expected: Expectation, seen: Verdict, version: str) -> Iterator[str]:
        yield f"{_summary(expected, seen)}  ({version})"
        yield ""
        yield f"    expected  {expected.verdict}  {expected.message}".rstrip()
        yield f"    came      {seen}  {seen.message}".rstrip()
        for difference in seen.differences[:2]:
            for line in difference_lines(difference, self.target.backend):
                yield f"    {line}"
        if expected.note:
            yield f"    note      {expected.note}"
        yield ""
        yield f"    look      inplace-fuzz replay {typed_path(self._shown_path)}"
        yield f"    accept    {self.update}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return shown(excinfo.value) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self._line, self.name

    @property
    def _line(self) -> int:
        """Where the table's row is."""
        row = self.expectations[0]
        for number, line in enumerate(self.entry.parsed.text.splitlines()):
            if line.startswith("#") and line[1:].split()[:2] == [row.backend, row.lane]:
                return number
        return 0


def _column(expectations: tuple[Expectation, ...]) -> str:
    """Where a row is replayed: in a version that one of them speaks of, here before elsewhere, if there is one."""
    name = expectations[0].backend
    columns = (c for c, version in _versions_of(name).items() if any(e.covers(version) for e in expectations))
    return next(columns, name)


@cache
def _versions_of(name: str) -> dict[str, str]:
    try:
        return versions_of(name)
    except UnknownBackend:
        return {}


def _summary(expected: Expectation, seen: Verdict) -> str:
    if seen.kind is Kind.INVALID:
        return "eager itself cannot run this program here"
    if seen.kind is Kind.AGREE and expected.is_fault:
        return "a known fault is gone"
    if expected.verdict == Kind.AGREE:
        return "an agreement broke"
    return "another verdict" if str(seen) != expected.verdict else "another message"


class Replay:
    """The engine of one pytest session, and the verdicts that it has given."""

    def __init__(self, workers: int, *, one_by_one: bool) -> None:
        self._workers = workers
        self._one_by_one = one_by_one
        self._engine: Engine | None = None
        self._versions: dict[str, tuple[str, str]] = {}
        self._verdicts: dict[tuple[Path, Target], Verdict] = {}
        self._stream: Iterator[Result] | None = None
        self._paths: list[Path] = []  # of the stream's tasks, by key
        self._faults: dict[Path, ProgramError | OperationFailed] = {}

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            self._engine = Engine(workers=self._workers)
            self._engine.__enter__()
        return self._engine

    def version(self, backend: str, session: pytest.Session) -> tuple[str, str]:
        """`(version, "")` of what is installed, or `("", reason)`. One question for all backends of the session."""
        if backend not in self._versions:
            there = (item.target.backend for item in _items(session))
            wanted = dict.fromkeys([backend, *(b for b in there if not names_code(b) or trusted(session.config))])
            try:
                answer = self.engine.versions(wanted)
            except (EngineError, OperationFailed) as error:
                raise Fault(f"no worker could be asked what is installed: {error}") from None
            for name, data in answer.items():
                self._versions[name] = data.get("version", ""), data.get("unavailable", "")
        return self._versions[backend]

    def verdict(self, item: CorpusItem) -> Verdict:
        """Raises ProgramError or OperationFailed when the file's inputs cannot be made."""
        if self._one_by_one:
            task = Task(self._program(item), (item.target,), 0)
            return next(self.engine.run([task])).verdict
        key = (item.path, item.target)
        if self._stream is None:
            self._stream = self.engine.run(self._tasks(item.session))
        while key not in self._verdicts:
            if item.path in self._faults:
                raise self._faults[item.path]
            result = next(self._stream, None)
            if result is None:
                raise EngineError(f"no verdict came for {item.nodeid}")
            self._verdicts[self._paths[result.task.key], result.target] = result.verdict
        return self._verdicts[key]

    def _tasks(self, session: pytest.Session) -> Iterator[Task]:
        """One task for each file, with the targets whose expectations speak of what is installed."""
        files: dict[Path, list[CorpusItem]] = {}
        for item in _items(session):
            if not item.skip_reason(self):
                files.setdefault(item.path, []).append(item)
        for path, items in files.items():
            try:
                program = self._program(items[0])
            except (ProgramError, OperationFailed) as error:
                self._faults[path] = error
                continue
            self._paths.append(path)
            yield Task(program, tuple(item.target for item in items), len(self._paths) - 1)

    def _program(self, item: CorpusItem) -> Program:
        """The program, with its `inputs()` evaluated in a worker where they are not literals."""
        return as_program(item.entry.parsed, str(item.path), self.engine, trust=trusted(item.config))


def _items(session: pytest.Session) -> list[CorpusItem]:
    return [item for item in session.items if isinstance(item, CorpusItem)]
