"""`cmd:COMMAND`: a compiler without an adapter, reached by a command. This is the command; `command.py` runs it.

    cmd:./my-compiler {program} {inputs} {outputs}

A command is typed by a user and has a short name, here `cmd:my-compiler`, under which everything else knows it: tables,
the campaign's database, corpus files. Files never hold a command, so that replaying a stranger's file starts nothing.
What has been typed is passed on to workers in one environment variable.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from inplace_fuzz.core.backend import Unavailable

PREFIX = "cmd:"
VARIABLE = "INPLACE_FUZZ_COMMANDS"
EXAMPLE = '"cmd:./my-compiler {program} {inputs} {outputs}"'
# What a command can be given: the program in one of three forms, and where its tensors are.
FORMS = ("program", "exported", "source")
FILES = ("inputs", "outputs", "inputs_after")
_NAME = re.compile(r"[\w.-]+")
_NAMED = re.compile(r"(?P<name>[\w.-]+)=(?P<command>.*)", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{(\w*)\}")
_SCRIPT = (".py", ".sh")


class BadCommand(ValueError):
    """A command that cannot be used; the message says how it is written."""


@dataclass(frozen=True)
class Command:
    """`text` as it was typed, without `cmd:`, in the working directory `directory`, where it also runs."""

    name: str
    text: str
    directory: str

    @property
    def form(self) -> str:
        """Which of `FORMS` it takes the program in."""
        return next(f for f in FORMS if f"{{{f}}}" in self.text)

    @property
    def returns_inputs(self) -> bool:
        return "{inputs_after}" in self.text

    def words(self, **paths: str) -> list[str]:
        """What is started, with a path in each place."""
        return [_PLACEHOLDER.sub(lambda m: paths[m[1]], word) for word in shlex.split(self.text)]

    def version(self) -> str:
        """`my-compiler 1a2b3c4d`, a digest of the files that are named. Raises Unavailable with none to start."""
        first, *rest = shlex.split(self.text)
        found = shutil.which(os.path.join(self.directory, first) if "/" in first else first)
        if found is None:
            where = f" in {self.directory}" if "/" in first and not first.startswith("/") else ""
            raise Unavailable(f"there is no program {first}{where} that can be started; look at its path and its mode")
        digest = hashlib.sha256(self.text.encode())
        for path in (Path(found), *(Path(self.directory, word) for word in rest if not _PLACEHOLDER.search(word))):
            if path.is_file():
                digest.update(path.read_bytes())
        return f"{self.name.removeprefix(PREFIX)} {digest.hexdigest()[:8]}"


def is_command(name: str) -> bool:
    return name.startswith(PREFIX)


def split(text: str) -> list[str]:
    """A comma-separated list of backends. A command goes on to the end of the list, or to the next `cmd:`."""
    found: list[str] = []
    for part in re.split(rf",\s*(?={PREFIX})", text):
        part = part.strip()
        found += [part] if is_command(part) else [name.strip() for name in part.split(",")]
    return list(dict.fromkeys(name for name in found if name))


def register(text: str) -> str:
    """Takes down a command as it is typed, and returns its name; of a name alone, that name. Raises BadCommand."""
    rest = text.removeprefix(PREFIX).strip()
    if _NAME.fullmatch(rest):
        return PREFIX + rest
    named = _NAMED.fullmatch(rest)
    command = named["command"].strip() if named else rest
    _check(command)
    name = PREFIX + (named["name"] if named else _name(shlex.split(command)))
    commands = _registered()
    commands[name] = {"text": command, "directory": os.getcwd()}
    os.environ[VARIABLE] = json.dumps(commands)
    return name


def find(name: str) -> Command:
    """The command of this name. Raises Unavailable where none has been typed."""
    known = _registered().get(name)
    if known is None:
        raise Unavailable(
            f"what {name} runs must be typed: --backends '{name}=COMMAND {{program}} {{inputs}} {{outputs}}'"
        )
    return Command(name, known["text"], known["directory"])


def typed(names: Iterable[str]) -> str:
    """What a user types in a shell for these backends, one word: commands whole and last."""
    known = _registered()
    names = sorted(names, key=lambda name: name in known)
    return shlex.quote(",".join(_typed(name, known[name]["text"]) if name in known else name for name in names))


def _typed(name: str, text: str) -> str:
    short = name.removeprefix(PREFIX)
    return PREFIX + (text if short == _name(shlex.split(text)) else f"{short}={text}")


def _registered() -> dict[str, dict[str, str]]:
    try:
        found = json.loads(os.environ.get(VARIABLE, "{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _name(words: list[str]) -> str:
    """The program's name; for a script, not its interpreter's but its own."""
    chosen = next((w for w in words if w.endswith(_SCRIPT)), words[0])
    path = Path(chosen)
    return re.sub(r"[^\w.-]", "-", path.stem if path.suffix in _SCRIPT else path.name) or "command"


def _check(command: str) -> None:
    if "\n" in command:
        raise BadCommand(f"a command is one line; write for example {EXAMPLE}")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadCommand(f"the command {command!r} cannot be taken apart: {error}; look at its quotes") from None
    if not words:
        raise BadCommand(f"cmd: is followed by no command; write for example {EXAMPLE}")
    used = _PLACEHOLDER.findall(command)
    for name in used:
        if name not in (*FORMS, *FILES):
            known = ", ".join(f"{{{n}}}" for n in (*FORMS, *FILES))
            raise BadCommand(f"the command has {{{name}}}, which is none of {known}")
    if sum(form in used for form in FORMS) != 1:
        raise BadCommand(
            f"the command {command!r} takes its program as one of {{program}} (TorchScript), {{exported}} "
            f"(torch.export) and {{source}} (Python); write for example {EXAMPLE}"
        )
    for name in ("inputs", "outputs"):
        if name not in used:
            raise BadCommand(f"the command {command!r} lacks {{{name}}}; write for example {EXAMPLE}")
    if _PLACEHOLDER.search(words[0]):
        raise BadCommand(f"a command begins with the program to start, as in {EXAMPLE}")
    if swallowed := re.search(r"\},\s*([^{\s][^\s,]*)", command):
        raise BadCommand(f"a command goes on to the end of the list; write {swallowed[1]!r} before cmd:")
