"""Whether a program file from elsewhere may be run: an allowlist of syntax and of names, checked without running it.

What makes a file that passes harmless:

1. its text is what it looks like: nothing that cannot be seen, no declared encoding, and no `# type:` comment, which
   TorchScript evaluates;
2. it holds the statements and expressions that `checker.py` has a rule for. There is no lambda, no
   f-string, no `try`, `global` or `match`, and no decorator or base class but a few known ones;
3. a module (`torch`, an alias of `torch.nn`) is never a value: what follows it has to be a row of `vocabulary.NAMES`;
4. any other attribute is one of `vocabulary.ATTRIBUTES`, or the file's own (what it assigns to `self`, its methods,
   its buffers). Its own are looked up on `self` alone, and on parts of it that are always of a class of the file: on
   a value of unknown kind, such as the stand-in for a tensor that a tracer passes to `forward`, any name may lead
   anywhere. So neither a class nor a method as its class holds it is ever a value: from there it could be called with
   something else as `self`;
5. a name is bound in the file, or one of a few builtins. No builtin but those can be shadowed, so none is reached
   where the file seems to speak of its own;
6. text is short and plain, numbers make no tensor or list larger than `ELEMENTS`.

What stays is computing with tensors, which workers do under their limits.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from inplace_fuzz.core.checker import ELEMENTS, Checker, refuse
from inplace_fuzz.core.intake import TRUST, nesting
from inplace_fuzz.core.program import Program, ProgramError
from inplace_fuzz.core.spec import Arg, specs_in
from inplace_fuzz.core.text import syntax

_DEPTH = 100
_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_TYPE_COMMENT = re.compile(r"#\s*type\s*:(?! ?ignore(\[[a-zA-Z-]+\])?\s*$)")


def vet(text: str, *, name: str) -> None:
    """Raises ProgramError, naming the line and what is not allowed there, unless the text is harmless to run."""
    nesting(text, name=name)
    for row, line in enumerate(text.split("\n"), 1):
        hidden = next((c for c in line if not c.isprintable() and c != "\t"), "")
        if hidden:
            refuse(name, row, f"the character U+{ord(hidden):04X}, which cannot be seen")
        if _TYPE_COMMENT.search(line):
            refuse(name, row, "a `# type:` comment, which TorchScript evaluates")
        cookie = _COOKIE.match(line) if row <= 2 else None
        if cookie and cookie[1].lower().replace("_", "-") not in {"utf-8", "utf8"}:
            refuse(name, row, f"the encoding {cookie[1]!r}, with which Python would read another program")
    tree = syntax(text, name=name)
    _limit_depth(tree, name)
    Checker(tree, name).check()


def vet_program(program: Program, *, name: str) -> None:
    """The same for a program that came as data, such as a row of another machine's store."""
    vet(program.source, name=name)
    vet_calls(program.calls, name=name)


def vet_calls(calls: Iterable[tuple[Arg, ...]], *, name: str) -> None:
    """Raises ProgramError for inputs that show more elements than a program from elsewhere may have."""
    for call in calls:
        total = sum(max(spec.numel, len(spec.values)) for spec in specs_in(call))
        if total > ELEMENTS:
            raise ProgramError(f"{name}: the inputs of a call have {total} elements, more than {ELEMENTS}; {TRUST}")


def _limit_depth(tree: ast.AST, name: str) -> None:
    row, depth, line = [tree], 0, 1
    while row:
        depth += 1
        line = next((n.lineno for n in row if hasattr(n, "lineno")), line)
        if depth > _DEPTH:
            refuse(name, line, "what is nested too deeply")
        row = [child for node in row for child in ast.iter_child_nodes(node)]
