"""A real campaign in a directory of its own, what kills a part of it, and what must hold after whatever happened to it.

The test's own process is a subreaper meanwhile, so that whatever escapes from a campaign becomes its child and is seen.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil

from inplace_fuzz import corpus
from inplace_fuzz.campaign.store import Store
from inplace_fuzz.execute import processes
from tests.e2e.commands import alive, announced, ran, started

# A wrong pass that nearly every program shows, so that something is found at once.
BACKEND = "tests.planted.passes:MUTATION_INVISIBLE"
PLACES = ("--corpus", "corpus", "--store", "store.sqlite")
_PATIENCE = 120.0


class Running:
    """A campaign under way; what it prints is read as it comes."""

    def __init__(
        self,
        directory: Path,
        *,
        seed: int,
        examples: int = 24,
        places: tuple[str, ...] = PLACES,
        prefix: tuple[str, ...] = (),
    ) -> None:
        self.directory = directory
        self.examples = examples
        command = ("run", "--backends", BACKEND, "--seed", f"{seed}", "--examples", f"{examples}", *places)
        self.process = started(directory, *command, prefix=prefix)
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self._lines.extend(iter(self.process.stdout.readline, ""))

    @property
    def text(self) -> str:
        return "".join(self._lines)

    def wait_for(self, what: Callable[[], bool]) -> bool:
        """Whether it came true before the campaign's end."""
        deadline = time.monotonic() + _PATIENCE
        while self.process.poll() is None:
            if what():
                return True
            assert time.monotonic() < deadline, self.text
            time.sleep(0.005)
        return what()

    def wait_for_findings(self, count: int) -> bool:
        return self.wait_for(lambda: len(announced(self.text)) >= count)

    def end(self) -> int:
        """Its exit status, once everything that it printed is here."""
        status = self.process.wait(_PATIENCE)
        self._reader.join(_PATIENCE)
        return status


# What can be killed. A warm process forks the drawer, or the workers; the group is what a terminal would reach;
# everybody is every process at once, as a container ends.
VICTIMS = ("supervisor", "group", "everybody", "drawer", "worker", "warm drawer", "warm worker")
FATAL = VICTIMS[:3]


def kill(running: Running, victim: str) -> bool:
    """Kills a part of the campaign with SIGKILL. False where it ended before it had such a part."""
    supervisor = running.process.pid
    if victim == "supervisor":
        running.process.kill()
    elif victim == "group":
        os.killpg(supervisor, signal.SIGKILL)
    elif victim == "everybody":
        # Stopped first, so that none sees another's death.
        everybody = _signal([supervisor], signal.SIGSTOP) + _signal(processes.descendants(supervisor), signal.SIGSTOP)
        _signal(everybody, signal.SIGKILL)
    else:
        return running.wait_for(lambda: bool(_signal(_parts(supervisor, victim)[:1], signal.SIGKILL)))
    return True


def _signal(pids: list[int], number: int) -> list[int]:
    for pid in pids:
        processes.kill(pid, number)
    return pids


def _parts(supervisor: int, victim: str) -> list[int]:
    warm = [pid for pid in processes.children(supervisor) if _draws(pid) == victim.endswith("drawer")]
    return warm if victim.startswith("warm") else [below for pid in warm for below in processes.children(pid)]


def _draws(warm: int) -> bool:
    try:
        return any("/drawer" in word for word in psutil.Process(warm).cmdline())
    except psutil.Error:
        return False


# ------------------------------------------------------------------------------------------------------- what must hold
class Kept:
    """All that the campaigns in one directory have announced, and what is left of it.

    `at` is where below the directory its corpus and its store are.
    """

    def __init__(self, directory: Path, *, at: str = ".") -> None:
        self.directory = directory
        self.corpus = directory / at / "corpus"
        self.store = directory / at / "store.sqlite"
        self.announced: list[Path] = []
        self._children = set(processes.children(os.getpid()))

    def take(self, text: str) -> None:
        """Holds a campaign to what it has printed: nothing is announced twice, and all of it is on disk."""
        self.announced += announced(text)
        assert len(set(self.announced)) == len(self.announced), text
        assert "Traceback" not in text, text
        self.assert_on_disk()

    def assert_on_disk(self) -> None:
        for path in self.announced:
            assert corpus.read_entry(self.directory / path).expectations
        for path in corpus.files(self.corpus) if self.corpus.is_dir() else ():
            corpus.read_entry(path)  # those that a kill kept from being announced are whole too
        if not self.store.exists():
            assert not self.announced
            return
        with Store(self.store, read_only=True) as opened:
            states = {f.entry: f.state for f in opened.findings() if f.entry}
            lost = [str(path) for path in self.announced if states.get(str(path)) != "found"]
        assert not lost, (lost, states)
        with closing(sqlite3.connect(self.store)) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]

    def assert_no_process(self, supervisor: int) -> None:
        """Nothing of it runs, under its marker or as an orphan."""
        deadline = time.monotonic() + 10
        while left := alive(supervisor) + [pid for pid in processes.children(os.getpid()) if pid not in self._children]:
            assert time.monotonic() < deadline, left
            time.sleep(0.05)

    def assert_no_file(self) -> None:
        """Beside the corpus files, the store and an empty temporary directory there is nothing."""
        assert not list((self.directory / "temporary").iterdir())
        assert not [path for path in self.corpus.glob("*") if path.suffix != ".py"]

    def resume(self, *, seed: int) -> None:
        """The same campaign again: it goes on with what is there, and leaves nothing behind."""
        places = ("--corpus", str(self.corpus), "--store", str(self.store))
        again = Running(self.directory, seed=seed, examples=8, places=places)
        assert again.end() == 0, again.text
        self.take(again.text)
        self.assert_no_process(again.process.pid)
        self.assert_no_file()

    def assert_replays(self) -> None:
        if not self.announced:
            return
        done = ran(self.directory, "replay", "--trust", *map(str, self.announced))
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("as expected") >= len(self.announced)
