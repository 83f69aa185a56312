"""`programs`, a Hypothesis strategy, and `draw_many`, which draws outside of a test."""

from __future__ import annotations

from collections.abc import Callable

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from inplace_fuzz.core import Program
from inplace_fuzz.generate.build import HEADER, RECORD, build
from inplace_fuzz.generate.mix import DEFAULT, Mix
from inplace_fuzz.generate.state import Announce

_AT_ONCE = 2000  # examples of one Hypothesis run; it remembers them all


def programs(
    *,
    features: Mix | None = None,
    min_statements: int = 1,
    max_statements: int = 11,
    script_only: bool = False,
    rounding: bool = False,
) -> st.SearchStrategy[Program]:
    """Draws programs that run in eager, write in place, and are exact unless `rounding` is set.

    `features` says what may be drawn, and how often. With `script_only` TorchScript compiles every program. Between
    `min_statements` and `max_statements` are drawn; a template, or a pair of view and write, counts as one. A failing
    `@given` test shrinks to a short program: statements are elements of a list, and in each of them the choice 0 is the
    simplest.
    """
    mix = _mix(features, rounding, min_statements, max_statements)

    def make(header: bytes, records: list[bytes]) -> Program:
        return build(header, records, mix, script_only=script_only).program

    header = st.binary(min_size=HEADER, max_size=HEADER)
    record = st.binary(min_size=RECORD, max_size=RECORD)
    return st.builds(make, header, st.lists(record, min_size=min_statements, max_size=max_statements))


def draw_many(
    seed: int,
    count: int,
    emit: Callable[[Program], None],
    *,
    features: Mix | None = None,
    min_statements: int = 1,
    max_statements: int = 11,
    script_only: bool = False,
    rounding: bool = False,
    announce: Announce | None = None,
) -> None:
    """Draws `count` programs for a seed and hands each to `emit` as it is drawn.

    The same seed, count and options give the same programs in every process. An exception from `emit` ends the drawing
    and is raised here. `announce` is called with the text of each statement before it runs: eager can crash too.
    """
    mix = _mix(features, rounding, min_statements, max_statements)

    def draw(data: bytes) -> None:
        header, rest = data[:HEADER], data[HEADER:]
        wanted = min_statements + (rest[-1] * (max_statements - min_statements + 1) >> 8)
        records = [rest[k : k + RECORD] for k in range(0, RECORD * wanted, RECORD)]
        emit(build(header, records, mix, script_only=script_only, announce=announce).program)

    # One block of bytes for a whole program, rather than `programs()`: Hypothesis has nothing to copy from one part of
    # an example to another, so every program is drawn afresh, and no literal of the modules that happen to be loaded
    # has this length, so it cannot be drawn in place of random bytes.
    blocks = st.binary(min_size=HEADER + RECORD * max_statements + 1, max_size=HEADER + RECORD * max_statements + 1)
    for start in range(0, count, _AT_ONCE):
        _run(blocks, seed * 1_000_003 + start // _AT_ONCE, min(_AT_ONCE, count - start), draw)


def _mix(features: Mix | None, rounding: bool, least: int, most: int) -> Mix:
    if not 0 <= least <= most <= 64:
        raise ValueError(f"use 0 <= min_statements <= max_statements <= 64, not {least} and {most}")
    mix = DEFAULT if features is None else features
    return mix.rounding() if rounding else mix


def _run(blocks: st.SearchStrategy[bytes], number: int, count: int, draw: Callable[[bytes], None]) -> None:
    failures: list[Exception] = []

    # Every setting that a profile could change is set: `CI=1` loads one with derandomize=True and other limits.
    @hypothesis.seed(number)
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
    @given(blocks)
    def run(data: bytes) -> None:
        if failures:
            raise failures[0]  # Hypothesis runs a failing example again; the caller's function must not be
        try:
            draw(data)
        except Exception as error:
            failures.append(error)
            raise

    try:
        run()
    finally:
        if failures:
            failures[0].__dict__.pop("__notes__", None)  # how to repeat the bytes: of no use to the caller
