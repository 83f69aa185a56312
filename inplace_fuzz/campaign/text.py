"""A finding in words: what the terminal prints, and the comment block at the end of a corpus file."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from inplace_fuzz.core import Channel, Difference, Kind, Program, Verdict, base_name
from inplace_fuzz.core.features import title
from inplace_fuzz.core.spec import TensorSpec
from inplace_fuzz.judge.compare import number, show_values
from inplace_fuzz.shrink import statements
from inplace_fuzz.shrink.respell import BY_NAME, first_change, respelled

_TOKEN = re.compile(r"[^\s,\[\]()]+")


def difference_lines(difference: Difference, backend: str) -> list[str]:
    """Where the runs part, both sides below each other, and carets under what differs."""
    count = f", {difference.differing} of {difference.total} elements differ" if difference.total > 1 else ""
    later = f", call {difference.call + 1}" if difference.call else ""
    width = max(len("eager"), len(backend))
    lines = [f"{difference.where}{later}{count}"]
    lines.append(f"    {'eager'.ljust(width)}  {difference.eager}")
    lines.append(f"    {backend.ljust(width)}  {difference.other}")
    marks = _carets(difference.eager, difference.other)
    if marks and difference.total:
        lines.append(f"    {' ' * width}  {marks}".rstrip())
    return lines


def _carets(left: str, right: str) -> str:
    """Carets under the tokens of `right` that are not the same as those of `left`, where they line up."""
    ours, theirs = _TOKEN.findall(left), list(_TOKEN.finditer(right))
    if len(ours) != len(theirs):
        return ""
    line = [" "] * len(right)
    for token, match in zip(ours, theirs, strict=True):
        if token != match.group():
            line[match.start() : match.end()] = "^" * len(match.group())
    return "".join(line)


def argument_text(program: Program, call: int = 0) -> str:
    """`i: i64[2] = [0, 1]   y: f32[2, 2] = [[1, 2], [3, 4]]`."""
    parts = []
    for name, arg in zip(program.parameters, program.calls[call], strict=False):
        if isinstance(arg, TensorSpec):
            shown = (
                show_values(arg.shape, arg.values)
                if arg.plain
                else "storage " + show_values((len(arg.values),), arg.values)
            )
            parts.append(f"{name}: {arg.layout()} = {_shortened(shown)}")
        else:
            parts.append(f"{name} = {number(arg) if isinstance(arg, float) else arg}")
    return "   ".join(parts)


def _shortened(text: str, limit: int = 90) -> str:
    return text if len(text) <= limit else text[: limit - 2] + " …"


def program_lines(program: Program) -> list[str]:
    """The program as a bug report shows it: forward alone where there is nothing else, with the inputs beside it."""
    classes = [n for n in program.tree.body if isinstance(n, ast.ClassDef) and n.name == "M"]
    lines = program.source.strip("\n").splitlines()
    if len(classes) == 1 and len(classes[0].body) == 1 and len(program.tree.body) <= 2:
        forward = program.forward
        body = lines[forward.lineno - 1 : forward.end_lineno]
        indent = len(body[0]) - len(body[0].lstrip())
        body = [line[indent:] for line in body]
        body[0] = f"{body[0].ljust(36)} {argument_text(program)}".rstrip()
        shown = body
    else:
        shown = [*lines, "", f"inputs: {argument_text(program)}"]
    for call in range(1, len(program.calls)):
        shown.append(f"call {call + 1}: {argument_text(program, call)}")
    return shown


def finding_lines(
    program: Program,
    backend: str,
    lane: str,
    version: str,
    verdict: Verdict,
    *,
    original: Program | None = None,
    cures: Sequence[str] = (),
    path: str = "",
) -> list[str]:
    """The block that `run`, `check` and `show_difference` print for one finding."""
    backend = base_name(backend)
    count = statements(program)
    size = f"{count} statement{'s' * (count != 1)}"
    if original is not None:
        size += f", shrunk from {statements(original)}"
    kind = f"{verdict}{' (differs from run to run)' if verdict.nondeterministic else ''}"
    name = version.replace("apache-", "") if backend in version else f"{backend} ({version})"
    lines = [f"FOUND  {kind}  {name}  {lane} lane         {size}", ""]
    lines += [f"    {line}".rstrip() for line in program_lines(program)]
    lines.append("")
    for difference in verdict.differences[:2]:
        lines += [f"    {line}" for line in difference_lines(difference, backend)]
    if verdict.message:
        lines.append(f"    {backend} says  {verdict.message}")
    if verdict.origin:
        lines.append(f"    origin    {verdict.origin}")
    lines += [f"    agrees    {line}" for name in cures[:1] for line in _cure_lines(program, name)]
    if path:
        lines += [f"    saved     {path}", f"    re-run    inplace-fuzz replay {path}"]
    return lines


def _cure_lines(program: Program, name: str) -> list[str]:
    """What a respelling changes, as a person would say it."""
    other = respelled(program, [BY_NAME[name]])
    change = first_change(program, other) if other is not None else None
    return [f"where `{change[0]}` is written `{change[1]}`"] if change else []


_WRONG = {
    Channel.VALUES: "gives wrong values",
    Channel.DTYPE: "gives another dtype",
    Channel.SHAPE: "gives another shape",
    Channel.STRUCTURE: "gives other outputs",
    Channel.STRIDES: "lays its output out otherwise",
    Channel.INPUTS: "leaves an input wrong",
    Channel.BUFFERS: "leaves a buffer wrong",
    Channel.ALIAS: "shares other memory",
    Channel.AGAIN: "hands out one tensor twice",
}
_FAILS = {"export": "fails to export it", "convert": "fails to import it", "build": "fails to build it"}


def entry_title(program: Program, backend: str, verdict: Verdict) -> str:
    """One sentence for the top of a corpus file: what the program does, and what goes wrong with it."""
    if verdict.channels:
        wrong = " and ".join(_WRONG[c] for c in verdict.channels[:2])
    elif verdict.kind is Kind.ERROR:
        wrong = _FAILS.get(verdict.stage, "fails to run it")
    else:
        wrong = f"ends in {verdict}"
    return f"{title(program).rstrip('.')}: {base_name(backend)} {wrong}."


def entry_comment(backend: str, verdict: Verdict) -> list[str]:
    """The comment block of a corpus file."""
    return [line for d in verdict.differences[:2] for line in difference_lines(d, base_name(backend))]
