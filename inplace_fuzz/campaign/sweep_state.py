"""What a sweep remembers between runs: one SQLite file, in which each finished chunk is one transaction.

A chunk that a `kill -9` interrupts leaves no trace and is drawn again; one that is finished is never counted twice. All
counts are kept for each feature mix and each state of the pass's source.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from inplace_fuzz.campaign.database import Database
from inplace_fuzz.core import Program

FORMAT = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS chunk (
    mix TEXT NOT NULL, number INTEGER NOT NULL, seed INTEGER NOT NULL, programs INTEGER NOT NULL, pass TEXT NOT NULL,
    cpu REAL NOT NULL, ended REAL NOT NULL, PRIMARY KEY (mix, number)
);
CREATE TABLE IF NOT EXISTS tally (
    mix TEXT NOT NULL, pass TEXT NOT NULL, outcome TEXT NOT NULL, detail TEXT NOT NULL, programs INTEGER NOT NULL,
    PRIMARY KEY (mix, pass, outcome, detail)
);
CREATE TABLE IF NOT EXISTS pair (
    mix TEXT NOT NULL, what TEXT NOT NULL, first TEXT NOT NULL, second TEXT NOT NULL, programs INTEGER NOT NULL,
    PRIMARY KEY (mix, what, first, second)
);
CREATE TABLE IF NOT EXISTS finding (
    id INTEGER PRIMARY KEY, mix TEXT NOT NULL, seed INTEGER NOT NULL, place INTEGER NOT NULL, pass TEXT NOT NULL,
    detail TEXT NOT NULL, program TEXT NOT NULL, checked TEXT NOT NULL, now TEXT NOT NULL, now_detail TEXT NOT NULL
);
"""


_TALLY = "INSERT INTO tally VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET programs = programs + excluded.programs"
_PAIR = "INSERT INTO pair VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET programs = programs + excluded.programs"


class SweepError(RuntimeError):
    """The sweep cannot go on; the message says why and what to do."""


@dataclass(frozen=True)
class Finding:
    """A program that disagreed under the pass `found_by`, and what it gave when it was last `checked`."""

    id: int
    mix: str
    seed: int
    place: int
    found_by: str
    detail: str
    program: Program
    checked: str
    now: str
    now_detail: str

    @property
    def mended(self) -> bool:
        """It agrees by now, or is refused by name."""
        return self.now in ("agree", "refused")


class SweepState:
    """One state file, used as a context manager."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        if read_only and not path.exists():
            raise SweepError(f"there is no sweep state {path}; run inplace-fuzz sweep first, or name one with --state")
        self._db = Database(
            path,
            _SCHEMA,
            newest=FORMAT,
            read_only=read_only,
            what="sweep's state",
            option="--state",
            complaint=SweepError,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._db.close()

    # ------------------------------------------------------------------------------------------------------- writing
    def add(self, mix: str, number: int, seed: int, count: int, answers: Sequence[Mapping[str, Any]]) -> None:
        """One finished chunk with all that was counted in it, or nothing of it."""
        with self._db.transaction():
            cpu = sum(a["cpu"] for a in answers)
            new = self._db.execute(
                "INSERT OR IGNORE INTO chunk VALUES (?, ?, ?, ?, ?, ?, ?)",
                (mix, number, seed, count, answers[-1]["pass"], cpu, time.time()),
            )
            if not new.rowcount:
                return  # another sweep with the same state has it already
            for answer in answers:
                self._db.executemany(
                    _TALLY,
                    [(mix, answer["pass"], *row) for row in answer["outcomes"]],
                )
                self._db.executemany(
                    _PAIR,
                    [(mix, *row) for row in answer["pairs"]],
                )
                self._db.executemany(
                    "INSERT INTO finding (mix, seed, place, pass, detail, program, checked, now, now_detail)"
                    " VALUES (?, ?, ?, ?, ?, ?, '', '', '')",
                    [
                        (mix, seed, f["index"], answer["pass"], f["detail"], json.dumps(f["program"]))
                        for f in answer["findings"]
                    ],
                )

    def checked(self, finding: Finding, answer: Mapping[str, Any]) -> None:
        with self._db.transaction():
            self._db.execute(
                "UPDATE finding SET checked = ?, now = ?, now_detail = ? WHERE id = ?",
                (answer["pass"], answer["outcome"], answer["detail"], finding.id),
            )

    # ------------------------------------------------------------------------------------------------------- reading
    def done(self, mix: str) -> set[int]:
        """The numbers of the finished chunks."""
        return {n for (n,) in self._db.rows("SELECT number FROM chunk WHERE mix = ?", (mix,))}

    def programs(self, mix: str) -> int:
        return int(self._one("SELECT coalesce(sum(programs), 0) FROM chunk WHERE mix = ?", mix))

    def cpu(self, mix: str) -> float:
        return float(self._one("SELECT coalesce(sum(cpu), 0) FROM chunk WHERE mix = ?", mix))

    def mixes(self) -> list[str]:
        return [m for (m,) in self._db.rows("SELECT mix FROM chunk GROUP BY mix ORDER BY sum(programs) DESC")]

    def passes(self, mix: str) -> list[tuple[str, int]]:
        """The states of the pass's source that judged, the newest last, with their programs."""
        rows = self._db.rows(
            "SELECT pass, sum(programs) FROM chunk WHERE mix = ? GROUP BY pass ORDER BY max(ended)", (mix,)
        )
        return [(p, n) for p, n in rows]

    def outcomes(self, mix: str, source: str | None = None) -> dict[str, int]:
        """Programs of each outcome; with `source`, under that state of the pass alone."""
        rows = self._db.rows(
            "SELECT outcome, sum(programs) FROM tally WHERE mix = ? AND ? IN ('', pass) GROUP BY outcome",
            (mix, source or ""),
        )
        return dict(rows)

    def details(self, mix: str, outcome: str) -> list[tuple[str, int]]:
        """What was said of an outcome, the most frequent first."""
        rows = self._db.rows(
            "SELECT detail, sum(programs) FROM tally WHERE mix = ? AND outcome = ? GROUP BY detail ORDER BY 2 DESC, 1",
            (mix, outcome),
        )
        return [(d, n) for d, n in rows]

    def pairs(self, mix: str) -> dict[tuple[str, str, str], int]:
        rows = self._db.rows("SELECT what, first, second, programs FROM pair WHERE mix = ?", (mix,))
        return {(what, first, second): n for what, first, second, n in rows}

    def findings(self, mix: str | None = None) -> Iterator[Finding]:
        rows = self._db.rows("SELECT * FROM finding WHERE ? IN ('', mix) ORDER BY id", (mix or "",))
        for row in rows:
            number, name, seed, place, found_by, detail, program, checked, now, now_detail = row
            made = Program.from_json(json.loads(program))
            yield Finding(number, name, seed, place, found_by, detail, made, checked, now, now_detail)

    def _one(self, query: str, *arguments: Any) -> Any:
        return self._db.rows(query, arguments)[0][0]
