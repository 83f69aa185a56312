"""The rules of one pass: the two tables, and the few decisions of the walk that a test may want to get wrong.

`Rules(views=..., writes=...)` replaces a table. `Policy` holds the decisions that are not rows: a subclass that
overrides one method is a deliberately wrong pass, which the tests of the judge feed on.
"""

# ruff: noqa: ARG002  (the functions of one table take the same arguments)

from __future__ import annotations

import dataclasses
import functools
from typing import TYPE_CHECKING, Any

from .views import VIEWS, View
from .writes import WRITES, Write

if TYPE_CHECKING:
    from .ir import Value
    from .memory import Alias, Memory


class Policy:
    """What the walk does where no table says it. Every method here is right; override one to plant a fault."""

    def write(self, memory: Memory, target: Alias, content: Value) -> None:
        """Carry a write back through the chain of views to its base."""
        memory.write(target, content)

    def read(self, memory: Memory, source: Alias) -> Value:
        """What an operator sees of a tensor: its newest content."""
        return memory.read(source)

    def result(self, memory: Memory, target: Alias, content: Value) -> Alias:
        """What the in-place operator's own result stands for: its self."""
        return target

    def written_back(self, memory: Memory, externals: list[Alias]) -> list[Alias]:
        """Which of the written inputs and buffers the caller gets to see."""
        return externals

    def output(self, memory: Memory, source: Alias) -> Value:
        """An output: a look at its base as it is after the write-backs, so that it aliases what it aliased."""
        return memory.read(source)

    def merged(self, sides: list[dict[Any, Value]]) -> list[dict[Any, Value]]:
        """What each branch of an If wrote, as the code after it will see."""
        return sides

    def carried(self, roots: list[Any]) -> list[Any]:
        """The bases that a loop body writes, which become carried values."""
        return roots


@dataclasses.dataclass(frozen=True)
class Rules:
    """views, writes: the tables; policy: the walk's other decisions. ValueError when an operator has two rows."""

    views: tuple[View, ...] = VIEWS
    writes: tuple[Write, ...] = WRITES
    policy: Policy = dataclasses.field(default_factory=Policy)

    @functools.cached_property
    def view_of(self) -> dict[str, View]:
        return _index(self.views)

    @functools.cached_property
    def write_of(self) -> dict[str, Write]:
        return _index(self.writes)


def _index(rows: tuple[Any, ...]) -> dict[str, Any]:
    table = {row.kind: row for row in rows}
    if len(table) != len(rows):
        kinds = [row.kind for row in rows]
        raise ValueError(f"two rows for {sorted({k for k in kinds if kinds.count(k) > 1})}")
    return table


DEFAULT_RULES = Rules()
