"""Random programs through the FX target, the ATen reader and the TVM rules: all do what eager does."""

from __future__ import annotations

import logging
import os
import warnings
from typing import Any

import torch

from inplace_fuzz.rewrite import UnsupportedMutation, functionalize, legalise, writing_operators
from tests.rewrite.drawn import Drawn
from tests.rewrite.observed import seen

PROGRAMS = int(os.environ.get("INPLACE_FUZZ_DRAWN_FX", "60"))
FIRST = int(os.environ.get("INPLACE_FUZZ_DRAWN_FROM", "0"))


class Module(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def function(drawn: Drawn) -> Any:
    scope: dict[str, Any] = {"torch": torch, "__name__": "drawn"}
    exec(drawn.source, scope)
    return scope["f"]


def judge(module: Any, drawn: Drawn, shift: int = 0) -> None:
    theirs, mine, legal = (drawn.inputs(shift) for _ in range(3))
    expected = seen(function(drawn)(*theirs), theirs)
    assert writing_operators(module) == [], drawn.source
    assert seen(module(*mine), mine).differs(expected) == [], f"{drawn.source}\n{module.graph}"
    got = seen(legalise(module, "tvm")(*legal), legal)
    assert (got.outputs, got.inputs) == (expected.outputs, expected.inputs), f"{drawn.source}\n{module.graph}"


def test_traced_to_fx() -> None:
    agree = refused = 0
    for seed in range(PROGRAMS):
        drawn = Drawn(FIRST + 20_000 + seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                traced = torch.jit.trace(function(drawn), drawn.inputs(), check_trace=False)
            except (RuntimeError, IndexError):
                continue
        try:
            module = functionalize(traced, drawn.inputs(), target="fx")
        except UnsupportedMutation:
            refused += 1
            continue
        judge(module, drawn)
        agree += 1
    assert agree > PROGRAMS // 2
    assert refused <= agree // 20


def test_exported_to_fx() -> None:
    logging.disable(logging.CRITICAL)
    agree = refused = 0
    for seed in range(PROGRAMS // 4):
        drawn = Drawn(FIRST + 30_000 + seed)
        try:
            program = torch.export.export(Module(function(drawn)), drawn.inputs())
        except Exception:  # noqa: BLE001  export raises many types for what it does not take
            continue
        try:
            module = functionalize(program, drawn.inputs(), target="fx")
        except UnsupportedMutation:
            refused += 1
            continue
        judge(module, drawn)
        agree += 1
    logging.disable(logging.NOTSET)
    assert agree > PROGRAMS // 10
    assert refused <= 1 + agree // 20
