"""Choices read from bytes: one byte a choice, and byte 0 is always the simplest alternative.

Each statement reads from a record of its own, so that leaving out one, or lowering a byte of one, leaves the others as
they are: this is what lets plain Hypothesis shrink a program well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """A cursor over a record of bytes.

    A long statement may need more choices than its record has bytes. It goes round again, mixing bytes so that zeros
    still give zeros, and so the simplest alternatives.
    """

    __slots__ = ("_at", "_record", "_size")

    def __init__(self, record: bytes) -> None:
        self._record = record
        self._size = len(record)
        self._at = 0

    def byte(self) -> int:
        at, size = self._at, self._size
        self._at = at + 1
        if at < size:
            return self._record[at]
        return (self._record[at % size] * 181 + self._record[(at + at // size) % size] * 59) & 255 if size else 0

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

    def weighted(self, weights: Sequence[int]) -> int:
        """The position of one weight, drawn in proportion to them."""
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
