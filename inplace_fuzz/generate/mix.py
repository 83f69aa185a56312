"""Which features a program may use, and how often.

Swarm testing: each program switches a random half of the features off, because a program that may use everything
rarely uses two rare things together. A `Mix` gives each feature its weight among the alternatives of its group.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import gcd
from types import MappingProxyType
from typing import Protocol, TypeVar

from inplace_fuzz.generate.choices import Choices
from inplace_fuzz.generate.features import FEATURES


class Row(Protocol):
    """A row of an operator table: it belongs to a feature."""

    @property
    def feature(self) -> str: ...


R = TypeVar("R", bound=Row)
_BIT = {f.name: 1 << k for k, f in enumerate(FEATURES)}
_ROUNDING = ("rounding_call", "rounding_read", "rounding_source")
# Integers and comparisons: near a threshold, a last bit that differs would show as a whole element.
_CHOOSING = {
    "f16", "bf16", "i64", "i32", "u8", "i8", "bool", "mixed_dtypes", "cast",
    "mask", "index_computed", "source_where", "source_compare", "where", "any", "masked_fill",
    "masked_fill_", "masked_scatter_", "compare_", "logical_", "sign_",
    "mask_snapshot", "written_mask", "compare_old_new", "snapshot_then_write", "index_then_base", "empty_write",
    "branch", "loop",
}  # fmt: skip
_EVERY = (1 << len(FEATURES)) - 1


@dataclass(frozen=True)
class Mix:
    """Weights by feature name; a feature that is not named is never drawn. `always` are never switched off."""

    weights: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({f.name: f.weight for f in FEATURES}))
    always: frozenset[str] = frozenset()
    swarm: bool = True
    exact: bool = True  # whether its programs are compared with `==`
    tables: dict[int, _Table] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        unknown = sorted({*self.weights, *self.always} - set(_BIT))
        if unknown:
            raise ValueError(f"there is no feature {unknown[0]!r}; `inplace_fuzz.generate.FEATURES` lists them")

    def changed(self, **weights: int) -> Mix:
        """The same mix with other weights for some features; 0 switches one off."""
        return replace(self, weights=MappingProxyType({**self.weights, **weights}))

    def focus(self, *features: str) -> Mix:
        """The same mix, in which these features are always on and drawn much more often than their neighbours."""
        heavy = {name: 40 * max(3, self.weights.get(name, 0)) for name in features}
        return replace(self.changed(**heavy), always=self.always | set(features))

    def rounding(self) -> Mix:
        """The same mix with operations that round, and without what would turn a rounding error into another choice."""
        off = {f.name: 0 for f in FEATURES if f.name in _CHOOSING}
        return replace(self.changed(**{**off, **dict.fromkeys(_ROUNDING, 12)}), exact=False)

    def draw(self, choices: Choices) -> Active:
        """The features of one program: about half of those that have a weight."""
        off = choices.mask(len(FEATURES)) if self.swarm else 0
        always = sum(_BIT[name] for name in self.always)
        return Active(self, (_EVERY & ~off) | always)


DEFAULT = Mix()
CONTROL_FLOW = DEFAULT.changed(branch=8, loop=8)
ROUNDING = DEFAULT.rounding()
SHARED_INPUTS = DEFAULT.changed(shared_storage=100)


@dataclass(frozen=True, slots=True)
class _Table:
    """A table as a mix sees it: running totals of the weights, and for each row the bit of its feature."""

    totals: list[int]
    bits: list[int]


class Active:
    """The features that one program may use."""

    __slots__ = ("_bits", "_tables", "_weights")

    def __init__(self, mix: Mix, bits: int) -> None:
        self._weights = mix.weights
        self._bits = bits
        self._tables = mix.tables

    def on(self, feature: str) -> bool:
        return bool(self._bits & _BIT[feature]) and self._weights.get(feature, 0) > 0

    def percent(self, feature: str) -> int:
        return self._weights.get(feature, 0) if self._bits & _BIT[feature] else 0

    def pick(self, choices: Choices, table: Sequence[R]) -> R:
        """A row that is on, or the first row where none is."""
        found = self._tables.get(id(table)) or self._table(table)
        totals, bits, mine = found.totals, found.bits, self._bits
        if not totals[-1]:
            return table[0]
        start = k = bisect_right(totals, choices.below(totals[-1]))
        while not mine & bits[k]:
            k = (k + 1) % len(bits)
            if k == start:
                return table[0]
        return table[k]

    def order(self, choices: Choices, table: Sequence[R]) -> Iterator[R]:
        """The rows that are on, beginning at a drawn one and going round: the caller takes the first that applies."""
        found = self._tables.get(id(table)) or self._table(table)
        total = found.totals[-1]
        return self._from(table, found, bisect_right(found.totals, choices.below(total)) if total else 0)

    def level(self, choices: Choices, table: Sequence[R]) -> Iterator[R]:
        """The same without regard to weights: as often a rare row as a frequent one.

        It goes round in drawn steps, so that no row is drawn more often for standing after one that seldom applies.
        """
        found = self._table(table)
        on = [row for row, bit in zip(table, found.bits, strict=True) if self._bits & bit]
        count = len(on)
        at, step = choices.below(count), 1 + choices.below(count - 1)
        while count > 1 and gcd(step, count) > 1:
            step -= 1
        for _ in range(count):
            yield on[at]
            at = (at + step) % count

    def _from(self, table: Sequence[R], found: _Table, start: int) -> Iterator[R]:
        bits = self._bits
        for k in range(start, len(table)):
            if bits & found.bits[k]:
                yield table[k]
        for k in range(start):
            if bits & found.bits[k]:
                yield table[k]

    def _table(self, table: Sequence[R]) -> _Table:
        found = self._tables.get(id(table))  # tables are module constants, and stay
        if found is None:
            weights = [self._weights.get(row.feature, 0) for row in table]
            bits = [_BIT[row.feature] if weight else 0 for row, weight in zip(table, weights, strict=True)]
            found = self._tables[id(table)] = _Table(list(accumulate(weights)), bits)
        return found
