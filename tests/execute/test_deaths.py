"""Each planted death gives exactly its verdict, the programs beside it get theirs, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inplace_fuzz.core import Verdict
from inplace_fuzz.execute import processes
from inplace_fuzz.execute.engine import Engine
from inplace_fuzz.execute.job import Limits, Target, Task
from tests.execute.leftovers import no_leftovers
from tests.execute.programs import GOOD, planted, program
from tests.planted.deaths import leave_a_deep_daemon


@pytest.fixture(scope="module")
def witness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("planted") / "witness"


@pytest.fixture(scope="module")
def engine(witness: Path) -> Iterator[Engine]:
    # Little memory: on a busy machine, touching much of it takes longer than the deadline.
    limits = Limits(seconds=1.5, memory_bytes=1 << 28, output_bytes=1 << 20)
    with (
        no_leftovers(),
        Engine(workers=1, limits=limits, environment={"PLANTED_WITNESS": str(witness)}) as engine,
    ):
        yield engine


def verdicts(engine: Engine, deadly: Target, *, confirm: bool = True) -> tuple[list[Verdict], list[Verdict]]:
    """Five programs on a deadly target and a good one, of which only the third sees the deadly one."""
    tasks = [Task(program(k), (GOOD, deadly, planted("GOOD")) if k == 2 else (GOOD,), k) for k in range(5)]
    results = list(engine.run(tasks, confirm=confirm))
    assert sorted(r.task.key for r in results if r.target == GOOD) == [0, 1, 2, 3, 4], "each program is judged once"
    return [r.verdict for r in results if r.target == deadly], [r.verdict for r in results if r.target == GOOD]


DEATHS = [
    ("SEGFAULT", "crash(SIGSEGV)", ""),
    ("ABORT", "crash(SIGABRT)", ""),
    ("HANG", "timeout(run)", "still in run after 1.5 s"),
    ("MEMORY", "out_of_memory(run)", ""),
    ("NATIVE_MEMORY", "out_of_memory(run)", "can't allocate memory"),
    ("FAMILY_MEMORY", "out_of_memory(run)", "MiB resident"),
    ("DAEMON", "error(run)", "left a process running in a session of its own"),
    ("DEEP_DAEMON", "error(run)", "left a process running in a session of its own"),
    ("OUTPUT", "error(run)", "printed more than 1 MiB"),
    ("GARBAGE", "error(run)", "wrote into the worker's own report"),
    ("EXIT", "crash(exit 0)", ""),
    ("POLITE_EXIT", "error(run)", "SystemExit: 0"),
    ("OVERFLOW", "crash(SIGSEGV)", ""),
    ("PARENT_KILLER", "crash(SIGKILL)", "took the process that started its worker with it"),
]


@pytest.mark.parametrize(("name", "expected", "message"), DEATHS, ids=[d[0] for d in DEATHS])
def test_a_death_gives_its_verdict_and_its_neighbours_theirs(
    engine: Engine, name: str, expected: str, message: str
) -> None:
    dead, others = verdicts(engine, planted(name))
    assert [str(v) for v in dead] == [expected]
    assert message in dead[0].message
    assert {str(v) for v in others} == {"agree"}


def test_a_child_left_by_a_stray_as_it_dies_is_killed_with_it_and_nobody_else_is_blamed() -> None:
    """The parent of a daemon may end between being seen and being killed; the daemon is then this process's child."""
    processes.hold_subreaper()
    try:
        for _ in range(20):
            leave_a_deep_daemon()
            strays = processes.escaped()
            for pid in strays:
                os.kill(pid, signal.SIGKILL)
            processes.kill_escaped(strays)
            assert processes.escaped() == []
    finally:
        processes.release_subreaper()


def test_a_process_is_as_old_as_its_start() -> None:
    before = processes.ticks()
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        assert before <= processes.started(child.pid) <= processes.ticks()
        time.sleep(0.05)
        assert processes.started(child.pid) < processes.ticks()
    finally:
        child.communicate()
    assert processes.started(child.pid) == -1


def test_a_death_that_does_not_come_again_is_flaky(engine: Engine, witness: Path) -> None:
    witness.unlink(missing_ok=True)
    dead, others = verdicts(engine, planted("FLAKY"))
    assert [str(v) for v in dead] == ["flaky(run)"]
    assert "crash(SIGABRT)" in dead[0].message
    assert {str(v) for v in others} == {"agree"}


def test_a_stopped_parent_is_replaced(engine: Engine) -> None:
    dead, others = verdicts(engine, planted("PARENT_STOPPER"), confirm=False)
    assert [str(v) for v in dead] == ["timeout(run)"]
    assert {str(v) for v in others} == {"agree"}


def test_without_confirming_the_first_death_is_believed(engine: Engine, witness: Path) -> None:
    witness.unlink(missing_ok=True)
    dead, _ = verdicts(engine, planted("FLAKY"), confirm=False)
    assert [str(v) for v in dead] == ["crash(SIGABRT)"]
