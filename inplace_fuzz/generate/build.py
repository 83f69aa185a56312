"""A program from a block of bytes: inputs, statements, return, and the text of the class around them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

from inplace_fuzz.core import Program
from inplace_fuzz.generate.choices import Choices
from inplace_fuzz.generate.inputs import draw_inputs
from inplace_fuzz.generate.makers import add_buffer, settled
from inplace_fuzz.generate.mix import Mix
from inplace_fuzz.generate.returns import add_return
from inplace_fuzz.generate.state import Refused, State
from inplace_fuzz.generate.statements import add_statement

HEADER = 48  # bytes of the mix and the inputs
RECORD = 10  # bytes of one statement, and of the return


@dataclass(frozen=True, slots=True)
class Built:
    """A program, and how many statements had to be taken back because eager refused them."""

    program: Program
    refused: int


def build(
    data: bytes,
    mix: Mix,
    *,
    min_statements: int = 1,
    max_statements: int = 12,
    script_only: bool = False,
    rounding: bool = False,
) -> Built:
    """The program that these bytes stand for. Any bytes stand for one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some operators announce that they are in beta
        return _build(data, mix, min_statements, max_statements, script_only, rounding)


def _build(data: bytes, mix: Mix, least: int, most: int, script_only: bool, rounding: bool) -> Built:
    choices = Choices(data[:HEADER])
    count = choices.between(least, most)
    state = State((mix.rounding() if rounding else mix).draw(choices), choices, script_only=script_only)
    inputs = draw_inputs(state)
    if state.gate("buffer"):
        add_buffer(state)
    for k in range(count):
        state.choices = Choices(_record(data, k))
        if state.choices.byte() == 0 and len(state.lines) + count - k > least:
            continue  # so that shrinking can leave out any statement
        try:
            add_statement(state)
        except Refused:
            continue
    state.choices = Choices(_record(data, count))
    add_return(state)
    first, second = tuple(inputs.first), tuple(inputs.second)
    calls = (first, second) if state.second and settled(state) else (first,)
    return Built(Program(_source(state, inputs.names), calls, not rounding, state.script), state.refused)


def _record(data: bytes, k: int) -> bytes:
    start = HEADER + RECORD * k
    return data[start : start + RECORD]


def _source(state: State, names: list[str]) -> str:
    init = ""
    if any("self.buf" in line for line in state.lines):
        lines = ["def __init__(self):", "    super().__init__()", *(f"    {line}" for line in state.init)]
        init = "".join(f"    {line}\n" for line in lines) + "\n"
    body = "".join(f"        {line}\n" for text in state.lines for line in text.split("\n"))
    return f"import torch\n\n\nclass M(torch.nn.Module):\n{init}    def forward({', '.join(['self', *names])}):\n{body}"
