"""What is known while a program is drawn: its lines so far, and the real tensors that they made.

Every statement runs as soon as it is drawn, once for each of the two calls, so that shapes, dtypes, strides and sharing
are looked up and never guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import Any, TypeAlias

import torch

from inplace_fuzz.generate.choices import Choices
from inplace_fuzz.generate.exact import NUMBERS, Numbers, Span, hull
from inplace_fuzz.generate.mix import Active

Announce: TypeAlias = Callable[[str], None]
_CODE: dict[tuple[str, str], CodeType] = {}
_MAX_CODE = 20_000


def code(text: str, mode: str) -> CodeType:
    """The compiled text, kept, because short statements come back again and again."""
    key = (text, mode)
    found = _CODE.get(key)
    if found is None:
        if len(_CODE) >= _MAX_CODE:
            _CODE.clear()
        found = _CODE[key] = compile(text, "<statement>", mode)
    return found


class Base:
    """One storage: the span of its elements, and what may be done with it."""

    __slots__ = ("frozen", "name", "origin", "reads", "span", "written")

    def __init__(self, name: str, span: Span, origin: str) -> None:
        self.name = name  # the first name that looked into it
        self.span = span
        self.origin = origin  # "input", "buffer" or "made"
        self.frozen = False  # never written: an index, or a mask whose count of True matters
        self.written = 0
        self.reads = 0


class Named:
    """A name of the program and the tensor it holds in the first call (`t`) and in the second (`u`)."""

    __slots__ = ("base", "dtype", "numbers", "overlapping", "rank", "role", "shape", "t", "text", "u")

    def __init__(self, text: str, t: torch.Tensor, u: torch.Tensor, base: Base, role: str) -> None:
        self.text = text
        self.t = t
        self.u = u
        self.base = base
        self.role = role  # "input", "buffer", "made", "view", "alias", "read", "index" or "mask"
        self.dtype = t.dtype
        self.numbers: Numbers = NUMBERS[t.dtype]
        self.overlapping = False  # two of its elements are one place in memory: it is read, never written
        self.look()

    def look(self) -> None:
        self.shape = tuple(self.t.shape)
        self.rank = len(self.shape)

    @property
    def empty(self) -> bool:
        return 0 in self.shape

    @property
    def writable(self) -> bool:
        return not self.overlapping and not self.base.frozen


class Refused(Exception):
    """The statement just drawn cannot run; it was taken back. A test holds the generator to never drawing one."""


class State:
    """The program being drawn."""

    def __init__(
        self, active: Active, choices: Choices, *, script_only: bool = False, announce: Announce | None = None
    ) -> None:
        self.active = active
        self.choices = choices
        self.script_only = script_only
        self.announce = announce
        self.script = True  # whether TorchScript accepts what is drawn so far
        self.second = True  # whether the second call runs as well
        self.root: tuple[int, ...] = ()  # the shape that every other shape is cut from
        self.lines: list[str] = []
        self.init: list[str] = []
        self.first_env: dict[str, Any] = {"torch": torch}
        self.second_env: dict[str, Any] = {"torch": torch}
        self.names: list[Named] = []
        self.wanted: list[str] = []  # names that the program should return
        self.bases: dict[int, Base] = {}
        self.block: list[str] | None = None  # lines of a branch or loop body, run later as one statement
        self.refused = 0
        self._serial: dict[str, int] = {}
        self._alive: list[torch.Tensor] = []

    # ------------------------------------------------------------------------------------------------ running text
    def run(self, text: str) -> None:
        """Adds a line and runs it for both calls. Raises Refused where eager refuses the line in the first call."""
        if self.block is not None:
            self.block.append(text)
            return
        body = code(text, "exec")
        if self.announce is not None:
            self.announce(text)
        try:
            exec(body, self.first_env)
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            self.refused += 1
            raise Refused(f"{text}: {error}") from error
        if self.second:
            try:
                exec(body, self.second_env)
            except (RuntimeError, ValueError, IndexError, TypeError):
                self.second = False
        self.lines.append(text)

    def look(self, text: str) -> tuple[torch.Tensor, torch.Tensor]:
        """The value of an expression in both calls, without adding a line."""
        body = code(text, "eval")
        first = eval(body, self.first_env)  # noqa: S307 - text made here, from tables
        return first, eval(body, self.second_env) if self.second else first  # noqa: S307

    # ------------------------------------------------------------------------------------------------------- names
    def fresh(self, letters: str) -> str:
        """A short name that is not taken: the first free letter, then the first letter with a number."""
        for letter in letters:
            if letter not in self.first_env:
                return letter
        first = letters[0]
        number = self._serial.get(first, 1)
        while f"{first}{number}" in self.first_env:
            number += 1
        self._serial[first] = number
        return f"{first}{number}"

    def bind(self, text: str, role: str, span: Span, *, overlapping: bool = False) -> Named:
        """Records a name that a line has just bound. A storage seen before keeps its base and widens its span."""
        t = self.first_env[text]
        u = self.second_env[text] if self.second else t
        key = t.untyped_storage().data_ptr() if t.numel() else id(t)
        base = self.bases.get(key)
        if base is None:
            base = self.bases[key] = Base(text, span, role if role in ("input", "buffer") else "made")
            self._alive.append(t)
        self.names = [n for n in self.names if n.text != text]  # a name bound again stands for its new tensor
        named = Named(text, t, u, base, role)
        named.overlapping = overlapping
        self.names.append(named)
        return named

    def keep(self, t: torch.Tensor) -> None:
        """Holds on to memory that no name of the program holds any more, so that its address is not used again."""
        self._alive.append(t)

    def reshaped(self) -> None:
        """Looks at every name again, after a call that changes the shape of a tensor in place."""
        for named in self.names:
            named.look()

    def tensors(self, *, writable: bool = False) -> list[Named]:
        """The names that may be read, or written, in order of appearance. Indices and masks are read elsewhere."""
        return [n for n in self.names if n.role not in ("index", "mask") and (not writable or n.writable)]

    # ------------------------------------------------------------------------------------------------------- spans
    def wrote(self, base: Base, span: Span) -> None:
        base.span = hull(base.span, span)
        base.written += 1

    # ---------------------------------------------------------------------------------------------------- features
    def on(self, feature: str) -> bool:
        return self.active.on(feature)

    def gate(self, feature: str) -> bool:
        """Whether to use a feature here, when it is no alternative of a table: its weight is a percentage."""
        percent = self.active.percent(feature)
        return percent > 0 and (percent >= 100 or self.choices.chance(percent))
