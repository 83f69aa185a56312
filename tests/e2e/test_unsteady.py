"""What is wrong in another way each time is a mismatch; what is wrong once and then right is flaky, and fails nothing.

first run     second run    verdict
wrong         wrong, else   mismatch, marked as different from run to run
wrong         the same      mismatch
wrong         right         flaky
raises        raises        error
raises        wrong         error, marked
raises        right         flaky
wrong         raises        mismatch, marked
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from inplace_fuzz import corpus
from inplace_fuzz.backends import load
from inplace_fuzz.campaign.store import Store
from inplace_fuzz.core import Kind, Lane, Program, TensorSpec, Verdict
from inplace_fuzz.execute.engine import Engine, Target, Task
from tests.e2e.commands import assert_nothing_left, ran
from tests.planted import unsteady

_MODULE = "tests.planted.unsteady"
MODULE = """import torch


class M(torch.nn.Module):
    def forward(self, x):
        x[0] = 7
        return x * 2


def inputs():
    return (torch.arange(3.0),)
"""
PROGRAM = Program(MODULE.partition("\n\ndef inputs")[0] + "\n", ((TensorSpec((3,), "float32", (1.0, 2.0, 3.0)),),))

VERDICTS = {
    # the backend: (its verdict, whether it is marked)
    "NEVER_THE_SAME": ("mismatch(values)", True),
    "ALWAYS_THE_SAME": ("mismatch(values)", False),
    "WRONG_BY_TURNS": ("flaky(values)", False),
    "ALWAYS_RAISES": ("error(run)", False),
    "RAISES_OR_WRONG": ("error(run)", True),
    "RAISES_BY_TURNS": ("flaky(run)", False),
    "WRONG_OR_RAISES": ("mismatch(values)", True),
}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(workers=1) as engine:
        yield engine


@pytest.fixture(scope="module")
def seen(engine: Engine) -> dict[str, list[Verdict]]:
    """What the real engine gives for each of them, for three programs one after the other."""
    verdicts: dict[str, list[Verdict]] = {}
    for name in VERDICTS:
        target = Target(f"{_MODULE}:{name}", Lane.DIRECT)
        tasks = [Task(Program(f"{PROGRAM.source}# {k}\n", PROGRAM.calls), (target,), k) for k in range(3)]
        verdicts[name] = [r.verdict for r in engine.run(tasks)]
    return verdicts


@pytest.mark.parametrize("name", VERDICTS)
def test_two_runs_make_one_verdict(seen: dict[str, list[Verdict]], name: str) -> None:
    verdicts = seen[name]
    assert len(verdicts) == 3
    assert {(str(v), v.nondeterministic) for v in verdicts} == {VERDICTS[name]}


def test_a_flaky_error_says_what_it_was(seen: dict[str, list[Verdict]]) -> None:
    assert {v.message for v in seen["RAISES_BY_TURNS"]} == {"error(run) once (ValueError: not this time), then agree"}


def test_they_are_all_here() -> None:
    names = {name for name, value in vars(unsteady).items() if name.isupper()}
    assert names == set(VERDICTS)
    assert len({load(f"{_MODULE}:{name}").name for name in names}) == len(names)


@pytest.mark.slow
def test_check_shows_what_is_flaky_and_does_not_fail(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(MODULE)
    done = ran(tmp_path, "check", "net.py:M", "--backends", f"{_MODULE}:WRONG_BY_TURNS")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "flaky(values)" in done.stdout
    done = ran(tmp_path, "check", "net.py:M", "--backends", f"{_MODULE}:NEVER_THE_SAME")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "mismatch(values) (differs from run to run)" in done.stdout


@pytest.mark.slow
def test_a_campaign_reports_what_is_flaky_and_announces_what_is_not(tmp_path: Path) -> None:
    names = ("WRONG_BY_TURNS", "RAISES_BY_TURNS", "NEVER_THE_SAME")
    backends = ",".join(f"{_MODULE}:{name}" for name in names)
    places = ("--corpus", "corpus", "--store", "store.sqlite", "--report", "report")
    done = ran(tmp_path, "run", "--backends", backends, "--seed", "5", "--examples", "12", *places)
    assert done.returncode == 0, done.stdout + done.stderr
    with Store(tmp_path / "store.sqlite", read_only=True) as store:
        found = list(store.findings())
    steady = [f for f in found if f.backend.endswith("NEVER_THE_SAME")]
    flaky = [f for f in found if f not in steady]
    assert len(flaky) >= 20
    assert {(f.verdict.kind, f.state, f.entry) for f in flaky} == {(Kind.FLAKY, "unstable", "")}
    assert {f.verdict.kind for f in steady} == {Kind.MISMATCH}
    assert sum(f.verdict.nondeterministic for f in steady) >= len(steady) - 1
    entries = [corpus.read_entry(path) for path in corpus.files(tmp_path / "corpus")]
    assert entries
    rows = [row for entry in entries for row in entry.expectations if row.is_fault]
    assert {row.backend.partition(":")[2] for row in rows} <= {"NEVER_THE_SAME", "WRONG_BY_TURNS", "RAISES_BY_TURNS"}
    assert all("differs from run to run" in row.note for row in rows if row.backend.endswith("NEVER_THE_SAME"))
    report = (tmp_path / "report" / "report.md").read_text()
    assert "WRONG_BY_TURNS" in report
    assert "RAISES_BY_TURNS" in report
    assert_nothing_left(0, tmp_path)
