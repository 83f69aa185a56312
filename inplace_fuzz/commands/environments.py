"""Commands about environments: list, create, remove, doctor."""

from __future__ import annotations

import re
from collections.abc import Sequence

import click

from inplace_fuzz.backends import check_name
from inplace_fuzz.core import Kind, Lane, Program, TensorSpec, split_column
from inplace_fuzz.execute import install
from inplace_fuzz.execute.engine import Engine, Target, Task
from inplace_fuzz.execute.environments import (
    Environment,
    EnvironmentsError,
    columns_of,
    environments_directory,
    find,
    installed,
    read,
)

# Every compiler that works at all takes this.
TINY = Program(
    "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n",
    ((TensorSpec((2,), "float32", (1.0, 2.0)),),),
)


def parse_wanted(text: str) -> tuple[str, str]:
    """`tvm==0.26.0` or `tvm@0.26.0` as ("tvm", "0.26.0"); `tvm` has an empty version."""
    name, version = split_column(re.sub(r"\s*==\s*", "@", text.strip(), count=1))
    if not re.fullmatch(r"[\w.:-]+", name) or (version and not re.fullmatch(r"[\w.+!-]+", version)):
        raise EnvironmentsError(f"{text!r} is no backend and version; write for example tvm==0.26.0")
    check_name(name)
    return name, version


def list_environments() -> None:
    """One line per environment."""
    found = installed()
    rows = [
        (e.name, f"{e.distribution} {e.version}", f"torch {e.torch}", f"Python {e.python}", _mb(e.bytes)) for e in found
    ]
    widths = [max((len(row[k]) for row in rows), default=0) for k in range(5)]
    for row in rows:
        click.echo("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())
    if not rows:
        click.echo(f"{environments_directory()} holds none yet; `inplace-fuzz env create tvm==0.26.0` makes one")


def _mb(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def create_environments(wanted: Sequence[str], torch: str) -> None:
    """Makes each, one after the other, with a line for each step."""
    for name, version in [parse_wanted(text) for text in wanted]:
        click.echo(f"{name}{'@' if version else ''}{version}")
        made = install.create(name, version, torch=torch, say=lambda text: click.echo(text, nl=False))
        with Engine(workers=1) as engine:
            column, problem = _trial(engine, made)
        state = f"does not work: {problem}" if problem else "is ready"
        click.echo(
            f"{made.name} {state}: {made.distribution} {made.version}, torch {made.torch}, {_mb(made.bytes)}, "
            f"{made.seconds:.0f} s; --backends {column}"
        )


def remove_environments(wanted: Sequence[str]) -> None:
    for name, version in [parse_wanted(text) for text in wanted]:
        column = f"{name}@{version}" if version else name
        environment = find(column)
        if environment is None:
            there = ", ".join(e.name for e in installed()) or "none"
            raise EnvironmentsError(f"there is no environment {column}; there are: {there}")
        same = [e for e in installed() if e.distribution == environment.distribution]
        if not version and len(same) > 1:
            raise EnvironmentsError(f"say which of {', '.join(e.name for e in same)} to remove")
        install.remove(environment.path)
        click.echo(f"removed {environment.name} ({_mb(environment.bytes)})")


def doctor() -> int:
    """Looks at every environment, clears away what is half-made. Returns 1 when something is wrong with one."""
    wrong = 0
    for path, alive in install.partials():
        if alive:
            click.echo(f"{path.name}  is being made by another process")
        else:
            install.remove(path)
            click.echo(f"{path.name}  was left half-made; removed")
    directory = environments_directory()
    for path in sorted(p for p in directory.glob("*/") if not p.name.startswith(".")):
        environment = read(path)
        if environment is None:
            wrong += 1
            click.echo(f"{path.name}  has no record that can be read; remove it: rm -r {path}")
    with Engine(workers=1) as engine:
        for environment in installed():
            problem = _problem(engine, environment)
            wrong += bool(problem)
            again = f"inplace-fuzz env remove {environment.name} && inplace-fuzz env create {environment.name}"
            click.echo(f"{environment.name}  {f'{problem}; make it anew: {again}' if problem else 'ok'}")
    if not installed() and not wrong:
        click.echo(f"{directory} holds no environments")
    return 1 if wrong else 0


def _problem(engine: Engine, environment: Environment) -> str:
    """What is wrong with an environment, or nothing."""
    try:
        changes = install.changed(environment)
    except EnvironmentsError as error:
        return str(error)
    if changes:
        return f"it has changed since it was made: {', '.join(changes[:5])}{' …' if len(changes) > 5 else ''}"
    return _trial(engine, environment)[1]


def _trial(engine: Engine, environment: Environment) -> tuple[str, str]:
    """The column that a tiny program was tried in, and why not even that gets through, or nothing when it does.

    Where the environment's own backend cannot run on this machine, another route to the same compiler may.
    """
    columns = [environment.name, *(c for c in columns_of(environment) if c != environment.name)]
    answers = engine.versions(columns)
    column = next((c for c in columns if "unavailable" not in answers[c]), environment.name)
    data = answers[column]
    if "unavailable" in data:
        return column, str(data["unavailable"])
    target = Target(column, Lane(data["lanes"][0]))
    (result,) = engine.run([Task(TINY, (target,), 0)])
    verdict = result.verdict
    works = not verdict.is_finding or verdict.kind is Kind.MISMATCH  # a wrong answer is the compiler's own affair
    return column, "" if works else f"{verdict}: {verdict.message}"
