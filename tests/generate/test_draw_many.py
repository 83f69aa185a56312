"""`draw_many`: the same programs for the same seed, wherever it runs."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

import pytest

from inplace_fuzz.core import render
from inplace_fuzz.generate import DEFAULT, ROUNDING, draw_many

SCRIPT = """
import hashlib
from inplace_fuzz.core import render
from inplace_fuzz.generate import draw_many
digest = hashlib.sha256()
draw_many({seed}, 60, lambda program: digest.update(render(program).encode()))
print(digest.hexdigest())
"""


def in_process(seed: int, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT.format(seed=seed)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_same_seed_gives_the_same_programs_in_every_process():
    digest = hashlib.sha256()
    draw_many(7, 60, lambda program: digest.update(render(program).encode()))
    assert in_process(7, PYTHONHASHSEED="1", CI="") == digest.hexdigest()


def test_in_continuous_integration_seeds_still_differ():
    """`CI=1` loads a Hypothesis profile that is derandomised."""
    digest = hashlib.sha256()
    draw_many(7, 60, lambda program: digest.update(render(program).encode()))
    assert in_process(7, PYTHONHASHSEED="2", CI="1") == digest.hexdigest() != in_process(8, CI="1")


def test_all_are_drawn_and_nearly_all_differ():
    found = []
    draw_many(3, 300, found.append)
    assert len(found) == 300
    assert len({p.digest for p in found}) > 295


def test_another_mix_draws_other_programs():
    found, other = [], []
    draw_many(3, 20, found.append)
    draw_many(3, 20, other.append, features=DEFAULT.changed(view=0))
    assert found != other


def test_an_exception_ends_the_drawing():
    seen = []

    def stop(program: object) -> None:
        seen.append(program)
        if len(seen) == 5:
            raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        draw_many(1, 50, stop)
    assert len(seen) == 5


def test_nothing_is_drawn_for_a_count_of_zero():
    draw_many(1, 0, lambda program: pytest.fail("drew a program"))


def test_each_statement_is_announced_before_it_runs():
    said, found = [], []
    draw_many(5, 10, found.append, announce=said.append, features=DEFAULT.changed(template=0))
    lines = [line.strip() for p in found for line in p.source.split("\n        ")[1:] if "return" not in line]
    assert said == [line for line in lines if not line.startswith(("super", "self.register_buffer"))]


def test_programs_that_round_are_marked():
    found = []
    draw_many(5, 10, found.append, rounding=True)
    draw_many(5, 10, found.append, features=ROUNDING)
    assert found[:10] == found[10:]
    assert not any(p.exact for p in found)
