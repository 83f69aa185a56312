"""What every adapter owes, whatever its compiler: the caller's tensors go in and out as they are, in every lane.

Here for the compilers that are installed; for those in environments of their own, with their interpreter:

    …/bin/python -m pytest tests/backends -m "slow or not slow"
"""

from __future__ import annotations

import pytest

from inplace_fuzz import backends
from inplace_fuzz.core import Backend, Channel, Kind, Lane, Program, TensorSpec, Verdict
from tests.backends.test_adapters import INIT, program
from tests.execute.test_evaluate import judged

# What the default run has time for.
FAST = ("torchscript-graph", "torchscript-trace", "export")
NAMES = [pytest.param(name, marks=() if name in FAST else pytest.mark.slow) for name in backends.BUILTIN]
WHOLE = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8")


@pytest.fixture(params=NAMES)
def backend(request: pytest.FixtureRequest) -> Backend:
    version, reason = backends.version_or_reason(request.param)
    if not version:
        pytest.skip(f"unavailable: {reason}")
    return backends.load(request.param)


def verdicts(backend: Backend, given: Program) -> dict[str, Verdict]:
    results = judged(given, *((backend, lane) for lane in backend.lanes))
    return {lane: verdict for (name, lane), verdict in results.items() if name == backend.name}


def test_it_says_which_release_it_is(backend: Backend) -> None:
    distribution, _, version = backend.version().partition(" ")
    assert distribution
    assert version[0].isdigit()
    assert "+" not in version


@pytest.mark.parametrize("dtype", [*WHOLE, "bool"])
def test_each_dtype_goes_in_and_comes_out_or_is_refused(backend: Backend, dtype: str) -> None:
    given = program("return x.flip(0)", inputs=(TensorSpec((2, 2), dtype, (1.0, 0.0, 1.0, 1.0)),))
    for lane, verdict in verdicts(backend, given).items():
        assert verdict.kind in {Kind.AGREE, Kind.REFUSED, Kind.ERROR}, (lane, str(verdict), verdict.differences)
        if dtype == "float32":
            assert verdict.kind is Kind.AGREE, (lane, verdict.message)


@pytest.mark.parametrize("shape", [(), (1,), (0, 2), (2, 1, 2)], ids=str)
def test_each_shape_goes_in_and_comes_out_or_is_refused(backend: Backend, shape: tuple[int, ...]) -> None:
    count = 1
    for size in shape:
        count *= size
    given = program("return x + 1", inputs=(TensorSpec(shape, "float32", tuple(map(float, range(count)))),))
    for lane, verdict in verdicts(backend, given).items():
        expected = {Kind.AGREE, Kind.REFUSED, Kind.ERROR} if 0 in shape else {Kind.AGREE}
        assert verdict.kind in expected, (lane, str(verdict), verdict.message, verdict.differences)


def test_strided_inputs_are_read_as_they_are(backend: Backend) -> None:
    transposed = TensorSpec((2, 3), "float32", tuple(map(float, range(6))), strides=(1, 2))
    given = program("return x * 2", inputs=(transposed,))
    for lane, verdict in verdicts(backend, given).items():
        assert verdict.kind is Kind.AGREE, (lane, str(verdict), verdict.message)


@pytest.mark.parametrize("returned", ["x * 2, [x + 1, x - 1]", "x * 2, (x + 1, (x - 1,))", "[x + 1]", "{'a': x + 1}"])
def test_outputs_are_nested_as_the_program_nests_them(backend: Backend, returned: str) -> None:
    for lane, verdict in verdicts(backend, program(f"return {returned}")).items():
        assert verdict.kind in {Kind.AGREE, Kind.REFUSED}, (lane, str(verdict), verdict.message)


def test_several_inputs_keep_their_places(backend: Backend) -> None:
    other = TensorSpec((2,), "float32", (5.0, 7.0))
    index = TensorSpec((2,), "int64", (1, 0))
    given = program(
        "return y - x, x[i]", parameters="y, i, x", inputs=(other, index, TensorSpec((2,), "float32", (1.0, 2.0)))
    )
    for lane, verdict in verdicts(backend, given).items():
        assert verdict.kind is Kind.AGREE, (lane, str(verdict), verdict.message, verdict.differences)


def test_an_unused_input_takes_nobody_else_s_place(backend: Backend) -> None:
    specs = tuple(TensorSpec((2,), "float32", (k, k + 1.0)) for k in (1.0, 3.0, 5.0))
    for lane, verdict in verdicts(backend, program("return x - z", parameters="x, y, z", inputs=specs)).items():
        assert verdict.kind is Kind.AGREE, (lane, str(verdict), verdict.message, verdict.differences)


def test_what_a_compiler_without_state_loses_the_other_lanes_give_back(backend: Backend) -> None:
    if not getattr(backend, "stateless", False):
        pytest.skip("it keeps inputs and buffers itself")
    assert Channel.INPUTS not in backend.channels
    given = program("x.add_(1)\nself.buf.add_(x)\nreturn self.buf * 2", init=INIT)
    for lane, verdict in verdicts(backend, given).items():
        if lane != Lane.DIRECT:
            assert verdict.kind is Kind.AGREE, (lane, str(verdict), verdict.message, verdict.differences)
