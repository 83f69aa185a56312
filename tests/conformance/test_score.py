"""What the score says of passes whose faults are known, and in every format."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import pytest

from inplace_fuzz.conformance.score import OURS, PEERS, Row, Score, chosen, score
from inplace_fuzz.conformance.table import rendered
from inplace_fuzz.core import Kind, Lane
from inplace_fuzz.execute.engine import Engine, Target
from tests.e2e.commands import ran

_HERE = "tests.conformance.passes:"
WRONG = [Row(name, Target(_HERE + name, Lane.DIRECT), pure=True) for name in ("FROZEN", "WITHOUT_WRITE_BACK", "RAISES")]
NAMES = ("ord_item_read_between_writes", "cf_while_on_tensor", "inp_swapped", "dead_zero_add", "aug_or_of_ints")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(workers=2) as made:
        yield made


@pytest.fixture(scope="module")
def scores(engine: Engine) -> list[Score]:
    ours = [row for row in OURS if "export" not in row.label and "FX" not in row.label]
    return score(engine, chosen((), NAMES), [*ours, *WRONG], told=lambda _done, _of: None)


def of(scores: list[Score], label: str) -> dict[str, Score]:
    return {s.case.name: s for s in scores if s.row.label == label}


def test_the_pass_agrees_and_leaves_no_write(scores: list[Score]) -> None:
    mine = of(scores, "functionalize: module to TorchScript")
    assert {name: str(s.verdict) for name, s in mine.items()} == dict.fromkeys(NAMES, "agree")
    assert not any(s.still_writes for s in mine.values())
    assert mine["cf_while_on_tensor"].second is not None


def test_what_was_frozen_shows_on_the_second_inputs(scores: list[Score]) -> None:
    for label in ("FROZEN", "functionalize: trace to TorchScript"):
        frozen = of(scores, label)["cf_while_on_tensor"]
        assert frozen.first.kind is Kind.AGREE
        assert frozen.second is not None
        assert frozen.second.kind is frozen.verdict.kind is Kind.MISMATCH
        assert "second inputs" in frozen.reason


def test_a_front_end_that_is_wrong_already_is_named(scores: list[Score]) -> None:
    assert of(scores, "functionalize: trace to TorchScript")["cf_while_on_tensor"].reader_too
    lost = of(scores, "functionalize: script to TorchScript")["aug_or_of_ints"]
    assert lost.outcome == "mismatch"
    assert lost.reader_too
    assert not of(scores, "WITHOUT_WRITE_BACK")["inp_swapped"].reader_too


def test_writes_that_stay_and_writes_that_are_lost(scores: list[Score]) -> None:
    assert "aten::mul_" in of(scores, "FROZEN")["cf_while_on_tensor"].still_writes
    lost = of(scores, "WITHOUT_WRITE_BACK")["inp_swapped"]
    assert str(lost.verdict) == "mismatch(inputs)"
    assert "input x" in lost.reason
    raised = of(scores, "RAISES")["dead_zero_add"]
    assert (str(raised.verdict), raised.outcome) == ("error(build)", "error")
    assert "no such operator" in raised.reason


def test_every_format_says_the_same(scores: list[Score]) -> None:
    data = json.loads(rendered(scores, ["torch"], "json"))["scores"]
    rows = list(csv.DictReader(io.StringIO(rendered(scores, ["torch"], "csv"))))
    assert [(d["row"], d["case"], d["outcome"]) for d in data] == [(r["row"], r["case"], r["outcome"]) for r in rows]
    assert len(data) == len(NAMES) * 6
    for form in ("text", "md"):
        page = rendered(scores, ["torch 0"], form)
        assert "torch 0" in page
        for s in scores:
            assert s.outcome == "agree" or s.case.name in page
    table = rendered(scores, ["torch"], "md").splitlines()
    line = next(t for t in table if t.startswith("| RAISES"))
    assert [c.strip() for c in line.split("|")[2:7]] == ["5", "0", "0", "0", "5"]


@pytest.mark.slow
def test_the_peers_run(engine: Engine) -> None:
    """Each peer is right about a program without control flow, and one that runs the program freezes what has it."""
    rows = list(PEERS)
    found = score(engine, chosen((), ("nest_select_select", "cf_if_alias_or_fresh")), rows, told=lambda _d, _o: None)
    for s in found:
        if s.case.name == "nest_select_select":
            assert s.outcome == "agree", (s.row.label, s.reason)
        elif "functionalize" in s.row.label:
            assert s.first.kind is Kind.AGREE
            assert s.second is not None
            assert s.second.kind is Kind.MISMATCH, s.row.label


def test_the_command(tmp_path: object) -> None:
    from pathlib import Path

    here = Path(str(tmp_path))
    done = ran(here, "conformance", "--backends", "torchscript-graph", "--case", "slice_whole", "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert [r["outcome"] for r in csv.DictReader(io.StringIO(done.stdout))] == ["agree", "agree"]
    saved = ran(here, "conformance", "--save", "cases", "--family", "out")
    assert saved.returncode == 0, saved.stderr
    assert "class M" in (here / "cases/out/out_arg_cat.py").read_text()
