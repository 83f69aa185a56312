"""Scores passes and compilers on the suite, each case in an isolated worker and judged like any other program.

A case with second inputs is judged with both calls on one instance. Where that does not agree, the first call is judged
alone, so that a program that was frozen on its first inputs is told from one that never came out right. Whatever reads
the program for a pass (`torch.jit.script`, `torch.export.export`) is judged too where the pass does not agree: what the
pass had to start from may be wrong already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from inplace_fuzz import conformance
from inplace_fuzz.conformance import Case
from inplace_fuzz.core.verdict import Kind, Lane, Verdict, lane_key
from inplace_fuzz.execute.engine import Engine, Target, Task

_PASSES = "inplace_fuzz.conformance.passes:"
STILL = "still writes: "  # how passes.py says so
OUTCOMES = ("agree", "refused", "mismatch", "error")
_OUTCOME = {Kind.AGREE: "agree", Kind.REFUSED: "refused", Kind.MISMATCH: "mismatch", Kind.FLAKY: "mismatch"}


@dataclass(frozen=True)
class Row:
    """What is scored. `reader` is what reads the program for it; `pure` says that it is meant to leave no write."""

    label: str
    target: Target
    reader: Target | None = None
    pure: bool = False


def _pass(label: str, attribute: str, reader: str = "") -> Row:
    front = Target(reader, Lane.DIRECT) if reader else None
    return Row(label, Target(_PASSES + attribute, Lane.DIRECT), front, pure=True)


OURS = (
    _pass("functionalize: module to TorchScript", "MODULE"),
    _pass("functionalize: module to FX", "MODULE_FX"),
    _pass("functionalize: script to TorchScript", "SCRIPT", "torchscript"),
    _pass("functionalize: trace to TorchScript", "TRACE", "torchscript-trace"),
    _pass("functionalize: export to FX", "EXPORT", _PASSES + "EXPORTED"),
)
PEERS = (
    _pass("_jit_pass_remove_mutation", "REMOVE_MUTATION", "torchscript"),
    _pass("_jit_pass_remove_inplace_ops", "REMOVE_INPLACE", "torchscript"),
    _pass("make_fx(torch.func.functionalize)", "FUNCTIONALIZE"),
    _pass("make_fx(functionalize), and views", "FUNCTIONALIZE_VIEWS"),
    _pass("torch.export, run_decompositions", "DECOMPOSED", _PASSES + "EXPORTED"),
    _pass("TS2EPConverter, run_decompositions", "CONVERTER", "torchscript"),
)


def backend_rows(lanes: dict[str, Sequence[str]], wanted: Sequence[Lane]) -> list[Row]:
    """One row for each backend and lane."""
    return [
        Row(lane_key(name, lane), Target(name, Lane(lane)))
        for name, its in lanes.items()
        for lane in its
        if Lane(lane) in wanted
    ]


@dataclass(frozen=True)
class Score:
    """One row on one case. `second` is None where there are no second inputs, or the first do not agree."""

    row: Row
    family: str
    case: Case
    first: Verdict
    second: Verdict | None
    still_writes: str
    reader_too: bool  # what reads the program for the row refuses it or gets it wrong as well

    @property
    def verdict(self) -> Verdict:
        """The verdict on the first inputs that do not agree, or `agree`."""
        return self.first if self.second is None or self.first.kind is not Kind.AGREE else self.second

    @property
    def outcome(self) -> str:
        return outcome(self.verdict)

    @property
    def reason(self) -> str:
        """One line that says what is wrong."""
        verdict = self.verdict
        where = "second inputs: " if verdict is self.second else ""
        if verdict.differences:
            d = verdict.differences[0]
            return f"{where}{d.where}{f', call {d.call + 1}' if d.call else ''}: eager {d.eager}, here {d.other}"
        return where + verdict.message


def outcome(verdict: Verdict) -> str:
    return _OUTCOME.get(verdict.kind, "error")


def chosen(families: Iterable[str], names: Iterable[str]) -> list[tuple[str, Case]]:
    """The cases of these families (all without any), or those of these names."""
    held, names = conformance.FAMILIES, set(names)
    return [(f, case) for f in (list(families) or held) for case in held[f] if not names or case.name in names]


def score(
    engine: Engine, cases: Sequence[tuple[str, Case]], rows: Sequence[Row], *, told: Callable[[int, int], None]
) -> list[Score]:
    """Every row on every case, in order. `told` hears how many of how many verdicts there are."""
    targets = tuple(row.target for row in rows)
    verdicts: dict[tuple[str, Target, bool], Verdict] = {}
    number = len(cases) * len(targets)

    def run(work: Sequence[tuple[Case, tuple[Target, ...], bool]]) -> None:
        tasks = (Task(c.first if first else c.program, t, k) for k, (c, t, first) in enumerate(work) if t)
        for result in engine.run(tasks, confirm=False):  # cases are deterministic
            case, _, first = work[result.task.key]
            verdicts[case.name, result.target, first] = result.verdict
            told(len(verdicts), number)

    run([(case, targets, False) for _, case in cases])
    doubts = []
    for _, case in cases:
        failed = [row for row in rows if outcome(verdicts[case.name, row.target, False]) != "agree"]
        readers = tuple(dict.fromkeys(row.reader for row in failed if row.reader))
        number += len(readers)
        doubts.append((case, readers, False))
        if len(case.calls) > 1:
            again = tuple(dict.fromkeys([*(row.target for row in failed), *readers]))
            number += len(again)
            doubts.append((case, again, True))
    run(doubts)
    return [_score(row, family, case, verdicts) for row in rows for family, case in cases]


def _score(row: Row, family: str, case: Case, verdicts: dict[tuple[str, Target, bool], Verdict]) -> Score:
    whole = verdicts[case.name, row.target, False]
    first = verdicts.get((case.name, row.target, True), whole)
    second = whole if len(case.calls) > 1 and first.kind is Kind.AGREE else None
    read = (
        verdicts.get((case.name, row.reader, first.kind is not Kind.AGREE and len(case.calls) > 1))
        if row.reader
        else None
    )
    seen = first if whole.kind is not Kind.AGREE else whole
    still = next((v.message for v in (whole, seen) if v.message.startswith(STILL)), "").removeprefix(STILL)
    return Score(row, family, case, first, second, still, read is not None and read.kind is not Kind.AGREE)


def as_data(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """Plain data, one entry for each row and case."""
    return [
        {
            "row": s.row.label,
            "family": s.family,
            "case": s.case.name,
            "first": str(s.first),
            "second": "" if s.second is None else str(s.second),
            "outcome": s.outcome,
            "reader_too": s.reader_too,
            "still_writes": s.still_writes,
            "reason": "" if s.outcome == "agree" else s.reason,
        }
        for s in scores
    ]
