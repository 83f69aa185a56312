"""Bounded-exhaustive: every two writes through one selection each, and every write through a chain of two.

    pytest -m exhaustive tests/rewrite/test_exhaustive.py      all of it, 863,728 programs, with the count at the end

The selections are those of one 3x3 and one 2x2x2 tensor; `selections.py` says when two are one. Without the marker a
few hundred of the programs are run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.rewrite.selections import BATCH, SHAPES, Case, chains, disagreements, selections, two_writes

PARTS = 32
KINDS: dict[str, Callable[..., Iterator[Case]]] = {"two writes": two_writes, "a chain of two": chains}
MOST = 1_000_000
done: dict[str, int] = {}


def judged(shape: tuple[int, ...], cases: list[Case]) -> int:
    wrong = [text for k in range(0, len(cases), BATCH) for text in disagreements(shape, cases[k : k + BATCH])]
    assert not wrong, f"{len(wrong)} disagree, the first:\n{wrong[0]}"
    return len(cases)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_some(kind: str, shape: tuple[int, ...]) -> None:
    some = selections(shape)[:: 11 if kind == "two writes" else 1]
    cases = [case for k, first in enumerate(some) for case in [*KINDS[kind](shape, first)][k % 13 :: 131]]
    assert judged(shape, cases) > 100


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_all(kind: str, shape: tuple[int, ...], part: int) -> None:
    count = sum(judged(shape, list(KINDS[kind](shape, first))) for first in selections(shape)[part::PARTS])
    what = f"{kind}, {'x'.join(map(str, shape))}"
    done[what] = done.get(what, 0) + count


@pytest.mark.exhaustive
def test_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        for what, count in done.items():
            print(f"\n{count:>9,} programs agree: {what}", end="")
        print(f"\n{sum(done.values()):>9,} programs agree in all")
    assert sum(done.values()) <= MOST


def test_a_wrong_case_is_found_in_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that forgets the step of a slice is caught, and the case that has one is blamed, alone."""
    from inplace_fuzz.rewrite.views import VIEWS

    row = next(v for v in VIEWS if v.kind == "aten::slice")
    put = row.put
    assert put is not None
    stepped, other = (next(s for s in selections((3, 3)) if s.text == text) for text in (":, ::2", ":, 1:"))
    cases = [case for first in (other, stepped, other) for case in two_writes((3, 3), first)][::792]
    assert len(cases) == 3
    assert disagreements((3, 3), cases) == []
    monkeypatch.setitem(row.__dict__, "put", lambda g, b, w, dim, a, z, s: put(g, b, w, dim, a, z, 1))
    (wrong,) = disagreements((3, 3), cases)
    assert "::2" in wrong
