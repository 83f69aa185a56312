"""The contract between a compiler's adapter and everything else.

A backend is any object with these attributes; there is nothing to inherit from. Adapters run inside workers, in
foreign environments, and import the standard library, torch and their own compiler alone, inside the functions that
need it. See docs/backends.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from inplace_fuzz.core.verdict import Channel, Lane


class Unavailable(Exception):
    """The backend cannot run here. The text says why, and what to type to get it."""


def split_column(column: str) -> tuple[str, str]:
    """A backend as it is asked for, `tvm@0.26.0`, as its name and version; `tvm` has an empty version.

    Each is a column of its own in tables and stores; the corpus and root causes know the name alone.
    """
    name, _, version = column.partition("@")
    return name, version


def base_name(column: str) -> str:
    """`tvm` of `tvm@0.26.0`."""
    return split_column(column)[0]


def names_code(column: str) -> bool:
    """Whether a name, `module:ATTRIBUTE`, is that of code to be imported, which no stranger's file may ask for.

    `cmd:my-compiler` is not: what it runs, a user has typed.
    """
    return ":" in column and not column.startswith("cmd:")


@dataclass(frozen=True, slots=True)
class Requirements:
    """What pip installs for a backend: the constant `REQUIREMENTS` of the adapter's module.

    Written in literals, because it is read from the module's text: the module itself imports torch. `distribution` is
    the one whose version `NAME@VERSION` means. `others` are further requirements, where `{version}` stands for that
    version; `when` are those of some versions alone, `("<0.26", "its-runtime<2")`, for what a release forgot to say.
    `torch` says which releases of torch it works with, and `cuda` that it needs the CUDA build, of several GB.
    """

    distribution: str
    others: tuple[str, ...] = ()
    torch: str = ""
    cuda: bool = False
    when: tuple[tuple[str, str], ...] = ()


def installed_version(distribution: str, name: str) -> str:
    """`apache-tvm 0.27.0.post1`. Raises Unavailable with the command that installs it for the backend `name`."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{distribution} {version(distribution).partition('+')[0]}"
    except PackageNotFoundError:
        raise Unavailable(f"{distribution} is not installed; `inplace-fuzz env create {name}` brings it") from None


@dataclass(frozen=True, slots=True)
class Refusal:
    """One way in which a compiler says "not supported": an exception type name and a pattern of its message.

    With a `stage`, only there: what a compiler takes and then cannot run is no refusal.
    """

    exception: str
    pattern: str
    why: str = ""
    stage: str = ""

    def matches(self, error: BaseException, stage: str) -> bool:
        if self.stage and self.stage != stage:
            return False
        names = {c.__name__ for c in type(error).__mro__}
        return self.exception in names and re.search(self.pattern, str(error)) is not None


@dataclass(frozen=True, slots=True)
class Compiled:
    """What compiling gives: a callable with the module's own signature, and its buffers where it keeps any.

    `buffers` is None where it keeps them and cannot show them: what they hold shows in what later calls return.
    `remark` is a line about what was made; it becomes the message of a verdict that has none.
    """

    call: Callable[..., Any]
    buffers: Callable[[], Mapping[str, Any]] | None = field(default=dict)
    remark: str = ""


@runtime_checkable
class Backend(Protocol):
    """One compiler, reached by one route."""

    @property
    def name(self) -> str:
        """What users type, for example `tvm`."""
        ...

    @property
    def channels(self) -> frozenset[Channel]:
        """What the compiler promises to keep; nothing else is judged."""
        ...

    @property
    def lanes(self) -> tuple[Lane, ...]: ...

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The compiler's ways of saying "not supported"; every other exception is a finding."""
        ...

    @property
    def form(self) -> str:
        """What the rewritten lane hands it: `fx`, `script` (a ScriptModule), `trace` or `graph` (a bare graph)."""
        ...

    @property
    def per_fork(self) -> int:
        """How many programs one forked child runs before it is thrown away."""
        ...

    def version(self) -> str:
        """Distribution and version, for example `apache-tvm 0.27.0.post1`. Raises Unavailable when it cannot run."""
        ...

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        """Compiles an eval-mode module for these example inputs, which it may consume.

        `enter` names the stage that begins (`export`, `convert`, `build`), so that a failure or a death is blamed on
        the right one. Raises whatever the compiler raises.
        """
        ...
