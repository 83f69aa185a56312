"""The pieces that the drawing rests on: choices, spans, overlap, brackets."""

from __future__ import annotations

import pytest
import torch

from inplace_fuzz.generate import exact
from inplace_fuzz.generate.choices import Choices
from inplace_fuzz.generate.indices import ONES, show
from inplace_fuzz.generate.inputs import LAYOUTS, layout, values
from inplace_fuzz.generate.overlap import meet, offsets, overlaps_itself, same_place
from inplace_fuzz.generate.splice import ALL_TEMPLATES


def test_zeros_choose_the_first_alternative_for_ever():
    choices = Choices(bytes(4))
    assert [choices.below(7) for _ in range(40)] == [0] * 40
    assert [Choices(b"").below(9), Choices(bytes(2)).weighted((3, 5))] == [0, 0]


def test_every_alternative_can_be_chosen():
    assert {Choices(bytes([b])).below(7) for b in range(256)} == set(range(7))
    assert {Choices(bytes([a, b])).below(500) for a in range(256) for b in range(256)} == set(range(500))
    assert {Choices(bytes([b])).weighted((1, 4, 2)) for b in range(256)} == {0, 1, 2}


def test_a_record_that_is_used_up_goes_on():
    choices = Choices(bytes(range(1, 11)))
    assert len({tuple(choices.byte() for _ in range(10)) for _ in range(3)}) == 3


@pytest.mark.parametrize(
    ("operation", "run"),
    [(exact.add, lambda a, b: a + b), (exact.sub, lambda a, b: a - b), (exact.mul, lambda a, b: a * b), (exact.bits, lambda a, b: a | b),
     (exact.bits, lambda a, b: a ^ b), (exact.bits, lambda a, b: a & b), (exact.hull, max), (exact.hull, min)],
)  # fmt: skip
def test_spans_hold_what_the_operation_gives(operation, run):
    for a in ((0, 5), (-3, 4), (-6, -2), (7, 7)):
        for b in ((0, 3), (-5, 2), (-2, -1), (4, 9)):
            low, high = operation(a, b)
            found = [run(p, q) for p in range(a[0], a[1] + 1) for q in range(b[0], b[1] + 1)]
            assert low <= min(found) <= max(found) <= high


def test_each_dtype_holds_its_numbers_exactly():
    for dtype, numbers in exact.NUMBERS.items():
        for value in (numbers.low, numbers.high, numbers.high - 1):
            assert torch.tensor(value, dtype=dtype).item() == value


@pytest.mark.parametrize("a", list(exact.NUMBERS))
def test_promotion_is_that_of_torch(a):
    for b in exact.NUMBERS:
        for p in (0, 1):
            for q in (0, 1):
                x, y = torch.ones([1] * p, dtype=a), torch.ones([1] * q, dtype=b)
                assert exact.promoted(a, p, b, q) == (x * y).dtype


def test_overlap_is_found():
    x = torch.arange(12.0).reshape(3, 4)
    assert offsets(x[1:, ::2]) == [4, 6, 8, 10]
    assert all(overlaps_itself(t) for t in (x[:1].expand(3, 4), x.unfold(1, 2, 1)))
    assert not any(overlaps_itself(t) for t in (x, x.t(), x[:, 1:], x.unfold(1, 2, 2), x[None], x[0, 0]))
    assert meet(x[:2], x[1:])
    assert not meet(x[0], x[1])
    assert not meet(x[:, :2], x[:, 2:])
    assert same_place(x[0], x[:1].view(4))
    assert not same_place(x[0], x[1])


@pytest.mark.parametrize("row", ONES, ids=lambda row: row.feature)
def test_a_form_reads_as_what_it_denotes(row):
    for n in (1, 2, 3, 6):
        x = torch.arange(n)
        for a in range(n):
            for b in range(a + 1, n + 1):
                thing = row.make(n, a, b)
                if thing is not None:
                    assert torch.equal(x[thing], eval(f"x[{show(thing)}]", {"x": x}))


@pytest.mark.parametrize("row", LAYOUTS, ids=lambda row: row.feature)
def test_layouts_stay_within_their_storage(row):
    for shape in ((), (3,), (2, 3), (2, 1, 3), (0, 3)):
        strides, offset, size = layout(row.place, shape)
        base = torch.arange(size)
        t = base.as_strided(shape, torch.empty(shape).stride() if strides is None else strides, offset)
        assert not t.numel() or max(offsets(t)) < size


def test_values_are_distinct_and_differ_between_calls():
    for dtype in ("float32", "bfloat16", "int64", "uint8", "int8"):
        first, second = values(dtype, 24, 1, 0), values(dtype, 24, 1, 1)
        assert len(set(first)) == len(set(second)) == 24
        assert sum(a == b for a, b in zip(first, second, strict=True)) <= 1


@pytest.mark.parametrize("row", ALL_TEMPLATES, ids=lambda row: row.feature)
def test_a_template_says_only_what_python_can_read(row):
    names = {**dict.fromkeys("xtvwrimu", "a"), "ones": "1, ", "n": "3"}
    for line in row.lines:
        for text in line.alternatives:
            compile(text.format(**names), "<template>", "exec")
