"""The campaign's memory: SQLite in WAL mode, one row per finding, agreements aggregated.

Every finding is committed before it is announced, so `kill -9` loses nothing that was said. Two campaigns may share one
store: each has its own run row, and SQLite's lock orders their writes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from inplace_fuzz.campaign.database import Database
from inplace_fuzz.core import Program, Verdict

FORMAT = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS run (
    id INTEGER PRIMARY KEY, started REAL NOT NULL, ended REAL, seed INTEGER NOT NULL, config TEXT NOT NULL,
    programs INTEGER NOT NULL DEFAULT 0, draw_seconds REAL NOT NULL DEFAULT 0, explore_seconds REAL NOT NULL DEFAULT 0,
    shrink_seconds REAL NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS version (run INTEGER NOT NULL, backend TEXT NOT NULL, version TEXT NOT NULL,
    unavailable TEXT NOT NULL, channels TEXT NOT NULL, PRIMARY KEY (run, backend));
CREATE TABLE IF NOT EXISTS tally (run INTEGER NOT NULL, backend TEXT NOT NULL, lane TEXT NOT NULL,
    verdict TEXT NOT NULL, programs INTEGER NOT NULL, seconds REAL NOT NULL, PRIMARY KEY (run, backend, lane, verdict));
CREATE TABLE IF NOT EXISTS feature (run INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    programs INTEGER NOT NULL, PRIMARY KEY (run, kind, name));
CREATE TABLE IF NOT EXISTS refusal (run INTEGER NOT NULL, backend TEXT NOT NULL, lane TEXT NOT NULL,
    verdict TEXT NOT NULL, message TEXT NOT NULL, programs INTEGER NOT NULL,
    PRIMARY KEY (run, backend, lane, verdict, message));
CREATE TABLE IF NOT EXISTS finding (
    id INTEGER PRIMARY KEY, run INTEGER NOT NULL, at REAL NOT NULL, backend TEXT NOT NULL, lane TEXT NOT NULL,
    bucket TEXT NOT NULL, verdict TEXT NOT NULL, program TEXT NOT NULL, state TEXT NOT NULL, cause TEXT NOT NULL,
    minimal TEXT NOT NULL DEFAULT '', minimal_verdict TEXT NOT NULL DEFAULT '', entry TEXT NOT NULL DEFAULT '',
    digest TEXT NOT NULL, candidates INTEGER NOT NULL DEFAULT 0, shrink_seconds REAL NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX IF NOT EXISTS finding_once ON finding (run, backend, lane, digest);
CREATE INDEX IF NOT EXISTS finding_state ON finding (state);
"""
_RUN_COLUMNS = "started, ended, seed, config, programs, draw_seconds, explore_seconds, shrink_seconds"
_FINDING_COLUMNS = (
    "at, backend, lane, bucket, verdict, program, state, cause, minimal, minimal_verdict, entry, "
    "digest, candidates, shrink_seconds"
)


class StoreError(RuntimeError):
    """The store cannot be used; the message says why and what to do."""


@dataclass
class Finding:
    """One non-agreement that a campaign kept.

    `state` is `new` (waiting to be shrunk), `explained` (holds a cause that is already known, not shrunk), `known` (in
    the corpus before), `found` (a new root cause, saved), `duplicate` (shrunk to a cause that this campaign had),
    or `baseline` (the baseline does not get the program right either).
    """

    backend: str
    lane: str
    bucket: str
    verdict: Verdict
    program: Program
    state: str = "new"
    cause: str = ""
    minimal: Program | None = None
    minimal_verdict: Verdict | None = None
    entry: str = ""
    candidates: int = 0
    shrink_seconds: float = 0.0
    id: int = field(default=0, compare=False)
    cures: tuple[str, ...] = field(default=(), compare=False)  # respellings; kept in the corpus file, not in the store


class Store:
    """One SQLite file and the current run in it. Use as a context manager."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.run = 0
        if read_only and not path.exists():
            raise StoreError(f"there is no campaign store {path}; run a campaign first, or name one with --store")
        self._db = Database(
            path,
            _SCHEMA,
            newest=FORMAT,
            read_only=read_only,
            what="campaign store",
            option="--store",
            complaint=StoreError,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    # ------------------------------------------------------------------------------------------------------- writing
    def begin(self, seed: int, config: dict[str, Any]) -> int:
        """Starts a run and returns its number."""
        cursor = self._db.execute(
            "INSERT INTO run (started, seed, config) VALUES (?, ?, ?)", (time.time(), seed, json.dumps(config))
        )
        self.run = int(cursor.lastrowid or 0)
        return self.run

    def set_version(self, backend: str, version: str, unavailable: str, channels: tuple[str, ...]) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO version VALUES (?, ?, ?, ?, ?)",
            (self.run, backend, version, unavailable, " ".join(channels)),
        )

    def progress(
        self,
        tallies: dict[tuple[str, str, str], tuple[int, float]],
        features: Mapping[tuple[str, str], int],
        refusals: Mapping[tuple[str, str, str, str], int],
        *,
        programs: int,
        draw_seconds: float,
        explore_seconds: float,
        shrink_seconds: float,
        ended: bool = False,
    ) -> None:
        """Writes the run's totals so far, in one transaction. Cheap enough for every few seconds."""
        with self._db.transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO tally VALUES (?, ?, ?, ?, ?, ?)",
                [(self.run, *key, n, seconds) for key, (n, seconds) in tallies.items()],
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO feature VALUES (?, ?, ?, ?)",
                [(self.run, kind, name, n) for (kind, name), n in features.items()],
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO refusal VALUES (?, ?, ?, ?, ?, ?)",
                [(self.run, *key, n) for key, n in refusals.items()],
            )
            self._db.execute(
                "UPDATE run SET programs=?, draw_seconds=?, explore_seconds=?, shrink_seconds=?, ended=? WHERE id=?",
                (programs, draw_seconds, explore_seconds, shrink_seconds, time.time() if ended else None, self.run),
            )

    def add(self, finding: Finding) -> None:
        """Commits a finding and gives it its `id`; a second one of its program and target in this run has none."""
        cursor = self._db.execute(
            "INSERT OR IGNORE INTO finding (run, at, backend, lane, bucket, verdict, program, state, cause, digest) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self.run,
                time.time(),
                finding.backend,
                finding.lane,
                finding.bucket,
                json.dumps(finding.verdict.to_json()),
                json.dumps(finding.program.to_json()),
                finding.state,
                finding.cause,
                finding.program.digest,
            ),
        )
        finding.id = int(cursor.lastrowid or 0) if cursor.rowcount else 0  # else it is the id of whatever came before

    def update(self, finding: Finding) -> None:
        """Commits what became of a finding."""
        self._db.execute(
            "UPDATE finding SET state=?, cause=?, minimal=?, minimal_verdict=?, entry=?, candidates=?, "
            "shrink_seconds=? WHERE id=?",
            (
                finding.state,
                finding.cause,
                json.dumps(finding.minimal.to_json()) if finding.minimal else "",
                json.dumps(finding.minimal_verdict.to_json()) if finding.minimal_verdict else "",
                finding.entry,
                finding.candidates,
                finding.shrink_seconds,
                finding.id,
            ),
        )

    def merge(self, other: Path) -> int:
        """Adds every run of another store to this one. Returns how many findings came."""
        with Store(other, read_only=True) as source, self._db.transaction():
            came = 0
            for number, *row in source._db.rows(f"SELECT id, {_RUN_COLUMNS} FROM run ORDER BY id"):  # noqa: S608
                started, _, seed, config, *_ = row
                if self._db.rows("SELECT id FROM run WHERE started=? AND seed=? AND config=?", (started, seed, config)):
                    continue  # merged before
                new = self._insert("run", _RUN_COLUMNS, tuple(row))
                for table in ("version", "tally", "feature", "refusal"):
                    for record in source._db.rows(f"SELECT * FROM {table} WHERE run=?", (number,)):  # noqa: S608
                        self._insert(table, "", (new, *record[1:]))
                columns = f"run, {_FINDING_COLUMNS}"
                for record in source._db.rows(f"SELECT {columns} FROM finding WHERE run=?", (number,)):  # noqa: S608
                    self._insert("finding", columns, (new, *record[1:]))
                    came += 1
            return came

    def _insert(self, table: str, columns: str, values: tuple[Any, ...]) -> int:
        into = f"{table} ({columns})" if columns else table
        marks = ", ".join("?" * len(values))
        return int(self._db.execute(f"INSERT INTO {into} VALUES ({marks})", values).lastrowid or 0)  # noqa: S608

    # ------------------------------------------------------------------------------------------------------- reading
    def findings(self, *, run: int | None = None, state: str | None = None) -> Iterator[Finding]:
        """Findings in the order in which they came."""
        query = (
            "SELECT id, backend, lane, bucket, verdict, program, state, cause, minimal, minimal_verdict, entry, "
            "candidates, shrink_seconds FROM finding "
            "WHERE (?1 IS NULL OR run=?1) AND (?2 IS NULL OR state=?2) ORDER BY id"
        )
        for row in self._db.rows(query, (run, state)):
            try:
                yield _finding(row)
            except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
                said = f"finding {row[0]} cannot be read ({type(error).__name__}: {error})"
                raise StoreError(
                    f"the campaign store {self.path} is damaged: {said}; name another with --store"
                ) from None

    def rows(self, query: str, parameters: tuple[Any, ...] = ()) -> list[dict[str, Any]]:
        """Any SELECT, as dictionaries: what reports are made from."""
        return self._db.records(query, parameters)


def _finding(row: tuple[Any, ...]) -> Finding:
    number, backend, lane, bucket, verdict, program, state, cause, minimal, minimal_verdict, entry, tried, took = row
    return Finding(
        backend,
        lane,
        bucket,
        Verdict.from_json(json.loads(verdict)),
        Program.from_json(json.loads(program)),
        state,
        cause,
        Program.from_json(json.loads(minimal)) if minimal else None,
        Verdict.from_json(json.loads(minimal_verdict)) if minimal_verdict else None,
        entry,
        tried,
        took,
        number,
    )
