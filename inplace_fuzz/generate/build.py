"""A program from a block of bytes: inputs, statements, return, and the text of the class around them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from inplace_fuzz.core import Program
from inplace_fuzz.generate.choices import Choices
from inplace_fuzz.generate.inputs import draw_inputs
from inplace_fuzz.generate.makers import add_buffer, settled
from inplace_fuzz.generate.mix import Mix
from inplace_fuzz.generate.returns import add_return
from inplace_fuzz.generate.state import Announce, Refused, State
from inplace_fuzz.generate.statements import add_statement

HEADER = 40  # bytes for the mix, the inputs and the return
RECORD = 8  # bytes for one statement


@dataclass(frozen=True, slots=True)
class Built:
    """A program, and how many statements had to be taken back because eager refused them."""

    program: Program
    refused: int


def build(
    header: bytes, records: Sequence[bytes], mix: Mix, *, script_only: bool = False, announce: Announce | None = None
) -> Built:
    """The program that these bytes stand for: one statement, or one template, for each record. Any bytes will do.

    `announce` is called with the text of each statement before it runs.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some operators announce that they are in beta
        return _build(header, records, mix, script_only, announce)


def _build(header: bytes, records: Sequence[bytes], mix: Mix, script_only: bool, announce: Announce | None) -> Built:
    first_choices = Choices(header)
    state = State(mix.draw(first_choices), first_choices, script_only=script_only, announce=announce)
    inputs = draw_inputs(state)
    if state.gate("buffer"):
        add_buffer(state)
    for record in records:
        state.choices = Choices(record)
        try:
            add_statement(state)
        except Refused:
            continue
    state.choices = first_choices
    add_return(state)
    first, second = tuple(inputs.first), tuple(inputs.second)
    calls = (first, second) if state.second and settled(state) else (first,)
    return Built(Program(_source(state, inputs.names), calls, mix.exact, state.script), state.refused)


def _source(state: State, names: list[str]) -> str:
    init = ""
    if any("self.buf" in line for line in state.lines):
        lines = ["def __init__(self):", "    super().__init__()", *(f"    {line}" for line in state.init)]
        init = "".join(f"    {line}\n" for line in lines) + "\n"
    body = "".join(f"        {line}\n" for text in state.lines for line in text.split("\n"))
    return f"import torch\n\n\nclass M(torch.nn.Module):\n{init}    def forward({', '.join(['self', *names])}):\n{body}"
