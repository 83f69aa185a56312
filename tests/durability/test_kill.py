"""`kill -9` of any part of a campaign, at any moment: nothing that was announced is lost, and nothing is left behind.

    pytest tests/durability                    a few moments
    pytest tests/durability -m slow            50 moments; INPLACE_FUZZ_MOMENTS=0:200 for others

A moment is drawn from its number alone: whom, after how many findings, and after how long a wait from there.
"""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from inplace_fuzz.campaign.store import Store
from tests.durability.campaigns import BACKEND, FATAL, VICTIMS, Kept, Running, kill

_FIRST, _LAST = map(int, os.environ.get("INPLACE_FUZZ_MOMENTS", "0:50").split(":"))


@dataclass(frozen=True)
class Moment:
    number: int
    victim: str
    findings: int
    seconds: float

    @staticmethod
    def drawn(number: int) -> Moment:
        rng = random.Random(f"moment {number}")
        findings = rng.choice((0, 0, 1, 1, 2, 4))
        return Moment(number, VICTIMS[number % len(VICTIMS)], findings, rng.uniform(0, 4.0 if not findings else 1.5))

    def __str__(self) -> str:
        return f"{self.number}: {self.victim}, {self.seconds:.2f} s after finding {self.findings}"


def killed_at(moment: Moment, directory: Path) -> Kept:
    kept = Kept(directory)
    running = Running(directory, seed=moment.number)
    running.wait_for_findings(moment.findings)
    started = time.monotonic()
    running.wait_for(lambda: time.monotonic() - started > moment.seconds)
    hit = kill(running, moment.victim)
    status = running.end()
    kept.take(running.text)
    kept.assert_no_process(running.process.pid)
    if moment.victim not in FATAL or not hit:
        assert status == 0, running.text
        assert judged(directory) == running.examples
    if moment.victim != "everybody":
        kept.assert_no_file()
    kept.resume(seed=moment.number + 1000)
    kept.assert_replays()
    return kept


def judged(directory: Path) -> int:
    """How many programs have a verdict."""
    with Store(directory / "store.sqlite", read_only=True) as store:
        (row,) = store.rows("SELECT sum(programs) AS programs FROM tally WHERE backend = ?", (BACKEND,))
    return int(row["programs"])


def test_everybody_is_killed_after_a_finding(tmp_path: Path) -> None:
    assert killed_at(Moment(0, "everybody", 1, 0.0), tmp_path).announced


def test_a_campaign_outlives_all_that_works_for_it(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    running = Running(tmp_path, seed=1)
    for victim in ("drawer", "worker", "warm worker", "warm drawer"):
        assert kill(running, victim), running.text
    assert running.end() == 0, running.text
    kept.take(running.text)
    assert judged(tmp_path) == running.examples
    kept.assert_no_process(running.process.pid)
    kept.assert_no_file()


@pytest.mark.slow
@pytest.mark.parametrize("moment", [Moment.drawn(k) for k in range(_FIRST, _LAST)], ids=str)
def test_a_random_moment(moment: Moment, tmp_path: Path) -> None:
    killed_at(moment, tmp_path)
