"""The whole search: big programs with planted faults, and what must hold for every start and every judge."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inplace_fuzz.core import Program, render
from inplace_fuzz.shrink import operators, rank, shrink, size, statements
from inplace_fuzz.shrink.edit import sound
from tests.shrink.shrink_planted import PLANTED, Judge, big_program, differs, lost, run
from tests.shrink.shrink_texts import forward, holding, program

FINAL = {
    "slice copy lost": "x[1:] = y\nreturn x",
    "named view write lost": "x[:] *= 0\nreturn x",
    "step lost": "x[::2] += 1\nreturn x",
    "accumulate ignored": "x.index_put_((i,), y, accumulate=True)\nreturn x",
    "index list lost": "x[[0]] = 0\nreturn x",
    "separated indices lost": "v = torch.zeros([2, 2, 2])\nv[i, :, i] = 1\nreturn v",
    "pair of indices lost": "x[i, i] = 0\nreturn x",
    "mask write lost": "x[m] = 0\nreturn x",
    "clone aliases": "v = x.clone()\nx[:] = 0\nreturn v",
    "zero lost": "x.zero_()\nreturn x",
    "last row is first": "x[-1] = 0\nreturn x",
    "index_add lost": "x.index_add_(0, i, y)\nreturn x",
    "loop-carried write lost": "x[1] += 1\nreturn x",
}


@pytest.mark.parametrize("name", PLANTED)
def test_planted_fault_is_reached(name):
    fault, _ = PLANTED[name]
    start = big_program(name)
    assert 12 <= statements(start) <= 24
    judge = Judge(lambda p: differs(p, fault))
    result = shrink(start, judge)
    assert result.finished
    assert statements(result.program) <= 3
    assert operators(result.program) <= 6
    assert judge.asked == result.candidates < 200
    assert result.program.digest in judge.accepted
    if name in FINAL:
        assert forward(result.program) == FINAL[name]
    again = shrink(result.program, Judge(lambda p: differs(p, fault)))
    assert again.program == result.program
    assert again.accepted == 0


@given(st.sampled_from(sorted(PLANTED)), st.integers(0, 1000), st.integers(3, 9))
@settings(max_examples=15, deadline=None)
def test_any_mix_of_noise_gives_a_small_program(name, seed, blocks):
    fault, _ = PLANTED[name]
    start = big_program(name, seed=seed, blocks=blocks)
    judge = Judge(lambda p: differs(p, fault))
    result = shrink(start, judge)
    if judge.accepted:  # noise may hide the fault
        assert (statements(result.program), operators(result.program)) <= (3, 6)
        assert rank(result.program) <= rank(start)
        assert result.program.digest in judge.accepted


def test_noise_does_not_matter_much_to_the_result():
    fault, _ = PLANTED["separated indices lost"]
    results = {
        forward(shrink(big_program("separated indices lost", seed=s), Judge(lambda p: differs(p, fault))).program)
        for s in range(6)
    }
    assert results == {FINAL["separated indices lost"]}


def test_keeps_a_property_of_what_eager_gives():
    def is_seven(p: Program) -> bool:
        try:
            return "7." in run(p).split("], [")[0]
        except Exception:  # noqa: BLE001  (whatever a candidate raises, it is not kept)
            return False

    start = program("v = x.clone()\nv[1:, 0] = y[:3, 1] * 2\nw = torch.cat([v, y])\nw[0] += 6\nreturn w, [v]")
    result = shrink(start, Judge(is_seven))
    assert is_seven(result.program)
    assert size(result.program)[:2] <= (1, 2)


def test_keeps_a_property_of_the_text():
    """A slice write on an input, and a read of that input after it."""
    start = big_program("slice copy lost", seed=3)
    keeps = holding(r"(?s)x\[\d*:\d*\] = .*\n.*\bx\b")
    result = shrink(start, keeps)
    assert size(result.program)[:2] == (1, 1)
    assert forward(result.program) == "x[:] = 0\nreturn x"


def test_nothing_is_returned_that_was_not_kept():
    start = big_program("zero lost")
    assert shrink(start, Judge(lambda p: False)).program is start
    only_the_start = shrink(start, Judge(lambda p: p.digest == start.digest))
    assert only_the_start.program is start
    assert only_the_start.finished


@given(st.integers(0, 2**32), st.integers(1, 40))
@settings(max_examples=8, deadline=None)
def test_ends_with_any_judge(salt, share):
    """Keeps an arbitrary part of the candidates: the search still ends, goes down, and returns what was kept."""
    start = big_program("select of slice lost", seed=salt % 7, blocks=4)
    judge = Judge(lambda p: hash((salt, p.digest)) % 40 < share or p.digest == start.digest)
    result = shrink(start, judge, max_candidates=3000)
    assert result.program.digest in judge.accepted
    assert rank(result.program) <= rank(start)
    assert sound(result.program)


def test_the_same_start_gives_the_same_path():
    fault, _ = PLANTED["select of slice lost"]
    judges = [Judge(lambda p: differs(p, fault)) for _ in range(2)]
    first, second = (shrink(big_program("select of slice lost"), j) for j in judges)
    assert judges[0].accepted == judges[1].accepted
    assert (first.program, first.candidates, first.helped) == (second.program, second.candidates, second.helped)


def test_no_candidate_is_judged_twice_and_batches_are_kept():
    seen: list[str] = []

    def keeps(group):
        assert len(group) <= 5
        seen.extend(p.digest for p in group)
        return [bool(re.search(r"mul_\(", p.source)) and sound(p) for p in group]

    shrink(big_program("named view write lost"), keeps, batch=5)
    assert len(seen) == len(set(seen))


def test_limits():
    fault, _ = PLANTED["select of slice lost"]
    start = big_program("select of slice lost")
    judge = Judge(lambda p: differs(p, fault))
    few = shrink(start, judge, max_candidates=20)
    assert few.candidates == judge.asked == 20
    assert not few.finished
    assert few.program.digest in judge.accepted
    assert not shrink(start, judge, max_seconds=0).finished


def test_ctrl_c_gives_the_best_so_far():
    fault, _ = PLANTED["slice copy lost"]
    judge = Judge(lambda p: differs(p, fault))

    def keeps(group):
        if len(judge.batches) == 6:
            raise KeyboardInterrupt
        return judge(group)

    result = shrink(big_program("slice copy lost"), keeps)
    assert result.program.digest in judge.accepted
    assert result.accepted > 0
    assert not result.finished


def test_progress_is_told():
    told: list[tuple[int, int]] = []
    fault, _ = PLANTED["zero lost"]
    result = shrink(
        big_program("zero lost"),
        Judge(lambda p: differs(p, fault)),
        progress=lambda best, judged: told.append((statements(best), judged)),
    )
    assert told[-1] == (statements(result.program), result.candidates)
    assert [s for s, _ in told] == sorted((s for s, _ in told), reverse=True)


def test_a_hand_written_report_with_everything_around():
    source = '''
import math

import torch
from torch import Tensor


def scale(v: Tensor, by: int) -> Tensor:
    """Doubles, mostly."""
    v.mul_(by)
    return v


class M(torch.nn.Module):
    """What a user wrote."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(3))
        self.drop = torch.nn.Dropout(0.5)

    def forward(self, inp: Tensor, *, debug: bool = False) -> Tensor:
        self.count += 1  # how often
        out = self.drop(inp.clone())
        if inp.sum() > 0:
            for row in range(2):
                out[row] = scale(inp[row + 1], 2)
        if debug:
            print(math.pi)
        return out + self.count
'''
    start = Program(source, program("return x", {"x": "f32[3,3]"}).calls)
    judge = Judge(lambda p: differs(p, lost("mul_", when=lambda a: a[0]._is_view())))
    result = shrink(start, judge)
    assert result.finished
    assert statements(result.program) <= 3
    assert operators(result.program) <= 6
    assert not any(word in render(result.program) for word in ("math", "Dropout", "count", "Tensor:", "print"))
