"""Shrinking does not walk into what eager leaves undefined."""

import re

import pytest

from inplace_fuzz.core import TensorSpec, default_spec
from inplace_fuzz.shrink import shrink
from inplace_fuzz.shrink.doubts import doubts
from tests.shrink.shrink_texts import forward, holding, program

COUNTS = [
    ("x[[0, 0]] = y[:2]\nreturn x", 1),
    ("x[[0, 0]] = 1\nreturn x", 0),
    ("x[[0, 1]] = y[:2]\nreturn x", 0),
    ("x[[0, 0], [0, 1]] = z[:2]\nreturn x", 0),
    ("x[[0, 0], [1, 1]] = z[:2]\nreturn x", 1),
    ("v = torch.tensor([1, 1])\nx[v] += y[:2]\nreturn x", 1),
    ("x.index_put_((torch.tensor([1, 1]),), y[:2])\nreturn x", 1),
    ("x.index_put_((torch.tensor([1, 1]),), y[:2], accumulate=True)\nreturn x", 0),
    ("x.index_put_((torch.tensor([1, 1]),), y[:2], True)\nreturn x", 0),
    ("x.index_copy_(0, torch.tensor([1, 1]), y[:2])\nreturn x", 1),
    ("x.index_add_(0, torch.tensor([1, 1]), y[:2])\nreturn x", 0),
    ("return y[torch.tensor([1, 1])]", 0),
    ("x[1:] = x[:-1]\nreturn x", 1),
    ("x[1:].copy_(x[:-1])\nreturn x", 1),
    ("x[1:] = x[:-1].clone()\nreturn x", 0),
    ("x[1:] = x[:-1] + 1\nreturn x", 0),
    ("v = x[1:]\nv += x[:-1]\nreturn x", 1),
    ("x[1:] = y[:-1]\nx += x\nreturn x", 0),
    ("v = torch.empty([2])\nreturn v", 1),
    ("v = torch.empty([2])\nv.fill_(1)\nreturn v", 0),
    ("v = torch.empty([2])\nv[:] = 1\nreturn v", 0),
    ("v = torch.empty([2])\nv[0] = 1\nreturn v", 1),
    ("v = torch.empty([2]).fill_(1)\nreturn v", 0),
]


@pytest.mark.parametrize(("body", "count"), COUNTS)
def test_doubts(body, count):
    assert doubts(program(body)) == count


def test_doubts_see_the_values_of_every_call():
    start = program("x[i] = y[:2]\nreturn x")
    again = TensorSpec((2,), "int64", (3, 3))
    x, y, _ = start.calls[0]
    assert doubts(start) == 0
    assert doubts(start.with_calls(*start.calls, (x, y, again))) == 1


def test_an_index_does_not_come_to_repeat():
    start = program("x[i] = y[:3]\nreturn x", {"x": "f32[4,3]", "i": "i64[3]", "y": "f32[4,3]"})
    result = shrink(start, holding(r"\[i\] = y")).program
    values = result.calls[0][1].values
    assert len(set(values)) == len(values)


def test_accumulate_is_not_dropped_where_an_index_repeats():
    start = program("x.index_put_((i,), y, accumulate=True)\nreturn x")
    start = start.with_calls((default_spec("f32[4]"), default_spec("f32[2]"), TensorSpec((2,), "int64", (1, 1))))
    result = shrink(start, holding(r"\(i,\), \w", unless=lambda p: len(set(p.calls[0][-1].values)) > 1)).program
    assert "accumulate=True" in forward(result) or re.search(r"\(i,\), [01]\)", forward(result))


def test_a_fill_of_an_empty_tensor_is_not_deleted():
    start = program("v = torch.empty([3])\nv.fill_(2)\nv[0] = x[0, 0]\nreturn v")
    result = shrink(start, holding("empty")).program
    assert doubts(result) == 0
