"""Small programs and planted targets for the tests of this room, and generators that stand in for the real one."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

from inplace_fuzz.core import Lane, Program, TensorSpec
from inplace_fuzz.execute.engine import Target

SOURCE = """import torch


class M(torch.nn.Module):
    def forward(self, x):
        x[{index}] = {value}
        return x + 1
"""
EAGER_DIES = """import ctypes

import torch


class M(torch.nn.Module):
    def forward(self, x):
        ctypes.string_at(0)
        return x
"""


def planted(name: str) -> Target:
    return Target(f"tests.planted.deaths:{name}", Lane.DIRECT)


GOOD = planted("GOOD")
EAGER = Target("eager", Lane.DIRECT)


def program(number: int = 0, source: str = "") -> Program:
    values = TensorSpec((3,), "float32", (1.0, 2.0, 3.0))
    return Program(source or SOURCE.format(index=number % 3, value=number), ((values,),))


def draw_plainly(seed: int, count: int, emit: Callable[[Program], None]) -> None:
    for number in range(count):
        emit(program(1000 * seed + number))


def draw_mixed(
    seed: int, count: int, emit: Callable[[Program], None], *, mix: str, announce: Callable[[str], None]
) -> None:
    """Dies of its third program where the seed is the caller's own, small one; says so beforehand."""
    for number in range(count):
        announce(f"{mix}[{number}] = 0")
        if number == 2 and seed < 100:
            ctypes.string_at(0)
        emit(program(number))


def draw_and_hang(seed: int, count: int, emit: Callable[[Program], None]) -> None:
    emit(program(seed % 1000))
    if seed < 100:
        time.sleep(600)


def draw_nothing(seed: int, count: int, emit: Callable[[Program], None]) -> None:
    raise ValueError("nothing comes to mind")


def draw_much(seed: int, count: int, emit: Callable[[Program], None]) -> None:
    """Far more than a pipe holds; what it prints says how far it came."""
    padding = "# " + "x" * 10_000 + "\n"
    for number in range(count):
        emit(program(source=padding + SOURCE.format(index=0, value=number)))


def draw_plainly_for_ever(seed: int, count: int, emit: Callable[[Program], None]) -> None:
    number = 0
    while True:
        emit(program(number))
        number += 1
