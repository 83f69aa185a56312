"""The tool catches what is planted: every wrong pass, wrong backend and death is found, blamed rightly, and shrunk.

Most are judged in this process, where that is safe and fast; deaths, and some of each kind, through the engine and the
campaign's own reducer. One seed here; three with `-m slow`. `benchmarks/planted.py` prints the table.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from inplace_fuzz.backends import load
from inplace_fuzz.core import ALL_CHANNELS, Kind, Lane, Program, TensorSpec, Verdict
from inplace_fuzz.execute.engine import Engine
from inplace_fuzz.execute.evaluate import evaluate
from tests.e2e.engine_hunting import LIMITS, VERDICT_OF_DEATH, death_of, found_by, shrunk_by
from tests.e2e.hunting import Hunted, drawn, hunt, judged, place, right_agrees, shows
from tests.execute.leftovers import no_leftovers
from tests.planted.table import BACKENDS, DEATHS, FLAKY, NAIVE, PASSES, PLANTED, UNSEEN, Fault

SEED = 1
SLOW_SEEDS = (2, 3, 4)
_BY_NAME = {fault.name: fault for fault in PLANTED}
_THROUGH_ENGINE = [_BY_NAME[n] for n in ("return-last-copy", "local-is-constant", "stale-view", "inputs-kept")]

EXPANDED = """import torch


class M(torch.nn.Module):
    def forward(self, x):
        x.expand(-1, 2)[:, 1] += 7
        return x
"""


def names(faults: tuple[Fault, ...] | list[Fault]) -> list[str]:
    return [fault.name for fault in faults]


def checked(hunted: Hunted) -> Hunted:
    """Asserts that the finding is small, is still one, and is nobody's but the planted fault's."""
    fault, minimal = hunted.fault, hunted.minimal
    assert hunted.is_small, str(hunted)
    assert shows(minimal, fault, place(fault, hunted.verdict)), str(hunted)
    return hunted


# ---------------------------------------------------------------------------------------------------- in this process
@pytest.fixture(scope="module")
def hunts() -> dict[str, Hunted]:
    """What the tests below have found, for the one that looks at all of it."""
    return {}


@pytest.mark.parametrize("fault", PLANTED, ids=names(PLANTED))
def test_a_planted_fault_is_found_and_shrunk(fault: Fault, hunts: dict[str, Hunted]) -> None:
    hunts[fault.name] = checked(hunt(fault, SEED))


def test_every_channel_catches_something(hunts: dict[str, Hunted]) -> None:
    if len(hunts) < len(PLANTED):
        pytest.skip("looks at what all hunts found; run the whole file")
    assert {c for h in hunts.values() for c in h.verdict.channels} == ALL_CHANNELS


def test_there_are_enough_of_them_and_each_says_what_is_wrong() -> None:
    assert len(PASSES) + len(NAIVE) + len(BACKENDS) + len(DEATHS) >= 30
    faults = [load(f.loads) for f in (*PLANTED, *DEATHS, *FLAKY, *UNSEEN)]
    assert len({f.name for f in faults}) == len(faults)


def test_what_differs_from_run_to_run_says_so() -> None:
    fault = _BY_NAME["random-element"]
    verdicts = [judged(p, fault) for p in itertools.islice(drawn(SEED), 40)]
    differing = [v for v in verdicts if v.kind is Kind.MISMATCH]
    assert len(differing) > 20
    # A result of one or two elements may come out wrong in the same way twice.
    assert sum(v.nondeterministic for v in differing) >= 0.8 * len(differing)


# What nothing sees today. Each is a gap of the generator or the judge, and moves to BACKENDS when that is closed.
@pytest.mark.parametrize("fault", UNSEEN, ids=names(UNSEEN))
def test_what_is_not_seen_yet_is_not_seen(fault: Fault) -> None:
    for program in drawn(SEED, fault.features, most=200):
        assert not (judged(program, fault).is_finding and right_agrees(program, fault)), (
            f"{fault.name} is seen now: move it from UNSEEN to BACKENDS\n{program.source}"
        )


# ------------------------------------------------------------------------------------------------ nothing that is right
def test_the_right_pass_is_never_found() -> None:
    """Over 300 programs: where the graph agrees with eager, what the pass makes of it does too, or is refused.

    Apart from the fault of the pass that the test after this one holds: it fails loudly, in expanded views alone.
    """
    graph = load("torchscript-graph")
    wrong = []
    for program in drawn(SEED, most=300):
        verdicts: list[Verdict] = []
        evaluate(
            program,
            [(graph, Lane.DIRECT), (graph, Lane.REWRITTEN)],
            enter=lambda where, stage: None,
            emit=lambda where, verdict, seen=verdicts: seen.append(verdict),  # type: ignore[misc]
        )
        _, given, made = verdicts
        if made.kind is Kind.ERROR and "expand" in program.source:
            continue
        if given.kind is Kind.AGREE and made.kind not in {Kind.AGREE, Kind.REFUSED}:
            wrong.append(f"{made} {made.message}\n{program.source}")
    assert not wrong, "\n".join(wrong)


def test_a_part_of_an_expanded_view_is_written() -> None:
    """Eager writes where the part shows no element twice, though the whole view does."""
    program = Program(EXPANDED, ((TensorSpec((3, 1), "float32", (1.0, 2.0, 3.0)),),))
    assert judged(program, PASSES[0], PASSES[0].right).kind in {Kind.AGREE, Kind.REFUSED}


def test_the_right_backend_is_never_found() -> None:
    verdicts = {str(judged(p, BACKENDS[0], BACKENDS[0].right)) for p in drawn(SEED, most=300)}
    assert verdicts == {"agree"}


# -------------------------------------------------------------------------------------------------- through the engine
@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with no_leftovers(), Engine(workers=1, limits=LIMITS) as engine:
        yield engine


@pytest.mark.parametrize("fault", _THROUGH_ENGINE, ids=names(_THROUGH_ENGINE))
def test_through_the_engine(engine: Engine, fault: Fault) -> None:
    finding = found_by(engine, fault, SEED)[0]
    assert finding.verdict.kind is Kind.MISMATCH
    shrunk_by(engine, fault, finding, seconds=20)


@pytest.mark.parametrize("fault", DEATHS, ids=names(DEATHS))
def test_a_death_is_found_and_shrunk(engine: Engine, fault: Fault) -> None:
    finding = death_of(engine, fault, SEED)
    assert str(finding.verdict) == VERDICT_OF_DEATH[fault.name]
    shrunk_by(engine, fault, finding, seconds=4)


def test_what_is_wrong_once_in_a_process_is_flaky(engine: Engine) -> None:
    (fault,) = FLAKY
    finding = found_by(engine, fault, SEED)[0]
    assert finding.verdict.kind is Kind.FLAKY


# ------------------------------------------------------------------------------------------------------ the slow suite
@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW_SEEDS)
@pytest.mark.parametrize("fault", PLANTED, ids=names(PLANTED))
def test_a_planted_fault_is_found_from_any_seed(fault: Fault, seed: int) -> None:
    hunted = checked(hunt(fault, seed))
    assert hunted.seconds < 60, f"{fault.name} took {hunted.seconds:.0f} s of processor time to find"


@pytest.mark.slow
@pytest.mark.parametrize("seed", SLOW_SEEDS)
@pytest.mark.parametrize("fault", DEATHS, ids=names(DEATHS))
def test_a_death_is_found_from_any_seed(engine: Engine, fault: Fault, seed: int) -> None:
    finding = found_by(engine, fault, seed)[0]
    assert str(finding.verdict) == VERDICT_OF_DEATH[fault.name]
    shrunk_by(engine, fault, finding, seconds=60)
