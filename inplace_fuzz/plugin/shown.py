"""A failure that is text and nothing else: no traceback, no source of ours, one line in the short summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

_RED = {"red": True, "bold": True}


class _Writer(Protocol):
    def line(self, s: str = "", **markup: bool) -> None: ...


@dataclass(frozen=True)
class Crash:
    """What pytest's short summary and JUnit take their one line from."""

    message: str
    path: str = ""
    lineno: int = 0


class Shown:
    """What `repr_failure` returns; pytest asks for no more than these two methods and this attribute."""

    def __init__(self, summary: str, text: str) -> None:
        self.reprcrash = Crash(summary)
        self.text = text

    def toterminal(self, writer: _Writer) -> None:
        for line in self.text.splitlines():
            writer.line(line, **(_RED if line.startswith("FOUND") else {}))

    def __str__(self) -> str:
        return self.text


class Fault(Exception):
    """Fails an item with a text. `summary` is its one line."""

    def __init__(self, summary: str, text: str = "") -> None:
        super().__init__(summary)
        self.summary = summary
        self.text = text or summary


def shown(error: BaseException) -> Any:
    """The failure of one of our own exceptions, or None for an exception that deserves its traceback."""
    if isinstance(error, Fault):
        return Shown(error.summary, error.text)
    return None
