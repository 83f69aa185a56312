"""Program files are taken in: what is no ordinary file is not opened, and what no parser should see is not parsed.

This is for the supervisor's own good, and happens to every file, whether or not it is then run. Opening a pipe would
wait for ever; a device has no end. Python's parser needs quadratic time and memory for some texts (18 GB for 256 KiB of
`import a.a.a…`), so that a text is first bounded by its tokens, which needs no parser.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from pathlib import Path

from inplace_fuzz.core.program import ProgramError

CHARACTERS = 256 << 10
TRUST = "--trust runs the file all the same"
_LARGEST_FILE = 64 << 20
_DEPTH = 100
_RUN = 400  # tokens without a comma between them
_FORMATTED = 1000  # characters of one f-string
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)|(?P<long>[a-zA-Z]{0,2}(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''))
    |(?P<short>[a-zA-Z]{0,2}(?:"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'))|(?P<open>[(\[{])|(?P<close>[)\]}])
    |(?P<apart>[,;])|(?P<line>\n)|(?P<gap>[ \t\f\r\\]+)|(?P<word>\w+)|(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


def read_file(path: Path, *, trust: bool = False) -> str:
    """The text of a program file. Raises ProgramError for what cannot be one, OSError where it cannot be read."""
    shown = shown_path(path)
    if shown != str(path) and not trust:
        raise ProgramError(f"the name {shown} holds characters that cannot be seen; rename the file")
    if path.is_symlink() and not trust:
        target = path.resolve()
        if not target.is_relative_to(path.parent.resolve()):
            raise ProgramError(f"{shown} is a link that leads out of its directory, to {shown_path(target)}; {TRUST}")
    kind = path.stat().st_mode
    if stat.S_ISDIR(kind):
        raise ProgramError(f"{shown} is a directory; name the files in it, for example {shown}/*.py")
    if not stat.S_ISREG(kind):
        raise ProgramError(f"{shown} is no ordinary file; copy what is in it to a file that ends in .py")
    limit = _LARGEST_FILE if trust else 4 * CHARACTERS
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # it may have been replaced by a pipe meanwhile
    with open(handle, "rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise ProgramError(f"{shown} is larger than {limit >> 10} KiB" + ("" if trust else f"; {TRUST}"))
    if b"\0" in data:
        raise ProgramError(f"{shown} is not text: it holds NUL bytes; save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ProgramError(f"{shown} is not UTF-8 text; save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def shown_path(path: Path) -> str:
    """A path on one line, whatever it is called."""
    text = str(path)
    return text if text.isprintable() else repr(text)


def typed_path(path: Path) -> str:
    """A path as a shell has to be given it: what is printed to be typed again may come from a stranger's directory."""
    return shlex.quote(str(path))


def nesting(text: str, *, name: str) -> None:
    """Raises ProgramError for a text that is too long, or too deep in one place, to be given to a parser."""
    if len(text) > CHARACTERS:
        raise ProgramError(f"{name} has {len(text)} characters, more than {CHARACTERS}; {TRUST}")
    runs = [0]
    line = 1
    for match in _TOKEN.finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "apart" or (kind == "line" and len(runs) == 1):
            runs[-1] = 0
        elif kind == "open":
            runs[-1] += 1
            runs.append(0)
        elif kind == "close":
            del runs[max(1, len(runs) - 1) :]
        elif kind not in {"comment", "gap", "line"}:
            runs[-1] += 1
        if len(runs) > _DEPTH or runs[-1] > _RUN:
            raise ProgramError(f"{name} line {line} is nested deeper, or longer in one piece, than any program is")
        if kind in {"long", "short"} and "f" in token[:2].lower() and len(token) > _FORMATTED:
            raise ProgramError(f"{name} line {line} holds an f-string of {len(token)} characters")
        line += token.count("\n")
