"""Puts a template into a program, on a name that it suits."""

from __future__ import annotations

from collections.abc import Sequence

from inplace_fuzz.generate.exact import Span, fits, hull
from inplace_fuzz.generate.mixed import write_level
from inplace_fuzz.generate.neighbours import NEIGHBOURS
from inplace_fuzz.generate.overlap import overlaps_itself
from inplace_fuzz.generate.state import Named, State
from inplace_fuzz.generate.template import Line, Template
from inplace_fuzz.generate.templates import TEMPLATES

ALL_TEMPLATES = TEMPLATES + NEIGHBOURS


def template(state: State) -> bool:
    """Splices in one template, on a name that it suits. False where none is suited."""
    names = [n for n in state.tensors(writable=True) if n.rank and not n.empty]
    if not names:
        return False
    x = state.choices.pick(names)
    for row in state.active.order(state.choices, ALL_TEMPLATES):
        if suits(row, x) and (row.script or not state.script_only) and fits(row.span(x.base.span), x.dtype):
            splice(state, row, x)
            return True
    return False


def suits(row: Template, x: Named) -> bool:
    return (
        x.rank >= row.rank
        and x.shape[0] >= row.rows
        and x.numbers.category in row.categories
        and (not row.square or (x.rank == 2 and x.shape[0] == x.shape[1]))
    )


def splice(state: State, row: Template, x: Named) -> None:
    """Adds the lines of a template, names what they make, and widens the spans of what they write."""
    names = {"x": x.text, "ones": "1, " * (x.rank - 1), "n": str(x.shape[0])}
    span = row.span(x.base.span)
    x.base.span = hull(x.base.span, span)
    x.base.written += 1
    state.script = state.script and row.script
    for line in row.lines:
        if line.made and line.made not in names:
            names[line.made] = state.fresh(_LETTERS[line.made])
        if line.later and state.choices.chance(40) and x.writable:
            write_level(state, x)  # another write than the usual ones
            continue
        state.run(fill(state, line, names, x))
        if line.made:
            _bind(state, names[line.made], line.made, x, span)
    if row.feature == "metadata":
        state.reshaped()


_LETTERS = {"t": "tuvw", "r": "rsqp", "v": "vwuab", "w": "wvuab", "i": "ijkl", "m": "mnop", "u": "uvwab"}


def fill(state: State, line: Line, names: dict[str, str], x: Named) -> str:
    """A line with one of its alternatives, and names filled in.

    Alternatives that need contiguous memory, or floats, count only where `x` has them.
    """
    options: Sequence[str] = line.alternatives
    if len(options) > 1:
        contiguous, floating = x.t.is_contiguous(), x.numbers.category == "f"
        options = [o for o in options if (contiguous or ".view" not in o) and (floating or "dropout" not in o)]
    return state.choices.pick(options).format(**names)


def _bind(state: State, name: str, made: str, x: Named, span: Span) -> None:
    if made == "u":
        return  # a list or a dict
    role = {"t": "made", "r": "read", "i": "read", "m": "read"}.get(made, "view")
    named = state.bind(name, role, (0, x.shape[0]) if made == "i" else (0, 1) if made == "m" else span)
    named.overlapping = overlaps_itself(named.t)
    named.base.span = hull(named.base.span, span)
    if made in "tr":
        state.wanted.append(name)
