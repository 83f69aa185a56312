"""Each channel on its own: what differs is reported on that channel, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from inplace_fuzz.core import ALL_CHANNELS, OUTPUT_CHANNELS, Channel, Kind, TensorSpec
from inplace_fuzz.core.materialize import CallMaker
from inplace_fuzz.core.observation import Observation
from inplace_fuzz.judge.compare import compare, number, show_values
from inplace_fuzz.judge.observe import CallFailed, observe

X = TensorSpec((3,), "float32", (1.0, 2.0, 3.0))


def seen(function: Callable[..., object], *specs: TensorSpec, calls: int = 2) -> Observation:
    return observe(function, (CallMaker(specs or (X,)),) * calls, names=("x", "y"))


def channels(eager: Callable[..., object], other: Callable[..., object], *specs: TensorSpec) -> tuple[Channel, ...]:
    verdict = compare(seen(eager, *specs), seen(other, *specs), ALL_CHANNELS)
    assert (verdict.kind is Kind.AGREE) == (not verdict.channels)
    return verdict.channels


constant = torch.zeros(2)


def after(x: torch.Tensor, do: Callable[[torch.Tensor], object], result: Callable[[torch.Tensor], object]) -> object:
    do(x)
    return result(x)


CASES = {
    "the same": (lambda x: x + 1, lambda x: 1 + x, ()),
    "values": (lambda x: x + 1, lambda x: x + 2, ("values",)),
    "dtype": (lambda x: x + 1, lambda x: (x + 1).double(), ("dtype",)),
    "shape": (lambda x: x + 1, lambda x: (x + 1)[None], ("shape",)),
    "tuple for list": (lambda x: (x + 1,), lambda x: [x + 1], ("structure",)),
    "one output less": (lambda x: (x + 1, x + 2), lambda x: (x + 1,), ("structure",)),
    "other keys": (lambda x: {"a": x + 1}, lambda x: {"b": x + 1}, ("structure",)),
    "number": (lambda x: 3, lambda x: 4, ("values",)),
    "kind of number": (lambda x: 3, lambda x: 3.0, ("structure",)),
    "strides": (lambda x: torch.ones(2, 3), lambda x: torch.ones(3, 2).t(), ("strides",)),
    "strides of size one": (lambda x: torch.ones(1, 3), lambda x: torch.ones(3, 1).t(), ()),
    "strides of nothing": (lambda x: torch.ones(0, 3), lambda x: torch.ones(3, 0).t(), ()),
    "input not written": (
        lambda x: after(x, lambda t: t.zero_(), lambda t: t + 1),
        lambda x: x * 0 + 1,
        ("inputs",),
    ),
    "input turned": (
        lambda x: after(x, lambda t: t.unsqueeze_(0), lambda t: t + 1),
        lambda x: (x + 1)[None],
        ("inputs",),
    ),
    "alias lost": (lambda x: x, lambda x: x.clone(), ("alias",)),
    "alias gained": (lambda x: x.clone(), lambda x: x, ("alias",)),
    "alias elsewhere": (
        lambda x: (x[1:].fill_(5), x[:2]),
        lambda x: (x[1:].fill_(5), x[1:] * 0 + x[:2].clone()),
        ("alias",),
    ),
    "outputs share": (lambda x: [x + 1] * 2, lambda x: [x + 1, x + 1], ("alias",)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_difference_is_reported_on_its_own_channel(name: str) -> None:
    constant.zero_()
    eager, other, expected = CASES[name]
    assert channels(eager, other) == tuple(Channel(c) for c in expected)


def test_a_write_outside_the_view_that_was_passed_shows() -> None:
    view = TensorSpec((2,), "float32", (1.0, 2.0, 3.0, 4.0), offset=1)

    def beyond(x: torch.Tensor) -> torch.Tensor:
        x.as_strided((1,), (1,), 0).zero_()
        return x + 1

    assert channels(lambda x: x + 1, beyond, view) == (Channel.INPUTS,)


def test_unpromised_channels_are_not_judged() -> None:
    eager, other = seen(lambda x: x), seen(lambda x: x.clone())
    assert compare(eager, other, ALL_CHANNELS - {Channel.ALIAS}).kind is Kind.AGREE


def test_nan_equals_nan_and_zero_equals_negative_zero() -> None:
    assert channels(lambda x: x / 0 * 0, lambda x: x / 0 * 0) == ()
    assert channels(lambda x: x * 0, lambda x: -(x * 0)) == ()
    assert channels(lambda x: x / 0 * 0, lambda x: x * 0) == (Channel.VALUES,)


def test_tolerances_apply_to_inexact_programs_alone() -> None:
    eager, other = seen(lambda x: x), seen(lambda x: x.add_(1e-7))
    assert compare(eager, other, frozenset({Channel.VALUES}), exact=False).kind is Kind.AGREE
    eager, other = seen(lambda x: x + 1.0), seen(lambda x: x + 1.001)
    assert compare(eager, other, ALL_CHANNELS, exact=False).channels == (Channel.VALUES,)
    eager, other = seen(lambda x: x + 1.0), seen(lambda x: x + 1.0000002)
    assert compare(eager, other, ALL_CHANNELS, exact=True).channels == (Channel.VALUES,)


def test_the_tolerances_are_those_of_assert_close() -> None:
    from inplace_fuzz.judge.compare import TOLERANCES

    for name, (rtol, atol) in TOLERANCES.items():
        dtype = getattr(torch, name)
        assert torch.testing._comparison.default_tolerances(dtype) == (rtol, atol)


def test_a_difference_says_where_and_how_much() -> None:
    verdict = compare(seen(lambda x: (x, x + 1)), seen(lambda x: (x, x + torch.tensor([1.0, 5, 1]))), ALL_CHANNELS)
    first = verdict.differences[0]
    assert (first.where, first.differing, first.total, first.call) == ("output 1", 1, 3, 0)
    assert (first.eager, first.other) == ("[2, 3, 4]", "[2, 7, 4]")


def test_a_difference_on_the_second_call_alone_says_so() -> None:
    count = iter(range(9))
    verdict = compare(seen(lambda x: x + 1), seen(lambda x: x + 1 + (next(count) == 1)), ALL_CHANNELS)
    assert verdict.differences[0].call == 1


def test_large_outputs_show_the_places_that_differ() -> None:
    big = TensorSpec((10, 10), "float32", tuple(float(k) for k in range(100)))

    def wrong(x: torch.Tensor) -> torch.Tensor:
        y = x + 0
        y[3, 4] = 7
        return y

    verdict = compare(seen(lambda x: x + 0, big), seen(wrong, big), ALL_CHANNELS)
    assert verdict.differences[0].other == "[3, 4] = 7"
    assert verdict.differences[0].eager == "[3, 4] = 34"


def test_raising_is_told_with_the_call() -> None:
    with pytest.raises(CallFailed) as caught:
        seen(lambda x: x.nonsense())
    assert caught.value.call == 0
    assert isinstance(caught.value.error, AttributeError)


def test_values_are_printed_as_a_person_writes_them() -> None:
    assert show_values((2, 2), (1.0, 2.5, True, 3)) == "[[1, 2.5], [True, 3]]"
    assert show_values((), (4.0,)) == "4"
    assert show_values((0, 2), ()) == "[]"
    assert number(1e20) == "1e+20"


def test_a_compiler_without_buffers_is_judged_up_to_the_first_write_into_one() -> None:
    def stateful(*, forget: bool) -> Observation:
        state = torch.zeros(1)

        def call(x: torch.Tensor) -> torch.Tensor:
            result = x + state
            if not forget:
                state.add_(1)
            return result

        return observe(call, (CallMaker((X,)),) * 2, names=("x",), buffers=lambda: {"state": state})

    eager, other = stateful(forget=False), stateful(forget=True)
    assert compare(eager, other, ALL_CHANNELS).channels == ("values", "buffers")
    assert compare(eager, other, OUTPUT_CHANNELS).kind is Kind.AGREE
    assert compare(other, eager, OUTPUT_CHANNELS).channels == ("values",)
