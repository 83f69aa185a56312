"""Environments: made from an index on disk, each with a release of a planted compiler and torch alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from inplace_fuzz.core import Lane
from inplace_fuzz.execute import environments, install
from inplace_fuzz.execute.engine import Engine, EngineError, Target, Task
from inplace_fuzz.execute.environments import EnvironmentsError, Site, find, installed, site
from tests.environments.conftest import ROOT, Command
from tests.environments.local_index import PLANTED, TORCH
from tests.execute.leftovers import no_leftovers
from tests.execute.programs import GOOD, program


def test_what_was_installed_is_written_down(index: Path) -> None:
    environment = find(f"{PLANTED}@1.1")
    assert environment is not None
    assert environment.path == index / "cache" / "environments" / "planted_adapter.BACKEND@1.1"
    record = json.loads((environment.path / "environment.json").read_text())
    assert record["packages"] == ["planted-compiler==1.1", "planted-runtime==1.1", f"torch=={TORCH}+cpu"]
    assert (record["distribution"], record["version"], record["torch"]) == ("planted-compiler", "1.1", f"{TORCH}+cpu")
    assert install.changed(environment) == []
    other = find(f"{PLANTED}@1.2")
    assert other is not None
    assert "planted-extra==1" in other.packages  # which 1.2 alone needs


def test_torch_is_linked_from_an_environment_that_has_it(index: Path) -> None:
    first, second = (find(f"{PLANTED}@{version}") for version in ("1.1", "1.2"))
    assert first is not None
    assert second is not None
    (one,), (other,) = (e.path.glob("lib/*/site-packages/torch_alone.pth") for e in (first, second))
    assert one.samefile(other)
    assert f"torch {TORCH} … " in (index / "linked").read_text()
    assert f" s (linked from {PLANTED}@1.1)\n" in (index / "linked").read_text()
    (runtime,) = second.path.glob("lib/*/site-packages/planted_runtime.py")
    assert runtime.stat().st_nlink == 1


def test_each_step_is_a_line_with_its_time(index: Path) -> None:
    lines = (index / "said").read_text().splitlines()
    assert [line.split(" … ")[0].strip().partition(" with ")[0] for line in lines] == [
        "virtual environment",
        f"torch {TORCH}",
        "planted-compiler==1.1 planted-runtime==1.1",
    ]
    assert all(line.endswith(" s") for line in lines)


def test_versions_are_sites_and_a_bare_name_is_the_newest(index: Path) -> None:
    assert [e.name for e in installed()] == [f"{PLANTED}@1.1", f"{PLANTED}@1.2"]
    assert site(PLANTED).name == f"{PLANTED}@1.2"
    assert site(f"{PLANTED}@1.1").python == str(index / "cache/environments/planted_adapter.BACKEND@1.1/bin/python")
    assert site("torchscript") == Site(sys.executable)
    assert site(f"torchscript@{TORCH}") == Site(sys.executable)
    with pytest.raises(Exception, match=r"`inplace-fuzz env create planted_adapter:BACKEND==1\.0` makes it"):
        site(f"{PLANTED}@1.0")


def test_one_task_is_judged_in_several_environments(index: Path) -> None:
    """Two versions of one compiler, with eager run beside each, and a backend of our own environment."""
    columns = (f"{PLANTED}@1.1", f"{PLANTED}@1.2", PLANTED, GOOD.backend)
    with no_leftovers(), Engine(workers=2) as engine:
        answer = engine.versions([*columns, f"{PLANTED}@0.9"])
        targets = tuple(Target(name, Lane.DIRECT) for name in columns)
        results = list(engine.run(Task(program(k), targets, k) for k in range(12)))
        assert len({link.site for link in engine._links}) == 3
    assert {name: data.get("version") for name, data in answer.items()} == {
        f"{PLANTED}@1.1": "planted-compiler 1.1",
        f"{PLANTED}@1.2": "planted-compiler 1.2",
        PLANTED: "planted-compiler 1.2",
        GOOD.backend: "planted 1",
        f"{PLANTED}@0.9": None,
    }
    assert "env create planted_adapter:BACKEND==0.9" in answer[f"{PLANTED}@0.9"]["unavailable"]
    assert len(results) == 48
    assert {(r.target.backend, str(r.verdict)) for r in results} == {
        (f"{PLANTED}@1.1", "agree"),
        (f"{PLANTED}@1.2", "mismatch(values)"),
        (PLANTED, "mismatch(values)"),
        (GOOD.backend, "agree"),
    }


def test_an_environment_that_cannot_start_is_unavailable_and_harms_no_other(index: Path) -> None:
    made = find(f"{PLANTED}@1.1")
    assert made is not None
    broken = made.path.with_name("planted_adapter.BACKEND@0.7")
    (broken / "bin").mkdir(parents=True)
    (broken / "bin" / "python").write_text("#!/bin/sh\necho this disk is tired >&2\nexit 1\n")
    (broken / "bin" / "python").chmod(0o755)
    (broken / "environment.json").write_text((made.path / "environment.json").read_text().replace('"1.1"', '"0.7"'))
    try:
        with no_leftovers(), Engine(workers=1) as engine:
            answer = engine.versions([f"{PLANTED}@0.7", f"{PLANTED}@1.1"])
            assert answer[f"{PLANTED}@1.1"]["version"] == "planted-compiler 1.1"
            assert answer[f"{PLANTED}@0.7"] == {
                "unavailable": f"{PLANTED}@0.7 cannot start a worker (this disk is tired); "
                "`inplace-fuzz env doctor` looks closer"
            }
            target = Target(f"{PLANTED}@1.1", Lane.DIRECT)
            assert [str(r.verdict) for r in engine.run([Task(program(), (target,), 0)])] == ["agree"]
    finally:
        install.remove(broken)


def test_one_worker_is_enough_for_any_number_of_environments(index: Path) -> None:
    targets = tuple(Target(f"{PLANTED}@{v}", Lane.DIRECT) for v in ("1.1", "1.2"))
    with no_leftovers(), Engine(workers=1) as engine:
        seen = []
        for result in engine.run(Task(program(k), targets, k) for k in range(4)):
            seen.append(result.task.key)
            inner = list(engine.run([Task(program(9), targets, 9)]))
            assert sorted(str(r.verdict) for r in inner) == ["agree", "mismatch(values)"]
    assert sorted(seen) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_task_for_no_environment_says_what_to_type(index: Path) -> None:
    with Engine(workers=1) as engine, pytest.raises(EngineError, match=r"env create planted_adapter:BACKEND==1\.0`"):
        list(engine.run([Task(program(), (Target(f"{PLANTED}@1.0", Lane.DIRECT),), 0)]))


def test_an_environment_holds_torch_the_compiler_and_nothing_of_ours(index: Path) -> None:
    """What the workers there did above, they did without click, packaging, hypothesis and all else that we install."""
    found = find(f"{PLANTED}@1.1")
    assert found is not None
    code = (
        "import importlib.util as u, torch, planted_compiler\n"
        "assert not [n for n in ('click', 'packaging', 'hypothesis', 'pytest', 'pandas', 'psutil', 'inplace_fuzz') "
        "if u.find_spec(n)]"
    )
    subprocess.run([found.interpreter, "-I", "-c", code], check=True, timeout=60)


def test_the_newest_release_is_looked_up_and_what_is_there_is_not_made_again(index: Path) -> None:
    assert install.releases("planted-compiler") == ["1.0", "1.1", "1.2", "1.3", "2.0"]
    said: list[str] = []
    assert install.create(PLANTED, "1.2", say=said.append).name == f"{PLANTED}@1.2"
    assert "is there already" in said[0]


@pytest.mark.parametrize("adapter", ["picky_adapter", "cuda_adapter"])
def test_a_compiler_that_wants_another_torch_gets_it(index: Path, adapter: str) -> None:
    said: list[str] = []
    made = install.create(f"{adapter}:BACKEND", say=said.append)
    assert (made.version, made.torch) == ("1", "2.9.9")
    text = "".join(said)
    if adapter == "picky_adapter":
        assert "planted-picky 1 wants another torch" in text
        assert "(the index has no CPU build of it, so the one that it has)" in text
    else:
        assert "planted-picky==1 torch<2.10 with a CUDA build of torch" in text
    install.remove(made.path)
    assert find(f"{adapter}:BACKEND") is None


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "ERROR: Could not find a version that satisfies a==9\nERROR: No matching distribution found for a==9\n",
            "No matching distribution found for a==9",
        ),
        ("error: No solution found\n  cause: Because a==9 was not found\n", "Because a==9 was not found"),
        (
            "Collecting a\nERROR: Exception:\nTraceback\nOSError: [Errno 28] No space left\n",
            "OSError: [Errno 28] No space left",
        ),
        ("", "it said nothing"),
    ],
)
def test_what_an_installer_said_is_one_line(output: str, line: str) -> None:
    assert install.said(output) == line


@pytest.mark.parametrize(
    ("version", "torch", "message"),
    [
        ("9.9", "", "planted-compiler==9.9 planted-runtime==9.9 cannot be had: pip says No matching distribution"),
        ("2.0", "", "cannot be had: pip says Cannot install .*conflicting"),
        ("1.1", "1.13", "planted-compiler 1.1 is there already in planted_adapter:BACKEND@1.1 with torch"),
        ("1.3", "1.13", r"torch==1.13 cannot be had: pip says No matching distribution found for torch==1\.13"),
    ],
)
def test_what_cannot_be_had_is_one_line_and_leaves_nothing(index: Path, version: str, torch: str, message: str) -> None:
    before = sorted(environments.environments_directory().iterdir())
    with pytest.raises(EnvironmentsError, match=message) as caught:
        install.create(PLANTED, version, torch=torch)
    assert "\n" not in str(caught.value)
    assert sorted(environments.environments_directory().iterdir()) == before


def test_a_killed_create_is_recognised_and_cleared_away(index: Path, command: Command) -> None:
    """The lock says whether its maker lives; `doctor` takes away what is nobody's, and says what it found."""
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom inplace_fuzz.execute import install\n"
        "from inplace_fuzz.execute.environments import environments_directory as d\n"
        "with install._partial(d() / 'planted@7'):\n    print(flush=True)\n    time.sleep(60)\n"
    )
    maker = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE
    )
    assert maker.stdout is not None
    maker.stdout.readline()
    name = ".planted@7.partial"
    assert [(p.name, alive) for p, alive in install.partials()] == [(name, True)]
    with (
        pytest.raises(EnvironmentsError, match="planted@7 is being made by another process"),
        install._partial(environments.environments_directory() / "planted@7"),
    ):
        raise AssertionError("two at once")
    maker.send_signal(signal.SIGKILL)
    maker.communicate()
    assert [(p.name, alive) for p, alive in install.partials()] == [(name, False)]
    assert [e.name for e in installed()] == [f"{PLANTED}@1.1", f"{PLANTED}@1.2"]
    said = command("env", "doctor")
    assert said.returncode == 0, said.stderr
    assert said.stdout.splitlines() == [
        f"{name}  was left half-made; removed",
        f"{PLANTED}@1.1  ok",
        f"{PLANTED}@1.2  ok",
    ]
    assert install.partials() == []


def test_ctrl_c_leaves_nothing(index: Path) -> None:
    maker = subprocess.Popen(
        [sys.executable, "-m", "inplace_fuzz.cli", "env", "create", f"{PLANTED}==1.3"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(index)])},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not install.partials():
        assert time.monotonic() < deadline
        assert maker.poll() is None, maker.communicate()
        time.sleep(0.01)
    maker.send_signal(signal.SIGINT)
    _, errors = maker.communicate(timeout=60)
    assert (maker.returncode, errors) == (2, "inplace-fuzz: interrupted\n")
    assert install.partials() == []
    assert find(f"{PLANTED}@1.3") is None


def test_list_remove_and_an_environment_that_has_changed(index: Path, command: Command) -> None:
    made = install.create(PLANTED, "1.3")
    listed = command("env", "list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == [f"{PLANTED}@{v}" for v in ("1.1", "1.2", "1.3")]
    (found,) = made.path.glob("lib/*/site-packages/planted_runtime-1.3.dist-info")
    (found / "METADATA").unlink()
    found.rename(found.with_name("gone"))
    looked = command("env", "doctor")
    assert looked.returncode == 1
    assert "planted-runtime==1.3; make it anew: inplace-fuzz env remove" in looked.stdout
    asked = command("env", "remove", PLANTED)
    assert (asked.returncode, asked.stdout) == (2, "")
    assert asked.stderr.startswith("inplace-fuzz: say which of")
    removed = command("env", "remove", f"{PLANTED}==1.3")
    assert removed.stdout.startswith(f"removed {PLANTED}@1.3 ("), removed.stderr
    assert not made.path.exists()
    again = command("env", "remove", f"{PLANTED}==1.3")
    assert again.returncode == 2
    assert f"there is no environment {PLANTED}@1.3; there are: {PLANTED}@1.1, {PLANTED}@1.2" in again.stderr


def test_scripts_of_an_environment_start_its_own_python(tmp_path: Path) -> None:
    made, final = tmp_path / ".x.partial", tmp_path / "x"
    (made / "bin").mkdir(parents=True)
    (made / "bin" / "tool").write_text(f"#!{made}/bin/python\nprint('{made}')\n")
    (made / "bin" / "data").write_bytes(b"\0\1")
    install._move(made, final)
    assert (final / "bin" / "tool").read_text() == f"#!{final}/bin/python\nprint('{made}')\n"
    assert (final / "bin" / "data").read_bytes() == b"\0\1"


@pytest.mark.parametrize("variable", ["INPLACE_FUZZ_CACHE", "XDG_CACHE_HOME", "HOME"])
def test_where_they_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str) -> None:
    for name in ("INPLACE_FUZZ_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    below = {"INPLACE_FUZZ_CACHE": "", "XDG_CACHE_HOME": "inplace-fuzz", "HOME": ".cache/inplace-fuzz"}[variable]
    assert environments.environments_directory() == tmp_path / below / "environments"


@pytest.mark.slow
def test_a_released_compiler_in_an_environment_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPLACE_FUZZ_CACHE", str(tmp_path))
    made = install.create("tvm", "0.26.0")
    target = Target("tvm@0.26.0", Lane.DIRECT)
    with Engine(workers=1) as engine:
        assert engine.versions(["tvm@0.26.0"])["tvm@0.26.0"]["version"] == "apache-tvm 0.26.0"
        assert [str(r.verdict) for r in engine.run([Task(program(), (target,), 0)])] == ["agree"]
    assert "+cpu" in made.torch
