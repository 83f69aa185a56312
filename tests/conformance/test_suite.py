"""The conformance suite itself: fair programs, whose second inputs take another path and fit the same call."""

from __future__ import annotations

import collections
from pathlib import Path
from typing import Any

import pytest

from inplace_fuzz.conformance import CASES, FAMILIES, FAMILY_NAMES, Case
from inplace_fuzz.core import ALL_CHANNELS, TensorSpec, Verdict, parse, render
from inplace_fuzz.execute.evaluate import open_subject

EVERY = pytest.mark.parametrize("family", FAMILY_NAMES)


def test_it_is_as_large_as_it_says() -> None:
    names = collections.Counter(case.name for case in CASES)
    assert [name for name, count in names.items() if count > 1] == []
    assert len(CASES) >= 790
    assert sum(len(case.calls) > 1 for case in CASES) >= 90
    assert min(map(len, FAMILIES.values())) >= 7


def test_the_page_names_the_real_count() -> None:
    page = " ".join((Path(__file__).parents[2] / "docs" / "conformance.md").read_text().split())
    others = sum(len(case.calls) > 1 for case in CASES)
    assert f"The suite is {len(CASES)} cases in {len(FAMILIES)} families; {others} of them have second inputs" in page


@EVERY
def test_eager_runs_every_case_and_gives_the_same_again(family: str) -> None:
    for case in FAMILIES[family]:
        subject = open_subject(case.program)
        assert not isinstance(subject, Verdict), f"{case.name}: {subject}"
        assert subject.repeats(dirty=True, channels=ALL_CHANNELS), case.name
        subject.close()


@EVERY
def test_second_inputs_fit_the_call_and_differ(family: str) -> None:
    for case in FAMILIES[family]:
        if len(case.calls) > 1:
            first, second = case.calls
            assert first != second, case.name
            assert [kind(a) for a in first] == [kind(a) for a in second] or "Optional" in case.source, case.name


def kind(arg: Any) -> Any:
    """What must not change from one call to the next: a graph may be made for it."""
    if isinstance(arg, TensorSpec):
        return arg.shape, arg.dtype, arg.storage
    if isinstance(arg, (list, tuple)):
        return [kind(a) for a in arg]
    return type(arg)


@EVERY
def test_a_case_is_a_program_file(family: str) -> None:
    """What `conformance --save` writes is read back as the same program."""
    for case in FAMILIES[family]:
        again = parse(render(case.program), name=case.name).program()
        assert again.source == case.program.source.strip("\n") + "\n", case.name
        assert repr(again.calls) == repr(case.calls), case.name  # a NaN is not equal to itself
        assert again.exact == case.program.exact


def test_what_is_said_not_to_be_script_is_not() -> None:
    """Script refuses each such case or gets it wrong; an entry that is no longer true has to go."""
    for case in CASES:
        if case.not_script:
            assert script_is_wrong(case), case.name


def script_is_wrong(case: Case) -> bool:
    from inplace_fuzz.backends.torchscript import SCRIPT
    from inplace_fuzz.core import Kind, Lane
    from inplace_fuzz.execute.evaluate import judge
    from inplace_fuzz.execute.lanes import Stage

    subject = open_subject(case.program)
    assert not isinstance(subject, Verdict)
    stage = Stage(("torchscript", "direct"), lambda _where, _name: None)
    verdict = judge(subject, SCRIPT, Lane.DIRECT, stage, confirm=False)
    subject.close()
    return verdict.kind is not Kind.AGREE
