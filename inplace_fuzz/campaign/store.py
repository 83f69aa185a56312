"""The campaign's memory: SQLite in WAL mode, one row per finding, agreements aggregated.

Every finding is committed before it is announced, so `kill -9` loses nothing that was said. Two campaigns may share one
store: each has its own run row, and SQLite's lock orders their writes.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

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
        try:
            if not read_only:
                path.parent.mkdir(parents=True, exist_ok=True)
            elif not path.exists():
                raise StoreError(f"there is no campaign store {path}; run a campaign first, or name one with --store")
            self._db = sqlite3.connect(path, timeout=60, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            # FULL: what was announced survives a power cut too, at the price of one fsync for each finding.
            self._db.execute("PRAGMA synchronous=FULL")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version > FORMAT:
                raise StoreError(f"{path} was written by a newer inplace-fuzz; upgrade, or name another with --store")
            self._db.executescript(_SCHEMA)
            self._db.execute(f"PRAGMA user_version={FORMAT}")
        except (sqlite3.DatabaseError, OSError) as error:
            raise StoreError(f"the campaign store {path} cannot be used: {error}; name another with --store") from None

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
        cursor = self._write(
            "INSERT INTO run (started, seed, config) VALUES (?, ?, ?)", (time.time(), seed, json.dumps(config))
        )
        self.run = int(cursor.lastrowid or 0)
        return self.run

    def set_version(self, backend: str, version: str, unavailable: str, channels: tuple[str, ...]) -> None:
        self._write(
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
        try:
            with self._transaction():
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
                    "UPDATE run SET programs=?, draw_seconds=?, explore_seconds=?, shrink_seconds=?, ended=? "
                    "WHERE id=?",
                    (programs, draw_seconds, explore_seconds, shrink_seconds, time.time() if ended else None, self.run),
                )
        except sqlite3.DatabaseError as error:
            raise StoreError(f"writing to the campaign store {self.path} failed: {error}; free some space") from None

    def add(self, finding: Finding) -> None:
        """Commits a finding; a second one of the same program, backend and lane in this run changes nothing."""
        cursor = self._write(
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
        finding.id = int(cursor.lastrowid or 0)

    def update(self, finding: Finding) -> None:
        """Commits what became of a finding."""
        self._write(
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
        with Store(other, read_only=True) as source, self._transaction():
            came = 0
            for (run,) in source._db.execute("SELECT id FROM run ORDER BY id").fetchall():
                row = source._db.execute(
                    "SELECT started, ended, seed, config, programs, draw_seconds, explore_seconds, shrink_seconds "
                    "FROM run WHERE id=?",
                    (run,),
                ).fetchone()
                same = self._db.execute(
                    "SELECT id FROM run WHERE started=? AND seed=? AND config=?", (row[0], row[2], row[3])
                )
                if same.fetchone():
                    continue  # merged before
                cursor = self._db.execute(
                    "INSERT INTO run (started, ended, seed, config, programs, draw_seconds, explore_seconds, "
                    "shrink_seconds) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    row,
                )
                new = cursor.lastrowid
                for table in ("version", "tally", "feature", "refusal"):
                    for record in source._db.execute(f"SELECT * FROM {table} WHERE run=?", (run,)):  # noqa: S608
                        marks = ", ".join("?" * len(record))
                        self._db.execute(f"INSERT INTO {table} VALUES ({marks})", (new, *record[1:]))  # noqa: S608
                columns = (
                    "at, backend, lane, bucket, verdict, program, state, cause, minimal, minimal_verdict, entry, "
                    "digest, candidates, shrink_seconds"
                )
                for record in source._db.execute(f"SELECT {columns} FROM finding WHERE run=?", (run,)):  # noqa: S608
                    marks = ", ".join("?" * (len(record) + 1))
                    self._db.execute(f"INSERT INTO finding (run, {columns}) VALUES ({marks})", (new, *record))  # noqa: S608
                    came += 1
            return came

    # ------------------------------------------------------------------------------------------------------- reading
    def findings(self, *, run: int | None = None, state: str | None = None) -> Iterator[Finding]:
        """Findings in the order in which they came."""
        query = (
            "SELECT id, backend, lane, bucket, verdict, program, state, cause, minimal, minimal_verdict, entry, "
            "candidates, shrink_seconds FROM finding "
            "WHERE (?1 IS NULL OR run=?1) AND (?2 IS NULL OR state=?2) ORDER BY id"
        )
        with closing(self._db.cursor()) as cursor:
            for row in cursor.execute(query, (run, state)).fetchall():
                yield Finding(
                    row[1],
                    row[2],
                    row[3],
                    Verdict.from_json(json.loads(row[4])),
                    Program.from_json(json.loads(row[5])),
                    row[6],
                    row[7],
                    Program.from_json(json.loads(row[8])) if row[8] else None,
                    Verdict.from_json(json.loads(row[9])) if row[9] else None,
                    row[10],
                    row[11],
                    row[12],
                    row[0],
                )

    def rows(self, query: str, parameters: tuple[Any, ...] = ()) -> list[dict[str, Any]]:
        """Any SELECT, as dictionaries: what reports are made from."""
        with closing(self._db.cursor()) as cursor:
            cursor.execute(query, parameters)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    # ------------------------------------------------------------------------------------------------------ internals
    def _write(self, query: str, parameters: tuple[Any, ...]) -> sqlite3.Cursor:
        try:
            return self._db.execute(query, parameters)
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"writing to the campaign store {self.path} failed: {error}; "
                "free some space or name another with --store"
            ) from None

    def _transaction(self) -> _Transaction:
        return _Transaction(self._db)


class _Transaction:
    """BEGIN IMMEDIATE … COMMIT, or ROLLBACK on an exception."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")
