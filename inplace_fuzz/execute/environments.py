"""The environments of backends: virtual environments, each with one compiler in one version and a torch of its own.

    $INPLACE_FUZZ_CACHE/environments/          ~/.cache/inplace-fuzz by default
        tvm@0.26.0/                            a virtual environment, ready
            environment.json                   what was asked for and what was installed
        .tvm@0.26.0.partial/                   one that is being made, or was when its maker was killed

An environment gets its name in the last step of making it (`install.py`), so what has a name is whole. This process
only looks at files here, and imports neither torch nor a compiler.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from inplace_fuzz.backends import UnknownBackend, names, requirements
from inplace_fuzz.core.backend import Unavailable, split_column

RECORD = "environment.json"
FORMAT = 1
CACHE_VARIABLE = "INPLACE_FUZZ_CACHE"


class EnvironmentsError(RuntimeError):
    """An environment cannot be made, found or used; the message says what to do."""


@dataclass(frozen=True)
class Environment:
    """One environment, as its record has it."""

    path: Path
    backend: str  # the name by which it was asked for
    distribution: str
    version: str
    torch: str
    python: str
    installer: str
    created: str
    seconds: float
    bytes: int
    packages: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.backend}@{self.version}"

    @property
    def interpreter(self) -> str:
        return str(self.path / "bin" / "python")

    def to_json(self) -> dict[str, Any]:
        fields = asdict(self)
        del fields["path"]
        return {"format": FORMAT, "name": self.name, **fields}


@dataclass(frozen=True)
class Site:
    """Where a backend runs: an interpreter, and what its processes need in their environment variables."""

    python: str
    name: str = ""  # of the environment; empty for the one that we run in

    def variables(self) -> Mapping[str, str]:
        if not self.name:
            return {}
        directory = Path(self.python).parent
        path = os.pathsep.join([str(directory), os.environ.get("PATH", os.defpath)])
        return {"VIRTUAL_ENV": str(directory.parent), "PATH": path}


def cache_directory() -> Path:
    """Where environments are kept: $INPLACE_FUZZ_CACHE, or inplace-fuzz below the user's cache directory."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "inplace-fuzz"


def environments_directory() -> Path:
    return cache_directory() / "environments"


def installed() -> list[Environment]:
    """Every environment that is whole, by backend and then by version."""
    found = [read(path) for path in sorted(environments_directory().glob("*/")) if not path.name.startswith(".")]
    return sorted((e for e in found if e is not None), key=lambda e: (e.backend, _key(e.version)))


def read(path: Path) -> Environment | None:
    """The environment in a directory, or None where its record is missing or cannot be read."""
    try:
        data = json.loads((path / RECORD).read_text(encoding="utf-8"))
        fields = {k: v for k, v in data.items() if k not in {"format", "name", "packages"}}
        return Environment(path, **fields, packages=tuple(data["packages"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def same_version(one: str, other: str) -> bool:
    """Whether two versions are one release: `2.13.0+cpu` is `2.13.0`."""
    try:
        return Version(one).public == Version(other).public
    except InvalidVersion:
        return one == other


def _key(version: str) -> tuple[int, Any]:
    try:
        return 1, Version(version)
    except InvalidVersion:
        return 0, version


def here(distribution: str) -> str:
    """The version of a distribution in the environment that we run in, or nothing."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def find(column: str) -> Environment | None:
    """The environment that a column such as `tvm@0.26.0` names; for `tvm`, the one with the newest version."""
    needs = requirements(column)
    if needs is None:
        return None
    _, version = split_column(column)
    wanted = canonicalize_name(needs.distribution)
    fitting = [e for e in installed() if canonicalize_name(e.distribution) == wanted]
    fitting = [e for e in fitting if not version or same_version(e.version, version)]
    return max(fitting, key=lambda e: _key(e.version), default=None)


def versions_of(name: str) -> dict[str, str]:
    """Every version of a backend that is here, by column: `{"tvm": "apache-tvm 0.27.0", "tvm@0.26.0": …}`, ours first.

    Empty where the adapter does not say what it needs.
    """
    needs = requirements(name)
    if needs is None:
        return {}
    own = here(needs.distribution)
    found = {name: f"{needs.distribution} {own.partition('+')[0]}"} if own else {}
    wanted = canonicalize_name(needs.distribution)
    for environment in reversed(installed()):
        if canonicalize_name(environment.distribution) == wanted:
            found[f"{name}@{environment.version}"] = f"{needs.distribution} {environment.version}"
    return found


def columns_of(environment: Environment) -> list[str]:
    """Every route to the compiler of an environment, by column."""
    wanted = canonicalize_name(environment.distribution)
    needs = {name: requirements(name) for name in names()}
    found = [name for name, n in needs.items() if n is not None and canonicalize_name(n.distribution) == wanted]
    return [f"{name}@{environment.version}" for name in found]


def other_columns() -> list[str]:
    """The environments that only `NAME@VERSION` reaches, because `NAME` alone is another version."""
    found = []
    for environment in installed():
        with contextlib.suppress(UnknownBackend):  # of a package that is not installed any more
            if site(environment.backend).name != environment.name:
                found.append(environment.name)
    return found


def site(column: str, home: str = sys.executable) -> Site:
    """Where a column runs. Raises UnknownBackend, or Unavailable with the command that would make a place for it.

    `tvm@0.26.0` runs in an environment with that version, `tvm` where we run ourselves if it is installed there, else
    in the environment with the newest version, else nowhere: its adapter then says what is missing.
    """
    name, version = split_column(column)
    needs = requirements(column)
    if needs is None:
        if version:
            raise Unavailable(
                f"the adapter of {name} has no REQUIREMENTS, so there are no versions of it to choose from"
            )
        return Site(home)
    own = here(needs.distribution) if home == sys.executable else ""
    if not version and (own or home != sys.executable):
        return Site(home)
    environment = find(column)
    if environment is not None:
        return Site(environment.interpreter, environment.name)
    if not version or (own and same_version(own, version)):
        return Site(home)
    raise Unavailable(f"there is no environment {column}; `inplace-fuzz env create {name}=={version}` makes it")
