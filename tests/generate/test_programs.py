"""What every drawn program is: valid, exact, printable, and what its flags say."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
import torch
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from inplace_fuzz.core import Program, parse, render
from inplace_fuzz.core.spec import specs_in
from inplace_fuzz.generate import CONTROL_FLOW, DEFAULT, ROUNDING, SHARED_INPUTS, programs
from tests.generate.program_checks import built, drawn, run_eager, run_script, run_wider, same

MODES = {
    "default": (DEFAULT, {}),
    "control flow": (CONTROL_FLOW, {}),
    "shared storage": (SHARED_INPUTS, {}),
    "rounding": (ROUNDING, {}),
    "script only": (DEFAULT, {"script_only": True}),
}


@pytest.mark.parametrize("mode", MODES)
def test_no_statement_is_ever_taken_back_and_every_call_runs(mode):
    mix, options = MODES[mode]
    for b in built(300, 11, mix, **options):
        assert b.refused == 0, b.program.source
        assert all(torch.isfinite(t).all() for t in run_eager(b.program)), b.program.source


@pytest.mark.parametrize("mode", ["default", "control flow", "shared storage"])
def test_programs_are_exact(mode):
    # A cast that is a no-op in the wider dtypes would alias there and copy here.
    mix = MODES[mode][0].changed(cast=0)
    for program in drawn(300, 12, mix):
        assert same(run_eager(program), run_wider(program)), render(program)


def test_programs_that_round_say_so():
    assert not any(p.exact for p in drawn(20, 1, ROUNDING))
    assert all(p.exact for p in drawn(20, 1))


def test_running_twice_gives_the_same_elements():
    """No program reads memory that nothing has written."""
    for program in drawn(100, 13):
        torch.full([4096], 12345.0)  # leaves something behind in freed memory
        first = run_eager(program)
        torch.full([4096], -777.0)
        assert same(first, run_eager(program)), program.source


def test_torchscript_compiles_and_runs_what_is_marked_so():
    for program in drawn(150, 14):
        if program.script:
            run_script(program)


def test_script_only_draws_nothing_else():
    for program in drawn(100, 15, script_only=True):
        assert program.script
        run_script(program)


def test_about_one_program_in_a_hundred_is_not_for_torchscript():
    share = sum(p.script for p in drawn(800, 16)) / 800
    assert 0.95 < share < 1


def test_at_least_six_statements_on_average():
    counts = [len(p.forward.body) - 1 for p in drawn(600, 17)]
    assert sum(counts) / len(counts) >= 6


def test_the_second_call_has_the_same_layouts_and_other_values():
    twice = 0
    for program in drawn(200, 18):
        if len(program.calls) == 2:
            twice += 1
            first, second = map(specs_in, program.calls)
            assert [s.layout() for s in first] == [s.layout() for s in second]
            values = [s.values for s in first], [s.values for s in second]
            assert values[0] != values[1] or all(len(set(v)) < 2 for v in values[0])
    assert twice > 180


def test_printing_and_parsing_gives_the_program_back():
    for program in drawn(200, 19, DEFAULT.changed(shared_storage=5)):
        again = parse(render(program)).program()
        assert (again.source, again.calls) == (program.source, program.calls)
        assert Program.from_json(program.to_json()) == program


def test_the_number_of_statements_can_be_bounded():
    for program in drawn(100, 20, DEFAULT.changed(template=0, pair=0), min_statements=3, max_statements=4):
        assert 3 <= len(program.forward.body) - 1 <= 4
    with pytest.raises(ValueError, match="min_statements"):
        programs(min_statements=5, max_statements=2)


def test_hypothesis_rejects_nothing():
    seen = {"whole": 0, "rejected": 0}

    @settings(max_examples=200, database=None, suppress_health_check=[HealthCheck.too_slow], deadline=None)
    @given(st.data())
    def run(data: st.DataObject) -> None:
        try:
            data.draw(programs())
        except UnsatisfiedAssumption:
            seen["rejected"] += 1
            raise
        seen["whole"] += 1

    run()
    assert seen == {"whole": 200, "rejected": 0}


@pytest.mark.parametrize("wanted", ["accumulate=True", ".diagonal(", "+= ", ".clone()\n", ".zero_()", "[x > "])
def test_hypothesis_shrinks_to_one_statement_template_or_pair(wanted):
    program = find(
        programs(),
        lambda p: wanted in p.source,
        settings=settings(max_examples=2000, database=None, deadline=None, derandomize=True),
    )
    assert len(program.forward.body) - 1 <= 5, program.source  # a pair is up to three views and two writes
    assert len(program.calls[0]) <= 2, program.source


def test_names_are_short():
    for program in drawn(100, 21):
        for node in ast.walk(program.tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                assert len(node.id) <= 3, program.source


def test_checks_see_a_program_that_rounds():
    """The check of exactness is itself checked."""
    source = (
        "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        x.div_(3)\n        return x\n"
    )
    program = next(p for p in drawn(50, 1) if p.calls[0][0].dtype == "float32" and p.calls[0][0].values)
    program = replace(program, source=source, calls=((program.calls[0][0],),))
    assert not same(run_eager(program), run_wider(program))
