"""One SQLite file in WAL mode, which outlives whoever writes it and can be read where nothing may be written.

Whatever goes wrong with the file is one kind of error, which says what to do: `complaint` of its owner.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
_PATIENCE = 60.0  # seconds to wait for another writer


class Database:
    """`what` and `option` are how messages call the file, and the option that names another one."""

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        newest: int,
        read_only: bool,
        what: str,
        option: str,
        complaint: type[Exception],
    ) -> None:
        self.path = path
        self._what, self._option, self._complaint = what, option, complaint
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        try:
            self._db = self._opened_to_read(path) if read_only else self._opened(path)
            self._check(schema, newest, read_only=read_only)
            if not read_only:
                # FULL: what was announced survives a power cut too, at the price of one fsync for each finding.
                for setting in ("journal_mode=WAL", "synchronous=FULL"):
                    self._db.execute(f"PRAGMA {setting}")
                self._db.executescript(schema)
                self._db.execute(f"PRAGMA user_version={newest}")
        except (sqlite3.DatabaseError, OSError) as error:
            self.close()
            raise complaint(f"the {what} {path} cannot be used: {error}; name another with {option}") from None
        except BaseException:
            self.close()
            raise

    def _check(self, schema: str, newest: int, *, read_only: bool) -> None:
        """Raises where it is another program's database, a newer one, or (to read) one that holds nothing yet."""
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        if version > newest:
            said = "was written by a newer inplace-fuzz, to which you may upgrade"
        elif {n for (n,) in self._db.execute(_TABLES)} - set(re.findall(r"TABLE IF NOT EXISTS (\w+)", schema)):
            said = f"is another program's database and no {self._what}"
        elif read_only and not version:
            said = f"is an empty {self._what}; run something first"
        else:
            return
        raise self._complaint(f"{self.path} {said}; name another with {self._option}")

    @staticmethod
    def _opened(path: Path) -> sqlite3.Connection:
        path.parent.mkdir(parents=True, exist_ok=True)
        return sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)

    def _opened_to_read(self, path: Path) -> sqlite3.Connection:
        """Readers of a WAL share an index beside it. Where a full disk has no room for it, it is kept in memory, which
        needs the file to oneself; in a directory that cannot be written, a copy is read."""
        for settings in ((), ("locking_mode=EXCLUSIVE",)):
            with suppress(sqlite3.OperationalError):
                return _looked_at(sqlite3.connect(_existing(path), uri=True, timeout=_PATIENCE), settings)
        self._copy = tempfile.TemporaryDirectory(prefix="inplace-fuzz-read-")
        copy = Path(self._copy.name) / path.name
        for end in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{path}{end}", f"{copy}{end}")
        return _looked_at(sqlite3.connect(_existing(copy), uri=True), ())

    def close(self) -> None:
        """Safe to call twice."""
        if hasattr(self, "_db"):
            self._db.close()
        if self._copy is not None:
            self._copy.cleanup()

    def execute(self, query: str, parameters: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        """One statement: a transaction of its own, unless one is open."""
        with self._guarded():
            return self._db.execute(query, parameters)

    def rows(self, query: str, parameters: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """All that a SELECT gives."""
        with self._guarded():
            return self._db.execute(query, parameters).fetchall()

    def records(self, query: str, parameters: tuple[Any, ...] = ()) -> list[dict[str, Any]]:
        """All that a SELECT gives, as dictionaries."""
        with self._guarded(), closing(self._db.execute(query, parameters)) as cursor:
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def executemany(self, query: str, rows: Iterable[tuple[Any, ...]]) -> None:
        with self._guarded():
            self._db.executemany(query, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of what is written inside, or nothing of it."""
        self.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.DatabaseError):  # a full disk has rolled it back already
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise self._complaint(
                f"the {self._what} {self.path} fails: {error}; free some space, or name another with {self._option}"
            ) from None


def _existing(path: Path) -> str:
    return f"{path.resolve().as_uri()}?mode=rw"


def _looked_at(database: sqlite3.Connection, settings: tuple[str, ...]) -> sqlite3.Connection:
    """The same connection, once something could be read through it."""
    try:
        database.isolation_level = None
        for setting in settings:
            database.execute(f"PRAGMA {setting}")
        database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError:
        database.close()
        raise
    return database
