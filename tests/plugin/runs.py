"""Starts pytest as a user does: a process of its own, in a directory of its own, with the plugin installed.

The package need not be installed where these tests run: a directory with its `entry_points.txt` on the path is, to
pytest, an installed distribution. So the plugin is loaded as it is for users, before any conftest.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
RIGHT, WRONG, ABSENT = (f"planted_backends:{name}" for name in ("RIGHT", "WRONG", "ABSENT"))


def environment(directory, **more):
    """The user's, with the plugin as an entry point and without anything that the outer pytest has set."""
    installed = directory.parent / f"{directory.name}-installed"
    info = installed / "inplace_fuzz-0.0.dist-info"
    if not info.exists():
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: inplace-fuzz\nVersion: 0.0\n")
        (info / "entry_points.txt").write_text("[pytest11]\ninplace_fuzz = inplace_fuzz.pytest_plugin\n")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "CI", "BUILD_", "COLUMNS"))}
    env["PYTHONPATH"] = os.pathsep.join(map(str, (installed, ROOT, HERE)))
    env["OMP_NUM_THREADS"] = "1"
    return env | more


def start(directory, *args, **more):
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest", *map(str, args)],
        cwd=directory,
        env=environment(directory, **more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def run(directory, *args, **more):
    """`(exit status, everything it printed)`."""
    process = start(directory, *args, **more)
    try:
        said, _ = process.communicate(timeout=150)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return process.returncode, said


def interrupt_after(directory, text, *args):
    """Runs until a line holds `text`, then presses Ctrl-C. `(exit status, everything it printed)`."""
    process = start(directory, *args)
    said = []
    deadline = time.monotonic() + 120
    for line in process.stdout:
        said.append(line)
        if text in line:
            os.killpg(process.pid, signal.SIGINT)
            break
        assert time.monotonic() < deadline, "".join(said)
    rest, _ = process.communicate(timeout=60)
    return process.returncode, "".join(said) + rest
