"""What a caller of the engine may rely on, with nothing dying on purpose but eager."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from inplace_fuzz.core import Program, ProgramError
from inplace_fuzz.execute.engine import Done, Engine, EngineError, Limits, OperationFailed, Result, Target, Task
from tests.execute.leftovers import no_leftovers
from tests.execute.programs import EAGER, EAGER_DIES, GOOD, planted, program

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with no_leftovers(), Engine(workers=2, limits=Limits(seconds=20, memory_bytes=1 << 30), batch=8) as engine:
        yield engine


def test_every_target_of_every_task_gets_one_result(engine: Engine) -> None:
    tasks = [Task(program(k), (EAGER, GOOD), k) for k in range(50)]
    events = list(engine.events(tasks))
    results = [e for e in events if isinstance(e, Result)]
    assert Counter((r.task.key, r.target) for r in results) == Counter((t.key, g) for t in tasks for g in t.targets)
    assert {str(r.verdict) for r in results} == {"agree"}
    assert all(0 <= r.seconds < 5 for r in results)
    assert sorted(e.task.key for e in events if isinstance(e, Done)) == list(range(50))
    for done in (e for e in events if isinstance(e, Done)):
        before = events[: events.index(done)]
        assert sum(isinstance(e, Result) and e.task is done.task for e in before) == 2


def test_tasks_are_pulled_lazily_and_an_endless_source_can_be_left(engine: Engine) -> None:
    pulled = itertools.count()
    last = 0

    def endless() -> Iterator[Task]:
        nonlocal last
        for last in pulled:
            yield Task(program(last), (GOOD,), last)

    seen = [r.task.key for r, _ in zip(engine.run(endless()), range(100), strict=False)]
    assert len(set(seen)) == 100
    assert last < 100 + 8 * 2 * 2 + 8


def test_a_source_may_have_nothing_yet(engine: Engine) -> None:
    tasks = [None, Task(program(1), (GOOD,), 1), None, None, Task(program(2), (GOOD,), 2), None]
    assert sorted(r.task.key for r in engine.run(tasks)) == [1, 2]


def test_calls_nest(engine: Engine) -> None:
    inner: list[int] = []
    outer: list[int] = []
    for result in engine.run(Task(program(k), (GOOD,), k) for k in range(40)):
        outer.append(result.task.key)
        if result.task.key % 10 == 0:
            inner += [r.task.key for r in engine.run([Task(program(k), (GOOD,), k) for k in range(5)], confirm=False)]
            assert engine.ask("describe", {"text": "import torch\nclass M: ...\ndef inputs():\n    return (1,)\n"})
    assert sorted(outer) == list(range(40))
    assert Counter(inner) == dict.fromkeys(range(5), 4)


def test_a_task_without_targets_is_done_at_once(engine: Engine) -> None:
    assert [type(e) for e in engine.events([Task(program(), (), 7)])] == [Done]


def test_eager_dying_says_nothing_about_the_backends(engine: Engine) -> None:
    tasks = [Task(program(source=EAGER_DIES), (EAGER, GOOD, planted("SEGFAULT")), 0), Task(program(1), (GOOD,), 1)]
    verdicts = {(r.task.key, r.target.backend): str(r.verdict) for r in engine.run(tasks)}
    assert verdicts == {
        (0, EAGER.backend): "invalid(SIGSEGV)",
        (0, GOOD.backend): "invalid(SIGSEGV)",
        (0, planted("SEGFAULT").backend): "invalid(SIGSEGV)",
        (1, GOOD.backend): "agree",
    }


def test_a_backend_that_cannot_be_loaded_is_an_error_of_its_own(engine: Engine) -> None:
    results = list(engine.run([Task(program(), (planted("NO_SUCH"), GOOD), 0)]))
    assert {r.target.backend: str(r.verdict) for r in results} == {
        planted("NO_SUCH").backend: "error(import)",
        GOOD.backend: "agree",
    }


def test_describing_a_file_evaluates_its_inputs(engine: Engine) -> None:
    text = (
        "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x, y):\n        return x + y\n\n\n"
        "def inputs():\n    base = torch.arange(6.0) * 2\n    return base[:3], base[3:]\n"
    )
    described = Program.from_json(engine.ask("describe", {"text": text, "name": "mine.py"})["program"])
    x, y = described.calls[0]
    assert x.values == y.values == (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)
    assert (x.offset, y.offset) == (0, 3)
    assert x.storage == y.storage is not None
    with pytest.raises(ProgramError, match=r"mine.py to make its inputs raised ZeroDivisionError"):
        engine.ask("describe", {"text": text.replace("* 2", "* (1 // 0)"), "name": "mine.py"})


def test_an_operation_that_dies_is_reported_and_harms_nothing(engine: Engine) -> None:
    text = (
        "import ctypes\nimport torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x\n\n\n"
        "def inputs():\n    return (torch.tensor([ctypes.string_at(0)[0]]),)\n"
    )
    with pytest.raises(OperationFailed) as caught:
        engine.ask("describe", {"text": text})
    assert caught.value.kind == "crash(SIGSEGV)"
    with pytest.raises(OperationFailed, match="no_such_operation"):
        engine.ask("no_such_operation", {})
    with pytest.raises(OperationFailed, match="timeout"):
        engine.ask(
            "describe", {"text": text.replace("ctypes.string_at(0)[0]", "__import__('time').sleep(9)")}, seconds=0.3
        )


def test_an_operation_whose_worker_is_killed_is_run_once_more(engine: Engine, tmp_path: Path) -> None:
    """Its worker may have died of something else, as the kernel's want of memory."""
    text = (
        "import os\nfrom pathlib import Path\nimport torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n"
        f"        return x\n\n\ndef inputs():\n    witness = Path({str(tmp_path / 'witness')!r})\n"
        "    if not witness.exists():\n        witness.touch()\n        os.kill(os.getpid(), 9)\n"
        "    return (torch.tensor([1.0]),)\n"
    )
    program = Program.from_json(engine.ask("describe", {"text": text, "trust": True})["program"])
    assert program.calls[0][0].values == (1.0,)


def test_versions_say_why_a_backend_is_not_there(engine: Engine) -> None:
    answer = engine.ask("versions", {"backends": [GOOD.backend, "no-such-backend"]})
    assert answer[GOOD.backend]["version"] == "planted 1"
    assert "no-such-backend" in answer["no-such-backend"]["unavailable"]


def test_workers_see_no_secret_and_write_where_it_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET_TOKEN", "hunter2")
    text = (
        "import os, tempfile, torch\nclass M: ...\ndef inputs():\n"
        "    open('here', 'w').close()\n    tempfile.mkstemp()\n"
        "    return (sorted(os.environ), os.getcwd(), tempfile.gettempdir(), os.environ.get('MINE', ''))\n"
    )
    with no_leftovers(), Engine(workers=1, environment={"MINE": "yes"}) as engine:
        names, cwd, temporary, mine = Program.from_json(engine.ask("describe", {"text": text})["program"]).calls[0]
        assert "MY_SECRET_TOKEN" not in names
        assert mine == "yes"
        assert cwd == temporary
        engine.ask("versions", {"backends": []})  # the next worker starts when the last one's directory is gone
        assert not list(Path(cwd).parent.glob("job/here"))


def test_an_interpreter_without_torch_is_one_clear_error(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    with (
        no_leftovers(),
        Engine(workers=1, python=str(bare)) as engine,
        pytest.raises(EngineError, match="No module named"),
    ):
        list(engine.run([Task(program(), (GOOD,), 0)]))


def test_a_compiler_that_breaks_when_imported_is_its_own_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing it kills the warm process first; after that, workers import it themselves, and die of it themselves."""
    (tmp_path / "aborting.py").write_text("import os\nos.abort()\n")
    (tmp_path / "hanging.py").write_text("import time\ntime.sleep(600)\n")
    monkeypatch.setattr("inplace_fuzz.execute.link.WARM_SECONDS", 3.0)
    limits = Limits(seconds=1, memory_bytes=1 << 30)
    environment = {"PYTHONPATH": str(tmp_path)}
    targets = (GOOD, Target("aborting:X", GOOD.lane), Target("hanging:X", GOOD.lane))
    with no_leftovers(), Engine(workers=1, limits=limits, environment=environment) as engine:
        results = list(engine.run([Task(program(k), targets[: 3 - k], k) for k in range(2)]))
    assert {(r.task.key, r.target.backend): str(r.verdict) for r in results} == {
        (0, GOOD.backend): "agree",
        (1, GOOD.backend): "agree",
        (0, "aborting:X"): "crash(SIGABRT)",
        (1, "aborting:X"): "crash(SIGABRT)",
        (0, "hanging:X"): "timeout(import)",
    }


def test_limits_too_tight_to_start_in_are_one_clear_error() -> None:
    tight = Limits(memory_bytes=-(64 << 20))
    with no_leftovers(), Engine(workers=1, limits=tight) as engine, pytest.raises(EngineError, match="memory_bytes"):
        list(engine.run([Task(program(), (GOOD,), 0)]))


def test_a_closed_engine_says_so() -> None:
    with pytest.raises(EngineError, match="with Engine"):
        list(Engine().run([]))


def test_an_engine_survives_the_thread_that_started_its_processes() -> None:
    with no_leftovers(), Engine(workers=1) as engine:
        first: list[str] = []
        thread = threading.Thread(
            target=lambda: first.extend(str(r.verdict) for r in engine.run([Task(program(), (GOOD,), 0)]))
        )
        thread.start()
        thread.join()
        process = engine._links[0].process.pid
        assert first == [str(r.verdict) for r in engine.run([Task(program(), (GOOD,), 0)])] == ["agree"]
        assert engine._links[0].process.pid == process


def test_the_supervisor_does_not_import_torch() -> None:
    code = (
        "import sys, inplace_fuzz.execute.engine as e, inplace_fuzz.execute.drawing\n"
        "from tests.execute.programs import GOOD, program\n"
        "with e.Engine(workers=1) as engine:\n"
        "    assert [str(r.verdict) for r in engine.run([e.Task(program(), (GOOD,), 0)])] == ['agree']\n"
        "sys.exit('torch' in sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, cwd="/", check=False).returncode == 0
