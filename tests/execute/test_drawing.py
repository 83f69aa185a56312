"""Drawing in a process of its own: the same seed gives the same, a death is told, and drawing goes on."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterator

import pytest

from inplace_fuzz.execute import drawing
from inplace_fuzz.execute.drawing import DrawerDied, Drawing, DrawingFailed, draw
from inplace_fuzz.execute.engine import Engine, Limits, Task
from tests.execute.leftovers import no_leftovers
from tests.execute.programs import GOOD, program


def fake(name: str) -> str:
    return f"tests.execute.programs:{name}"


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    with no_leftovers():
        yield


def test_a_seed_is_a_promise_across_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "STRETCH", 7)
    runs = [list(draw(sys.executable, 3, 20, generator=fake("draw_plainly"))) for _ in range(2)]
    assert runs[0] == runs[1]
    assert len(runs[0]) == len({p.source for p in runs[0] if p}) == 20
    assert runs[0][0] == program(3000)


def test_a_death_is_told_with_its_statement_and_drawing_goes_on() -> None:
    heard: list[DrawerDied] = []
    programs = list(draw(sys.executable, 5, 10, mix="x", generator=fake("draw_mixed"), on_death=heard.append))
    assert len(programs) == 10
    (death,) = heard
    assert (death.seed, death.drawn, death.statement) == (5, 2, "x[2] = 0")
    assert death.how.startswith("crash(SIGSEGV)")


def test_a_drawer_that_hangs_is_ended() -> None:
    drawn = Drawing(5, 3, generator=fake("draw_and_hang"), limits=Limits(seconds=0.5))
    with drawn:
        assert len(list(drawn)) == 3
    assert [d.how.split(":")[0] for d in drawn.deaths[:1]] == ["timeout(drawing)"]


def test_a_generator_that_never_draws_is_one_clear_error() -> None:
    with pytest.raises(DrawingFailed, match=r"5 times in a row.*ValueError: nothing comes to mind"):
        list(draw(sys.executable, 1, 10, generator=fake("draw_nothing")))
    with pytest.raises(DrawingFailed, match="no_such_module"):
        list(draw(sys.executable, 1, 10, generator="no_such_module:draw"))


def test_a_drawer_that_is_ahead_waits_and_is_not_taken_for_hung() -> None:
    with Drawing(1, None, generator=fake("draw_much"), limits=Limits(seconds=0.3)) as drawn:
        next(drawn)
        time.sleep(1)
        assert len(list(itertools.islice(drawn, 200))) == 200
        assert drawn.deaths == []


def test_with_wait_nothing_yet_is_none() -> None:
    with Drawing(1, 2, generator=fake("draw_plainly"), wait=0.01) as drawn:
        assert next(drawn) is None
        assert [p for p in drawn if p] == [program(1000), program(1001)]


def test_drawing_feeds_an_engine() -> None:
    with Engine(workers=1) as engine, draw(engine, 2, 60, wait=0.02, generator=fake("draw_plainly")) as drawn:
        tasks = (p and Task(p, (GOOD,), k) for k, p in enumerate(drawn))
        assert len(list(engine.run(tasks))) == 60


def test_the_real_generator_draws_and_names_its_mixes() -> None:
    with draw(sys.executable, 11, 12, mix="control-flow") as drawn:
        assert len(list(drawn)) == 12
    with pytest.raises(DrawingFailed, match=r"there is no mix 'no-such'; choose from .*control-flow"):
        list(draw(sys.executable, 11, 12, mix="no-such"))
