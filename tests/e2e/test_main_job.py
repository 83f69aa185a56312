"""The main job as a user sees it: `inplace-fuzz run`, what it leaves on disk, and how it ends when it is stopped."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from inplace_fuzz import corpus
from inplace_fuzz.campaign.store import Store
from tests.e2e.commands import announced, assert_nothing_left, ran, read_until_saved, started
from tests.execute.leftovers import no_leftovers

_PLACES = ("--corpus", "corpus", "--store", "store.sqlite")
_RUN = ("run", "--backends", "torchscript-graph", "--seed", "7", *_PLACES)
# A wrong pass that nearly every program shows, so that something is found at once.
_SOON = ("run", "--time", "10m", "--backends", "tests.planted.passes:MUTATION_INVISIBLE", "--seed", "7", *_PLACES)


@dataclass
class Job:
    directory: Path
    done: subprocess.CompletedProcess[str]

    @property
    def entries(self) -> list[Path]:
        return corpus.files(self.directory / "corpus")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """One short campaign, bounded by programs: on a busy machine seconds say little of how many there are."""
    directory = tmp_path_factory.mktemp("job")
    with no_leftovers():
        done = ran(directory, *_RUN, "--examples", "150", "--report", "report")
    return Job(directory, done)


def test_five_seconds_exit_0_with_a_heartbeat(tmp_path: Path) -> None:
    with no_leftovers():
        done = ran(tmp_path, *_RUN, "--time", "5s")
    assert_went_well(done)
    assert_nothing_left(0, tmp_path)


def assert_went_well(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("backends  torchscript-graph (torch ")
    assert any("program" in line and "new finding" in line for line in lines)


def test_a_campaign_saves_what_it_announces(job: Job) -> None:
    assert_went_well(job.done)
    assert job.entries
    saved = [job.directory / path for path in announced(job.done.stdout)]
    assert sorted(saved) == job.entries
    assert_nothing_left(0, job.directory)


def test_each_entry_replays(job: Job) -> None:
    done = ran(job.directory, "replay", *map(str, job.entries))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("as expected") >= len(job.entries)


def test_an_expectation_that_does_not_hold_fails_its_replay(job: Job, tmp_path: Path) -> None:
    entry = tmp_path / job.entries[0].name
    lines = job.entries[0].read_text().splitlines(keepends=True)
    changed = ["# " + " ".join(line.split()[1:3]).replace(" ", "   ") + "   " + "   ".join(
        [" ".join(line.split()[3:5]), "agree"]) + "\n" if "   known" in line else line for line in lines]  # fmt: skip
    entry.write_text("".join(changed))
    done = ran(job.directory, "replay", str(entry))
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"inplace-fuzz corpus update {entry}" in done.stdout


def test_the_corpus_is_listed(job: Job) -> None:
    done = ran(job.directory, "corpus", "list", "--corpus", "corpus")
    assert done.returncode == 0
    assert {line.split()[0] for line in done.stdout.splitlines()} == {path.name for path in job.entries}


def test_the_report_writes_its_files(job: Job) -> None:
    for directory, done in (
        ("report", job.done),
        ("again", ran(job.directory, "report", "--store", "store.sqlite", "--corpus", "corpus", "--out", "again")),
    ):
        assert done.returncode == 0, done.stderr
        for name in ("report.md", "report.html", "runs.csv", "junit.xml"):
            assert (job.directory / directory / name).stat().st_size > 0


def test_the_store_opens_again_with_what_was_found(job: Job) -> None:
    with Store(job.directory / "store.sqlite", read_only=True) as store:
        found = {f.entry for f in store.findings(state="found")}
    assert {Path(name).name for name in found} == {path.name for path in job.entries}


def test_a_second_run_knows_what_the_first_found(job: Job) -> None:
    before = {path: path.read_bytes() for path in job.entries}
    done = ran(job.directory, *_RUN, "--examples", "150")
    assert done.returncode == 0, done.stderr
    assert "known ones met" in done.stdout
    assert not set(before) & {job.directory / path for path in announced(done.stdout)}
    assert all(path.read_bytes() == text for path, text in before.items())


def test_a_seed_and_a_number_of_examples_draw_the_same_programs(tmp_path: Path) -> None:
    counts = []
    for name in ("one", "two"):
        done = ran(tmp_path, *_RUN[:5], "--no-save", "--examples", "25", "--corpus", name, "--store", f"{name}.sqlite")
        assert done.returncode == 0, done.stderr
        with Store(tmp_path / f"{name}.sqlite", read_only=True) as store:
            counts.append(sorted((f.program.digest, str(f.verdict)) for f in store.findings()))
    assert counts[0] == counts[1]


# ------------------------------------------------------------------------------------------------------------- stopped
@pytest.mark.parametrize("everybody", [False, True], ids=["supervisor", "terminal"])
def test_ctrl_c_ends_cleanly_with_what_was_found(tmp_path: Path, everybody: bool) -> None:
    """A terminal sends the signal to every process of the group; `kill -INT` to one."""
    process = started(tmp_path, *_SOON)
    text = read_until_saved(process)
    if everybody:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert process.returncode == 0, rest
    assert "Traceback" not in text + rest
    assert "interrupted" in rest
    assert_kept(tmp_path, text + rest)
    assert_nothing_left(process.pid, tmp_path)


def test_kill_9_of_the_supervisor_leaves_no_process_and_loses_nothing(tmp_path: Path) -> None:
    process = started(tmp_path, *_SOON)
    text = read_until_saved(process)
    process.kill()
    rest, _ = process.communicate(timeout=30)
    assert_kept(tmp_path, text + rest)
    assert_nothing_left(process.pid, tmp_path)


def assert_kept(directory: Path, text: str) -> None:
    """Every announced entry is whole on disk, and the store opens and has it."""
    paths = announced(text)
    assert paths
    for path in paths:
        assert corpus.read_entry(directory / path).expectations
    with Store(directory / "store.sqlite", read_only=True) as store:
        states = {f.entry: f.state for f in store.findings() if f.entry}
    assert {str(path) for path in paths} <= set(states), states
