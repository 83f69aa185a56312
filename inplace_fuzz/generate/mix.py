"""Which features a program may use, and how often.

Swarm testing: each program switches a random half of the features off, because a program that may use everything
rarely uses two rare things together. A `Mix` gives each feature its weight among the alternatives of its group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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

    def __post_init__(self) -> None:
        unknown = sorted({*self.weights, *self.always} - set(_BIT))
        if unknown:
            raise ValueError(f"there is no feature {unknown[0]!r}; `inplace_fuzz.generate.FEATURES` lists them")

    def changed(self, **weights: int) -> Mix:
        """The same mix with other weights for some features; 0 switches one off."""
        return Mix(MappingProxyType({**self.weights, **weights}), self.always, self.swarm)

    def focus(self, *features: str) -> Mix:
        """The same mix, in which these features are always on and drawn much more often than their neighbours."""
        heavy = {name: 40 * max(3, self.weights.get(name, 0)) for name in features}
        return Mix(MappingProxyType({**self.weights, **heavy}), self.always | set(features), self.swarm)

    def rounding(self) -> Mix:
        """The same mix with operations that round, and without what would turn a rounding error into another choice."""
        off = {f.name: 0 for f in FEATURES if f.name in _CHOOSING}
        return self.changed(**{**off, **dict.fromkeys(_ROUNDING, 12)})

    def draw(self, choices: Choices) -> Active:
        """The features of one program: about half of those that have a weight."""
        off = choices.mask(len(FEATURES)) if self.swarm else 0
        always = sum(_BIT[name] for name in self.always)
        return Active(self.weights, (_EVERY & ~off) | always)


DEFAULT = Mix()
CONTROL_FLOW = Mix(DEFAULT.changed(branch=8, loop=8).weights, frozenset({"branch", "loop"}))


class Active:
    """The features that one program may use."""

    __slots__ = ("_bits", "_picks", "_weights")

    def __init__(self, weights: Mapping[str, int], bits: int) -> None:
        self._weights = weights
        self._bits = bits
        self._picks: dict[int, tuple[Sequence[Row], list[int]]] = {}

    def on(self, feature: str) -> bool:
        return bool(self._bits & _BIT[feature]) and self._weights.get(feature, 0) > 0

    def percent(self, feature: str) -> int:
        return self._weights.get(feature, 0) if self._bits & _BIT[feature] else 0

    def rows(self, table: Sequence[R]) -> tuple[Sequence[R], list[int]]:
        """The rows of a table that are switched on, with their weights; the first row where none is."""
        key = id(table)  # tables are module constants
        found = self._picks.get(key)
        if found is None:
            rows = [row for row in table if self.on(row.feature)] or [table[0]]
            found = self._picks[key] = (rows, [max(1, self._weights.get(row.feature, 1)) for row in rows])
        return found  # type: ignore[return-value]

    def pick(self, choices: Choices, table: Sequence[R]) -> R:
        rows, weights = self.rows(table)
        return rows[choices.weighted(weights)]

    def order(self, choices: Choices, table: Sequence[R]) -> Sequence[R]:
        """The rows that are on, beginning at a drawn one and going round: the caller takes the first that applies.

        Empty where none is on.
        """
        rows, weights = self.rows(table)
        if rows[0] is table[0] and not self.on(table[0].feature):
            return []
        start = choices.weighted(weights)
        return [*rows[start:], *rows[:start]]
