"""One forked worker as its supervisor sees it: what it was given, what it has said, and how much longer it may take.

Nothing is lost and nothing is judged twice, because the only list of what is owed is the supervisor's: an `Entry` knows
the targets that have no verdict yet, a verdict for anything else is ignored, and what a worker leaves behind when it
dies is taken from the entries, not from the worker.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from inplace_fuzz.core.backend import base_name
from inplace_fuzz.core.program import Program
from inplace_fuzz.core.verdict import Lane, Verdict
from inplace_fuzz.execute import frames
from inplace_fuzz.execute.environments import Site

_TAIL = 4096


@dataclass(frozen=True, slots=True)
class Limits:
    """What one worker may use: `seconds` for one program on one target, `memory_bytes` on top of the warm process's."""

    seconds: float = 60.0
    memory_bytes: int = 4 << 30
    output_bytes: int = 16 << 20
    file_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True)
class Target:
    """A backend, `tvm`, `tvm@0.26.0` or `module:ATTRIBUTE`, and the lane by which programs reach it."""

    backend: str
    lane: Lane


@dataclass(frozen=True)
class Task:
    """A program to judge. `key` is the caller's own number for it."""

    program: Program
    targets: tuple[Target, ...]
    key: int


@dataclass
class Entry:
    """A task on its way: the targets that are still owed a verdict."""

    task: Task
    owed: list[Target]
    number: int = 0  # in the order in which tasks came

    @staticmethod
    def of(task: Task, number: int = 0) -> Entry:
        return Entry(task, list(dict.fromkeys(task.targets)), number)


@dataclass
class Item:
    """Part of a task for one worker: targets of one site. With `first`, that death is to be confirmed, alone."""

    entry: Entry
    targets: list[Target]
    first: Verdict | None = None


@dataclass
class Job:
    """A worker at work, or about to be. Opening one opens its pipes; `close` closes them."""

    number: int
    items: list[Item]
    limits: Limits
    request: dict[str, Any]
    on_message: Callable[[dict[str, Any]], None]
    owner: object = None
    confirms: bool = False  # an operation whose first worker died
    site: Site = field(default_factory=lambda: Site(sys.executable))
    pid: int = 0
    started: float = 0.0
    stopped: float = 0.0  # when the order to kill it was given
    reason: str = ""
    detail: str = ""
    ended_well: bool = False
    finished: set[int] = field(default_factory=set)
    report: int = -1
    output: int = -1
    _page: int = -1
    _tail: bytes = b""
    _printed: int = 0
    _stopped_at: frames.Place | None = None
    _nonce: bytes = field(default_factory=lambda: os.urandom(frames.NONCE_BYTES))

    def __post_init__(self) -> None:
        self._reader = frames.Reader(self._nonce)

    def open(self) -> tuple[int, int, int]:
        """The worker's descriptors: the job with its shared page, the report pipe, the output pipe."""
        body = json.dumps(self.request | {"nonce": self._nonce.hex()}, separators=(",", ":")).encode()
        self._page = os.memfd_create("inplace-fuzz-job", os.MFD_CLOEXEC)
        os.ftruncate(self._page, frames.PAGE_BYTES)
        os.lseek(self._page, frames.PAGE_BYTES, os.SEEK_SET)
        frames.write_all(self._page, body)
        self.report, report = os.pipe2(os.O_CLOEXEC)
        self.output, output = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self.report, False)
        os.set_blocking(self.output, False)
        return os.dup(self._page), report, output

    def close(self) -> None:
        for fd in (self.report, self.output, self._page):
            if fd >= 0:
                with contextlib.suppress(OSError):
                    os.close(fd)
        self.report = self.output = self._page = -1

    def read_report(self) -> bool:
        """Takes what the worker has reported. False at the end of the pipe. Sets `reason` when it is garbage."""
        while True:
            try:
                data = os.read(self.report, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            if self.reason == "garbage":
                continue
            try:
                messages = self._reader.feed(data)
            except frames.Garbage as garbage:
                messages = garbage.rescued
                self.stop("garbage", f"wrote into the worker's own report: {garbage}")
            for message in messages:
                self._take(message)

    def read_output(self) -> bool:
        """Takes what the worker has printed, of which only the end is kept. False at the end of the pipe."""
        while True:
            try:
                data = os.read(self.output, 1 << 16)
            except BlockingIOError:
                return True
            if not data:
                return False
            self._printed += len(data)
            self._tail = (self._tail + data)[-_TAIL:]
            if self._printed > self.limits.output_bytes and not self.reason:
                self.stop("output", f"printed more than {self.limits.output_bytes / (1 << 20):g} MiB")

    @property
    def tail(self) -> str:
        return self._tail.decode(errors="replace")

    def stop(self, reason: str, detail: str = "") -> None:
        """Says why this worker is to be killed; the engine then does it. The first reason stands."""
        if not self.reason:
            self.reason, self.detail = reason, detail
            self._stopped_at = self.place()

    def place(self) -> frames.Place | None:
        """Where the worker is, if it says so and it can be true."""
        place = frames.read_place(self._page) if self._page >= 0 else None  # nobody has taken it up yet
        return place if place and place.program < max(len(self.items), 1) else None

    def blamed(self) -> frames.Place | None:
        """Where the worker was when it died, or when there was reason to stop it; it may have gone on since."""
        place = self._stopped_at if self.reason else self.place()
        if self.reason == "garbage":
            # It is read after it was written. What was reported before it is whole, so the next in order wrote it.
            for number, item in enumerate(self.items):
                owed = [t for t in item.targets if t in item.entry.owed]
                if owed and number not in self.finished:
                    if place and place.program == number and place.target == frames.REFERENCE:
                        return place
                    return frames.Place(
                        number, item.targets.index(owed[0]), "run", place.since if place else self.started
                    )
        return place

    def statement(self) -> str:
        """The statement that a drawer last announced."""
        return frames.read_statement(self._page)

    def overdue(self, now: float, back: float) -> bool:
        """Whether the worker has been on one target for too long, not counting what was before `back`."""
        place = self.place()
        since = max(self.started, back, place.since if place else 0.0)
        return bool(self.started) and now - since > self.limits.seconds

    def _take(self, message: dict[str, Any]) -> None:
        self._printed = 0
        if "done" in message:
            self.finished.add(message["done"])
        self.ended_well = self.ended_well or "end" in message
        self.on_message(message)

    def left(self) -> list[Item]:
        """What still has to be judged of this job, in order."""
        rest = []
        for number, item in enumerate(self.items):
            owed = [t for t in item.targets if t in item.entry.owed]
            if owed and number not in self.finished:
                rest.append(Item(item.entry, owed, item.first))
        return rest


def judging_request(items: Sequence[Item], slice_seconds: float, *, confirm: bool) -> dict[str, Any]:
    """What a worker needs to know of these items."""
    tasks = [
        {
            "program": item.entry.task.program.to_json(),
            "targets": [[base_name(t.backend), str(t.lane)] for t in item.targets],
        }
        for item in items
    ]
    return {"tasks": tasks, "slice": slice_seconds, "confirm": confirm}
