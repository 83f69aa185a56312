"""Option names, their values, and the one clear line for each bad one. None of these starts a worker."""

import random
import subprocess
import sys

import pytest

from inplace_fuzz.plugin.options import PROFILES, parse_time
from tests.plugin.runs import environment, run

OWNER = """
def pytest_addoption(parser):
    parser.addoption("--fuzz", action="store_true")

def test_theirs(pytestconfig):
    assert pytestconfig.getoption("--fuzz")
"""


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("5m", 300), ("1.5m", 90), ("2h", 7200)])
def test_times(text, seconds):
    assert parse_time(text, "--fuzz-time") == seconds


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--fuzz-time", "0"], "--fuzz-time must be more than zero; write for example --fuzz-time=60s"),
        (["--fuzz-time", "soon"], "--fuzz-time 'soon' is not a time; write for example --fuzz-time=90s, 5m or 2h"),
        (
            ["--fuzz-examples", "-3"],
            "--fuzz-examples '-3' is not a number of programs; write for example --fuzz-examples=200",
        ),
        (["--fuzz-seed", "x1"], "--fuzz-seed 'x1' is not a seed; write a whole number, as a run prints it"),
        (["--fuzz-profile", "weekly"], "--fuzz-profile 'weekly' is not a profile; choose from dev, ci, nightly"),
        (
            ["--fuzz-backends", "tvmm"],
            "--fuzz-backends: there is no backend 'tvmm'; choose from torchscript-graph, torchscript,",
        ),
        (["--fuzz-backends", ","], "--fuzz-backends names no backend; choose from torchscript-graph,"),
        (["--fuzz-corpus", "/proc/corpus"], "the corpus directory /proc/corpus cannot be written: "),
        (["--fuzz-report", "/proc/report"], "the directory /proc/report cannot be written: "),
    ],
)
def test_each_mistake_is_one_clear_line(tmp_path, args, message):
    status, said = run(tmp_path, "--fuzz", *args)
    errors = [line for line in said.splitlines() if line.startswith("ERROR: ")]
    assert status == 4, said
    assert len(errors) == 1
    assert errors[0].removeprefix("ERROR: ").startswith(message)
    assert "Traceback" not in said
    assert not list(tmp_path.glob("corpus"))
    if "cannot be written" in message:
        assert errors[0].endswith(f"make it writable or name another with {args[0]}")


def test_a_project_that_owns_fuzz_keeps_it_and_ours_gets_the_longer_name(tmp_path):
    conftest, _, test = OWNER.partition("\n\n")
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_theirs.py").write_text(test)
    status, said = run(tmp_path, "--fuzz")
    assert status == 0, said
    assert "1 passed" in said
    assert said.count("this project has a --fuzz of its own; ours is --inplace-fuzz") == 1
    status, said = run(tmp_path, "--inplace-fuzz", "--inplace-fuzz-time", "0")
    assert (status, "ERROR: --inplace-fuzz-time must be more than zero" in said) == (4, True)


def test_a_project_that_owns_a_longer_option_alone_clashes_too(tmp_path):
    (tmp_path / "conftest.py").write_text(
        "def pytest_addoption(parser):\n    parser.addoption('--fuzz-seed', type=int, required=False)\n"
    )
    (tmp_path / "test_theirs.py").write_text(
        "def test_theirs(pytestconfig):\n    assert pytestconfig.getoption('--fuzz-seed') == 5\n"
    )
    status, said = run(tmp_path, "--fuzz-seed", "5")
    assert (status, "ours is --inplace-fuzz" in said) == (0, True), said


def test_help_lists_the_options_also_in_a_project_that_owns_fuzz(tmp_path):
    assert "--fuzz-profile=NAME" in run(tmp_path, "--help")[1]
    (tmp_path / "conftest.py").write_text(OWNER)
    status, said = run(tmp_path, "--help")
    assert (status, "--inplace-fuzz-profile=NAME" in said) == (0, True)


def test_a_value_that_is_a_directory_does_not_hide_the_conftest_here(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "conftest.py").write_text(OWNER.partition("\n\n")[0])
    status, said = run(tmp_path, "--inplace-fuzz-report", "out", "--inplace-fuzz", "--inplace-fuzz-time", "0")
    assert (status, "must be more than zero" in said) == (4, True), said


def test_an_ordinary_run_is_left_alone(tmp_path):
    (tmp_path / "test_it.py").write_text("import sys\n\ndef test_it():\n    assert 'torch' not in sys.modules\n")
    status, said = run(tmp_path, "-W", "error", "-p", "no:cacheprovider")
    assert (status, "1 passed" in said, "inplace-fuzz:" in said) == (0, True, False), said
    assert sorted(p.name for p in tmp_path.iterdir() if p.name != "__pycache__") == ["test_it.py"]


def test_loading_the_plugin_imports_pytest_and_nothing_else_of_weight(tmp_path):
    code = (
        "import pytest, sys; before = set(sys.modules)\n"
        "import inplace_fuzz.pytest_plugin, inplace_fuzz.plugin.options\n"
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('inplace_fuzz')))"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment(tmp_path), capture_output=True, text=True, check=True
    )
    heavy = {"torch", "pandas", "matplotlib", "hypothesis", "rich", "jinja2", "sqlite3", "packaging"}
    assert heavy.isdisjoint(eval(said.stdout)), said.stdout


def test_ci_in_the_environment_freezes_no_seed(monkeypatch):
    """Seeds of the dev profile are new whatever CI says; those of the others are what their profile says."""
    assert (PROFILES["dev"].seed, PROFILES["ci"].seed, PROFILES["nightly"].seed) == ("random", "fixed", "date")
    monkeypatch.setenv("CI", "1")
    from inplace_fuzz.plugin.options import _seed

    class Config:
        def getoption(self, name, default=None):
            return default

    random.seed(0)  # neither does the state of the global generator, which test runners like to reset
    first = {_seed(Config(), "--fuzz", PROFILES["dev"]) for _ in range(8)}
    random.seed(0)
    second = {_seed(Config(), "--fuzz", PROFILES["dev"]) for _ in range(8)}
    assert len(first | second) > 12
    assert _seed(Config(), "--fuzz", PROFILES["ci"]) == 0
    assert 20260101 <= _seed(Config(), "--fuzz", PROFILES["nightly"]) < 30000101
