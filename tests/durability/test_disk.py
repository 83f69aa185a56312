"""A disk that is full: one line, exit status 2, and nothing lost of what was announced. See test_places.py too.

The disk is mounted where that is permitted (containers often do not, even to root). Where it is not, a limit on how
large any file may grow stands in for it.
"""

from __future__ import annotations

import itertools
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.durability.campaigns import Kept, Running

_PLACES = ("--corpus", "disk/corpus", "--store", "disk/store.sqlite")
_MEGABYTE = 1 << 20


class Disk:
    """A small file system of its own at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.refused = ""

    def mount(self, options: str) -> bool:
        """Whether it could be mounted; `refused` says why not."""
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "none", str(self.path)], capture_output=True, text=True, check=False
        )
        self.refused = done.stderr.strip()
        return done.returncode == 0

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", str(self.path)], check=True)

    def unmount(self) -> None:
        subprocess.run(["umount", "-l", str(self.path)], capture_output=True, check=False)

    def fill(self) -> None:
        """To the last byte."""
        with (self.path / "filler").open("wb", buffering=0) as file:
            for size in (_MEGABYTE, 4096, 1):
                while _written(file.write, b"x" * size):
                    pass

    def use_up_names(self) -> None:
        """Until no file can be made, though there is room in it."""
        (self.path / "filler").touch()
        try:
            for number in itertools.count():
                os.link(self.path / "filler", self.path / f"filler{number}")
        except OSError:
            return

    def free(self) -> None:
        for path in self.path.glob("filler*"):
            path.unlink()


def _written(write: Callable[[bytes], int], data: bytes) -> bool:
    try:
        return write(data) == len(data)
    except OSError:
        return False


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    found = Disk(tmp_path / "disk")
    yield found
    found.unmount()


def assert_one_line(text: str, *words: str) -> None:
    assert "Traceback" not in text, text
    lines = [line for line in text.splitlines() if line.startswith("inplace-fuzz:")]
    assert len(lines) == 1, text
    for word in words:
        assert word in lines[0], lines[0]


def test_the_disk_fills_up(disk: Disk, tmp_path: Path) -> None:
    mounted = disk.mount("size=16m")
    kept = Kept(tmp_path, at="disk")
    running = Running(tmp_path, seed=3, examples=40, places=_PLACES)
    assert running.wait_for_findings(1), running.text
    if mounted:
        disk.fill()
    else:
        resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (64, 64))
    assert running.end() == 2, running.text
    assert_one_line(running.text, "disk/" if mounted else "")
    kept.assert_no_process(running.process.pid)
    kept.take(running.text)
    if mounted:
        disk.free()
    kept.assert_on_disk()
    kept.assert_no_file()
    kept.resume(seed=4)
    kept.assert_replays()
