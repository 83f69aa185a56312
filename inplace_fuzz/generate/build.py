"""A program from a block of bytes: inputs, statements, return, and the text of the class around them."""

from __future__ import annotations

from dataclasses import dataclass

from inplace_fuzz.core import Program
from inplace_fuzz.generate.choices import Choices
from inplace_fuzz.generate.inputs import draw_inputs
from inplace_fuzz.generate.makers import add_buffer, settled
from inplace_fuzz.generate.mix import Mix
from inplace_fuzz.generate.returns import add_return
from inplace_fuzz.generate.state import Refused, State
from inplace_fuzz.generate.statements import add_statement

HEADER = 64  # bytes of the mix and the inputs
RECORD = 14  # bytes of one statement, and of the return


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
    choices = Choices(data, 0, HEADER)
    count = choices.between(min_statements, max_statements)
    state = State(mix.draw(choices), choices, rounding=rounding, script_only=script_only)
    root, inputs = draw_inputs(state)
    if state.gate("buffer"):
        add_buffer(state, root)
    for k in range(count):
        state.choices = Choices(data, HEADER + RECORD * k, RECORD)
        if state.choices.byte() == 0 and len(state.lines) + count - k > min_statements:
            continue  # so that shrinking can leave out any statement
        try:
            add_statement(state, root)
        except Refused:
            continue
    state.choices = Choices(data, HEADER + RECORD * count, RECORD)
    add_return(state)
    first, second = tuple(inputs.first), tuple(inputs.second)
    calls = (first, second) if state.second and settled(state) else (first,)
    return Built(Program(_source(state, inputs.names), calls, state.exact, state.script), state.refused)


def _source(state: State, names: list[str]) -> str:
    init = ""
    if state.init:
        init = "    def __init__(self):\n        super().__init__()\n" + "".join(f"        {line}\n" for line in state.init) + "\n"
    body = "".join(f"        {line}\n" for text in state.lines for line in text.split("\n"))
    return f"import torch\n\n\nclass M(torch.nn.Module):\n{init}    def forward({', '.join(['self', *names])}):\n{body}"
