"""Starts `inplace-fuzz` as a user does, in a process of its own, and sees what becomes of it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from inplace_fuzz.execute.processes import MARKER

ROOT = Path(__file__).resolve().parents[2]
_COMMAND = (sys.executable, "-m", "inplace_fuzz.cli")


def environment(temporary: Path) -> dict[str, str]:
    temporary.mkdir(exist_ok=True)
    return {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary), "OMP_NUM_THREADS": "1"}


def ran(
    directory: Path, *arguments: str, seconds: float = 240.0, prefix: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """The finished command, run inside `directory`, by way of the command `prefix` where one is given."""
    return subprocess.run(
        [*prefix, *_COMMAND, *arguments],
        cwd=directory,
        env=environment(directory / "temporary"),
        text=True,
        capture_output=True,
        timeout=seconds,
        check=False,
    )


def started(directory: Path, *arguments: str, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """The command under way, in a session of its own, as a terminal would have it."""
    return subprocess.Popen(
        [*prefix, *_COMMAND, *arguments],
        cwd=directory,
        env=environment(directory / "temporary"),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def announced(text: str) -> list[Path]:
    """The corpus files that the output says were saved."""
    return [Path(line.split()[1]) for line in text.splitlines() if line.strip().startswith("saved ")]


def read_until_saved(process: subprocess.Popen[str]) -> str:
    """What it has printed when it announces its first finding."""
    assert process.stdout is not None
    text = ""
    while not announced(text):
        line = process.stdout.readline()
        assert line, f"it ended before it found anything:\n{text}"
        text += line
    return text


def alive(supervisor: int) -> list[str]:
    """The processes of a supervisor's sessions that still run."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARKER, "").startswith(f"{supervisor}-") and process.status() != "zombie":
                found.append(f"{process.pid} {' '.join(process.cmdline())[:100]}")
        except psutil.Error:
            continue
    return found


def assert_nothing_left(supervisor: int, directory: Path, *, patience: float = 10.0) -> None:
    """No process of it runs and no file of it is in the temporary directory, now or within a moment."""
    deadline = time.monotonic() + patience
    while alive(supervisor) or list((directory / "temporary").iterdir()):
        assert time.monotonic() < deadline, (alive(supervisor), list((directory / "temporary").rglob("*")))
        time.sleep(0.05)
