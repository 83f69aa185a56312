"""What `forward` returns: written tensors, views of them, snapshots; one, several, nested, in a list or a dict."""

from __future__ import annotations

from dataclasses import dataclass

from inplace_fuzz.generate.state import Named, State


@dataclass(frozen=True, slots=True)
class Form:
    feature: str
    least: int  # how many outputs it needs
    text: str  # with {0}, {1} … or {all}


FORMS = (
    Form("return_tuple", 1, "{all}"),
    Form("return_nested", 2, "{0}, ({rest},)"),
    Form("return_list", 1, "[{all}]"),
    Form("return_dict", 1, "{{{pairs}}}"),
    Form("return_nested", 2, "({0}, [{rest}])"),
)


def add_return(state: State) -> None:
    """Adds the `return` line."""
    outputs = [_output(state, named) for named in _drawn(state)]
    row = state.active.pick(state.choices, FORMS)
    if len(outputs) < row.least:
        row = FORMS[0]
    text = row.text.format(
        *outputs,
        all=", ".join(outputs),
        rest=", ".join(outputs[1:]),
        pairs=", ".join(f'"{letter}": {text}' for letter, text in zip("abcdef", outputs, strict=False)),
    )
    state.lines.append(f"return {text}")


def _drawn(state: State) -> list[Named]:
    """One to four names: something written first, what was kept for comparison, and now and then any other."""
    choices = state.choices
    tensors = state.tensors()
    written = [n for n in tensors if n.base.written] or tensors
    drawn = [choices.pick(written)]
    kept = [n for n in tensors if n.text in state.wanted and n not in drawn]
    drawn += kept[-1 - choices.below(3) :] if kept else []
    if choices.chance(60):
        unseen = [n for n in written if all(n.base is not d.base for d in drawn)] or tensors
        other = choices.pick(unseen)
        if other not in drawn or state.gate("return_twice"):
            drawn.append(other)
    return drawn[:4]


def _output(state: State, named: Named) -> str:
    """A name as it is, or a view of it, or something computed from it last."""
    if named.rank and not named.empty and state.gate("return_view"):
        return f"{named.text}[0]"
    if named.numbers.category == "f" and state.gate("return_computed"):
        return f"{named.text} * 1"
    return named.text
