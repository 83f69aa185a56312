"""What people name on the command line: `FILE.py`, a program file, or `FILE.py:Class`, a module of their own.

A program file may come from anywhere, and is run only where it keeps to the allowlist of `core.vetting`, or `--trust`
is given. A class is named by whoever knows the file: it is run as `import` would run it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from inplace_fuzz import corpus
from inplace_fuzz.api import as_program
from inplace_fuzz.core import Program, ProgramError, default_spec, parse
from inplace_fuzz.core.intake import read_file
from inplace_fuzz.core.text import render_inputs, without_inputs
from inplace_fuzz.execute.engine import Engine


def split(target: str) -> tuple[Path, str]:
    """The file, and the class or nothing. Raises ProgramError where there is no such file."""
    file, colon, name = target.rpartition(":")
    if not colon or Path(target).exists():
        file, name = target, ""
    path = Path(file)
    if not path.exists():
        raise ProgramError(f"there is no file {file}; write FILE.py, or FILE.py:Class for a module of your own")
    return path, name


def entry(engine: Engine, target: str, *, trust: bool) -> tuple[corpus.Entry, bool]:
    """The file taken apart, and whether it is trusted. Raises ProgramError and CorpusError."""
    path, name = split(target)
    if not name:
        return corpus.read_entry(path, trust=trust), trust
    return corpus.take_apart(path, _text(engine, path, name, trust=True), trust=True), True


def program(engine: Engine, target: str, inputs: Sequence[str] = (), *, trust: bool) -> Program:
    """The program, with its own `inputs()` or those that are given. Raises ProgramError, CorpusError, SpecError."""
    path, name = split(target)
    trusted = trust or bool(name)
    text = _text(engine, path, name, trust=trusted)
    if inputs:
        specs = tuple(default_spec(t, start=1 + 100 * k) for k, t in enumerate(inputs))
        text = without_inputs(text, name=str(path)) + "\n\n" + render_inputs(specs)
    elif "def inputs(" not in text:
        raise ProgramError(
            f'{path} has no inputs(); add one that returns the tuple of arguments, or pass --input "f32[4,3]"'
        )
    made = as_program(parse(text, name=str(path), trust=trusted), str(path), engine, trust=trusted)
    return replace(made, title="")


def _text(engine: Engine, path: Path, name: str, *, trust: bool) -> str:
    """The file's text, with the class that is meant called M."""
    text = read_file(path, trust=trust)
    if not name:
        return text
    renamed: str = engine.ask("rename", {"text": text, "class": name, "name": str(path)})["text"]
    return renamed
