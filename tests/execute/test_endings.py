"""However the supervisor, a warm process or a worker ends, nothing of the session stays: no process, no file."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from inplace_fuzz.execute.directory import PREFIX, InsideWorker, SessionDirectory, hold, let_go, remove_abandoned
from inplace_fuzz.execute.engine import Engine, Limits, Task
from inplace_fuzz.execute.processes import MARKER
from tests.execute.leftovers import no_leftovers
from tests.execute.programs import GOOD, planted, program

ROOT = Path(__file__).resolve().parents[2]
# A supervisor that draws and judges for ever, with one program in each batch that hangs and one that leaves a daemon.
SUPERVISOR = """
import sys
from inplace_fuzz.execute.drawing import draw
from inplace_fuzz.execute.engine import Engine, Limits, Task
from tests.execute.programs import GOOD, planted
with Engine(workers=1, limits=Limits(seconds=30), batch=4) as engine:
    with draw(engine, 1, None, wait=0.02, generator="tests.execute.programs:draw_plainly_for_ever") as drawn:
        tasks = (p and Task(p, (GOOD, {last}), k) for k, p in enumerate(drawn))
        for number, result in enumerate(engine.run(tasks)):
            print(number, flush=True)
"""


def start(last: str, directory: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(directory)}
    code = SUPERVISOR.format(last=last)
    supervisor = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert supervisor.stdout is not None
    for _ in range(3 if last == "GOOD" else 1):
        assert supervisor.stdout.readline()
    return supervisor


def of(supervisor: int) -> list[str]:
    """What is alive of a supervisor's sessions."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARKER, "").startswith(f"{supervisor}-") and process.status() != "zombie":
                found.append(f"{process.pid} {' '.join(process.cmdline())[:100]}")
        except psutil.Error:
            continue
    return found


def assert_all_gone(supervisor: int, directory: Path) -> None:
    deadline = time.monotonic() + 5
    while of(supervisor) or list(directory.iterdir()):
        assert time.monotonic() < deadline, (of(supervisor), list(directory.rglob("*")))
        time.sleep(0.02)


@pytest.mark.parametrize("last", ["GOOD", "planted('HANG')"])
def test_after_ctrl_c_nothing_is_left(tmp_path: Path, last: str) -> None:
    supervisor = start(last, tmp_path)
    assert of(supervisor.pid)
    supervisor.send_signal(signal.SIGINT)
    _, errors = supervisor.communicate(timeout=10)
    assert "KeyboardInterrupt" in errors
    assert_all_gone(supervisor.pid, tmp_path)


@pytest.mark.parametrize("last", ["GOOD", "planted('HANG')"])
def test_after_sigkill_of_the_supervisor_nothing_is_left(tmp_path: Path, last: str) -> None:
    supervisor = start(last, tmp_path)
    assert of(supervisor.pid)
    supervisor.kill()
    supervisor.communicate()
    assert_all_gone(supervisor.pid, tmp_path)


def test_killed_warm_processes_and_workers_cost_nothing() -> None:
    """Kills each in turn while programs are judged; all get their verdicts, once, and none is blamed."""
    with no_leftovers(), Engine(workers=1, limits=Limits(seconds=20), batch=4) as engine:
        results = []
        for number, result in enumerate(engine.run(Task(program(k), (GOOD,), k) for k in range(60))):
            results.append(result)
            if number == 10:
                engine._links[0].process.kill()
            if number == 20 and engine._links[0].job is not None:
                os.kill(engine._links[0].job.pid or engine._links[0].process.pid, signal.SIGKILL)
        assert sorted(r.task.key for r in results) == list(range(60))
        assert {str(r.verdict).partition("(")[0] for r in results} <= {"agree", "flaky"}
        assert sum(str(r.verdict) != "agree" for r in results) <= 3


def test_an_abandoned_run_stops_its_workers() -> None:
    with no_leftovers(), Engine(workers=1, limits=Limits(seconds=60)) as engine:
        run = engine.run([Task(program(1), (GOOD, planted("HANG")), 1)])
        next(run)
        run.close()
        began = time.monotonic()
        assert [str(r.verdict) for r in engine.run([Task(program(2), (GOOD,), 2)])] == ["agree"]
        assert time.monotonic() - began < 10


def test_a_killed_session_leaves_its_directory_to_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    abandoned, strange = tmp_path / f"{PREFIX}1-abandoned", tmp_path / f"{PREFIX}2-strange"
    (abandoned / "1" / "home").mkdir(parents=True)
    (abandoned / "lock").touch()
    strange.mkdir()
    mine = SessionDirectory()
    remove_abandoned()
    assert {p.name for p in tmp_path.iterdir()} == {mine.path.name, strange.name}
    mine.remove()
    assert list(tmp_path.iterdir()) == [strange]


@pytest.mark.parametrize("session", ["killed", "over"])
def test_a_warm_process_that_starts_after_its_supervisor_has_gone(session: str, tmp_path: Path) -> None:
    directory = tmp_path / f"{PREFIX}1-session"
    (directory / "1" / "home").mkdir(parents=True)
    (directory / "2").mkdir()  # of one that was not even started
    (directory / "1.log").touch()
    if session == "killed":
        (directory / "lock").touch()
    nobody = 1
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        arguments = [str(theirs.fileno()), str(directory / "1"), str(nobody)]
        command = [sys.executable, "-m", "inplace_fuzz.execute.zygote", *arguments]
        done = subprocess.run(command, pass_fds=[theirs.fileno()], timeout=60, check=False)
    assert done.returncode == 0
    assert directory.exists() == (session == "over")


def test_a_session_with_a_living_process_is_not_abandoned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    directory = tmp_path / f"{PREFIX}1-session"
    directory.mkdir()
    (directory / "lock").touch()
    first, second = hold(directory), hold(directory)
    let_go(directory, first)
    remove_abandoned()
    assert directory.exists()
    let_go(directory, second)
    assert not directory.exists()


def test_workers_start_no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARKER, "1-abc")
    with pytest.raises(InsideWorker, match="__main__"), Engine():
        pass
