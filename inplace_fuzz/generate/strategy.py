"""`programs`, a Hypothesis strategy, and `draw_many`, which draws outside of a test."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from inplace_fuzz.core import Program
from inplace_fuzz.generate.build import HEADER, RECORD, build
from inplace_fuzz.generate.mix import DEFAULT, Mix

_AT_ONCE = 2000  # examples of one Hypothesis run; it remembers them all


def programs(
    *,
    features: Mix | None = None,
    min_statements: int = 1,
    max_statements: int = 12,
    script_only: bool = False,
    rounding: bool = False,
) -> st.SearchStrategy[Program]:
    """Draws programs that run in eager, write in place, and are exact unless `rounding` is set.

    `features` says what may be drawn, and how often. With `script_only` TorchScript compiles every program. All choices
    come from one block of bytes, of which 0 is always the simplest: a failing `@given` test shrinks to a short program.
    """
    if not 0 <= min_statements <= max_statements <= 64:
        raise ValueError("use 0 <= min_statements <= max_statements <= 64")
    mix = DEFAULT if features is None else features
    size = HEADER + RECORD * (max_statements + 1)

    def make(data: bytes) -> Program:
        return build(
            data,
            mix,
            min_statements=min_statements,
            max_statements=max_statements,
            script_only=script_only,
            rounding=rounding,
        ).program

    return st.binary(min_size=size, max_size=size).map(make)


def draw_many(
    number: int,
    count: int,
    emit: Callable[[Program], None],
    *,
    features: Mix | None = None,
    min_statements: int = 1,
    max_statements: int = 12,
    script_only: bool = False,
    rounding: bool = False,
) -> None:
    """Draws `count` programs for a seed and hands each to `emit` as it is drawn.

    The same seed, count and options give the same programs in every process. An exception from `emit` ends the drawing
    and is raised here.
    """
    strategy = programs(
        features=features,
        min_statements=min_statements,
        max_statements=max_statements,
        script_only=script_only,
        rounding=rounding,
    )
    for start in range(0, count, _AT_ONCE):
        _draw(strategy, number * 1_000_003 + start // _AT_ONCE, min(_AT_ONCE, count - start), emit)


def _draw(strategy: st.SearchStrategy[Program], number: int, count: int, emit: Callable[[Program], None]) -> None:
    # Every setting that a profile could change is set: `CI=1` loads one with derandomize=True and other limits.
    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        derandomize=False,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
    )
    @given(strategy)
    def run(program: Program) -> None:
        emit(program)

    run()
