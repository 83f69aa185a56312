"""A rewritten module under both of TorchScript's executors: what is the same in every call is a new tensor in each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from inplace_fuzz.rewrite import functionalize

DTYPES = ("int64", "int32", "uint8", "bool", "float32", "float16", "complex64")


@pytest.fixture(params=["profiling", "legacy"])
def executor(request: pytest.FixtureRequest) -> Iterator[None]:
    wanted = request.param == "profiling"
    before = torch._C._jit_set_profiling_executor(wanted), torch._C._jit_set_profiling_mode(wanted)
    yield
    torch._C._jit_set_profiling_executor(before[0])
    torch._C._jit_set_profiling_mode(before[1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.usefixtures("executor")
def test_a_constant_that_leaves_is_a_tensor_of_its_own_in_each_call(dtype: str) -> None:
    source = f"""
def f(x):
    t = torch.ones([3], dtype=torch.{dtype})
    t[torch.tensor([True, True, False])] *= t[1:] * t[1:]
    x += 1
    r = t.sum()
    r *= r + 0
    return t, r
"""
    module = functionalize(torch.jit.CompilationUnit(source).f, (torch.zeros(3),))
    state = torch.random.get_rng_state()
    for _ in range(4):
        t, r = module(torch.ones(3))
        assert t.dtype == getattr(torch, dtype)
        assert (t.tolist(), r.tolist()) == ([1, 1, 1], 9)
        t.fill_(0)
        r.fill_(0)
    assert torch.equal(torch.random.get_rng_state(), state)
