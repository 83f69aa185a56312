"""Sweeps of the pass: they go on where they stopped, and lose nothing to wrong passes, dead workers or `kill -9`."""

from __future__ import annotations

import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from inplace_fuzz.campaign.sweep import SweepConfig, chunk_seed, sweep
from inplace_fuzz.campaign.sweep_state import SweepState
from inplace_fuzz.campaign.sweep_text import finding_text, pair_lines, table_lines
from inplace_fuzz.execute.pairs import METADATA, TABLES, impossible
from tests.e2e.commands import assert_nothing_left, ran, started

PLANTED = "tests.campaign.sweep_planted"


def swept(
    state: Path, programs: int, *, chunk: int = 20, rewrite: str = "inplace_fuzz.rewrite:rewrite_graph"
) -> list[int]:
    """How many programs the state held after each chunk."""
    heard: list[int] = []
    config = SweepConfig(programs, state, chunk=chunk, rewrite=rewrite)
    sweep(config, lambda store: heard.append(store.programs("default")))
    return heard


def test_a_sweep_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.sqlite"
    assert swept(path, 50) == [20, 40, 50]
    assert swept(path, 80) == [70, 80]
    assert swept(path, 80) == []
    with SweepState(path) as state:
        assert state.done("default") == {0, 1, 2, 3, 4}
        counts = state.outcomes("default")
        assert sum(counts.values()) == 80
        assert counts["agree"] > 70
        assert "disagree" not in counts
        pairs = state.pairs("default")
        assert len(pairs) > 100
        assert not [pair for pair in pairs if impossible(*pair)]
        for table, *words in pairs:
            _, firsts, seconds = TABLES[table]
            assert {words[0], words[1]} <= {*firsts, *seconds, *METADATA}
        text = "\n".join(table_lines(state))
        assert "mix default: 80 programs" in text
        assert "view x write" in text
        assert "impossible: it takes two dimensions" in "\n".join(pair_lines(state, "default"))


def test_each_chunk_has_a_seed_of_its_own() -> None:
    seeds = {chunk_seed(seed, mix, n) for seed in (0, 1) for mix in ("default", "rounding") for n in range(500)}
    assert len(seeds) == 2000


def test_what_a_wrong_pass_does_is_kept_and_judged_again(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    swept(path, 40, rewrite="tests.planted.passes:STALE_VIEW")
    with SweepState(path) as state:
        found = list(state.findings())
        assert found
        assert "mismatch(" in finding_text(found[0])
        assert "def forward(self" in finding_text(found[0])
        assert sum(n for _, n in state.details("default", "disagree")) == len(found)
    swept(path, 40)
    with SweepState(path) as state:
        assert {f.now for f in state.findings()} == {"agree"}
        assert len({f.found_by for f in state.findings()} | {f.checked for f in state.findings()}) == 2
        assert f"of {len(found)} that disagreed, by now {len(found)} agree" in "\n".join(table_lines(state))


@pytest.mark.parametrize(
    ("name", "said"), [("kills", "the process died: crash(SIGSEGV)"), ("raises", "the pass raised KeyError")]
)
def test_a_pass_that_dies_or_raises_costs_no_other_program(tmp_path: Path, name: str, said: str) -> None:
    path = tmp_path / "state.sqlite"
    swept(path, 24, chunk=24, rewrite=f"{PLANTED}:{name}")
    with SweepState(path) as state:
        found = list(state.findings())
        assert 0 < len(found) < 6
        assert all(f.detail.startswith(said) and ".diagonal(" in f.program.source for f in found)
        counts = state.outcomes("default")
        assert sum(counts.values()) == 24
        assert counts["disagree"] == len(found)


def held(path: Path) -> tuple[int, int]:
    """The programs of the finished chunks, and those of all outcomes."""
    if not path.exists():
        return 0, 0
    try:
        with closing(sqlite3.connect(path, timeout=30)) as db:
            chunks = db.execute("SELECT coalesce(sum(programs), 0) FROM chunk").fetchone()[0]
            return chunks, db.execute("SELECT coalesce(sum(programs), 0) FROM tally").fetchone()[0]
    except sqlite3.OperationalError:  # the tables are not made yet
        return 0, 0


def test_kill_minus_9_loses_no_finished_chunk_and_counts_none_twice(tmp_path: Path) -> None:
    path = tmp_path / "state.sqlite"
    process = started(tmp_path, "sweep", "--programs", "100000", "--chunk", "5", "--state", str(path))
    deadline = time.monotonic() + 120
    while held(path)[0] < 10:
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    chunks, outcomes = held(path)
    assert chunks == outcomes >= 10
    assert_nothing_left(process.pid, tmp_path)
    again = ran(tmp_path, "sweep", "--programs", str(chunks + 5), "--chunk", "5", "--state", str(path))
    assert again.returncode == 0, again.stderr
    assert f"mix default: {chunks + 5} programs" in again.stdout
    assert held(path) == (chunks + 5, chunks + 5)


def command(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ran(directory, "sweep", *arguments)


def test_what_a_user_gets_wrong_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database" * 400)
    for arguments, said in (
        (("--table", "--state", "none.sqlite"), "run inplace-fuzz sweep first"),
        (("--table", "--state", "text"), "name another with --state"),
        (("--pass", "inplace_fuzz.rewrite", "--programs", "1"), "write module:function"),
        (("--pass", "inplace_fuzz.rewrite:it", "--programs", "1"), "there is no pass 'inplace_fuzz.rewrite:it'"),
    ):
        done = command(tmp_path, *arguments)
        assert done.returncode == 2, done
        assert said in done.stderr
        assert "Traceback" not in done.stderr
