"""`issue` and `export`: a corpus entry for people who do not have this tool."""

from __future__ import annotations

import platform
from dataclasses import replace

import click

from inplace_fuzz import corpus
from inplace_fuzz.api import as_program, vet_entry
from inplace_fuzz.commands import targets
from inplace_fuzz.core import Program
from inplace_fuzz.execute.engine import Engine
from inplace_fuzz.report import reproduce


def print_issue(named: str, backend: str | None, *, trust: bool) -> None:
    """Prints a bug report as the compiler's tracker asks for it."""
    entry, program, fault = _opened(named, backend, trust=trust)
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    click.echo(reproduce.report(entry, program, fault, machine))


def print_script(named: str, backend: str | None, *, trust: bool) -> None:
    """Prints the reproducer alone."""
    _, program, fault = _opened(named, backend, trust=trust)
    click.echo(reproduce.script(program, fault), nl=False)


def print_test(named: str, backend: str | None, *, trust: bool) -> None:
    """Prints a test for the compiler's own suite."""
    _, program, fault = _opened(named, backend, trust=trust)
    click.echo(reproduce.suite_test(program, fault), nl=False)


def _opened(named: str, backend: str | None, *, trust: bool) -> tuple[corpus.Entry, Program, corpus.Expectation]:
    path, _ = targets.split(named)
    entry = corpus.read_entry(path, trust=trust)
    if not trust:
        vet_entry(entry.parsed, str(path))  # before anything is said of a fault, which the reader may go on to run
    fault = reproduce.chosen(entry, backend)
    with Engine(workers=1) as engine:
        program = as_program(entry.parsed, str(path), engine, trust=trust)
    return entry, replace(program, title=entry.title), fault
