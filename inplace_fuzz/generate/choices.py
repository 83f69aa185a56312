"""Choices read from bytes: one byte a choice, and byte 0 is always the simplest alternative.

Hypothesis draws one block of bytes for a program. Each statement reads from a record of its own, so that lowering a
byte of one statement leaves the others as they are: this is what lets plain Hypothesis shrink a program well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """A cursor over bytes. Past the end every choice is the first alternative."""

    __slots__ = ("_at", "_data", "_end")

    def __init__(self, data: bytes, start: int = 0, length: int | None = None) -> None:
        self._data = data
        self._at = start
        self._end = len(data) if length is None else min(len(data), start + length)

    def byte(self) -> int:
        if self._at >= self._end:
            return 0
        value = self._data[self._at]
        self._at += 1
        return value

    def below(self, n: int) -> int:
        """A number from 0 to n - 1. Two bytes where one would be too coarse."""
        if n <= 1:
            return 0
        if n <= 48:
            return self.byte() * n >> 8
        return (self.byte() << 8 | self.byte()) * n >> 16

    def between(self, low: int, high: int) -> int:
        """A number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        """True in about this share of draws; False is the simpler answer."""
        return self.byte() * 100 >= (100 - percent) << 8

    def pick(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def weighted(self, options: Sequence[T], weights: Sequence[int]) -> int:
        """The position of one option, drawn in proportion to the weights."""
        rest = self.below(sum(weights))
        for position, weight in enumerate(weights):
            rest -= weight
            if rest < 0:
                return position
        return 0

    def mask(self, count: int) -> int:
        """`count` independent bits."""
        bits = 0
        for _ in range((count + 7) // 8):
            bits = bits << 8 | self.byte()
        return bits
