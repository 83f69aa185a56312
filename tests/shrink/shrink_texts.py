"""Programs from a few lines of forward, and judges that look at the text alone."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence

from inplace_fuzz.core import Program, default_spec
from inplace_fuzz.shrink.edit import show, sound

ALL = {"x": "f32[4,3]", "y": "f32[4,3]", "z": "f32[3]", "i": "i64[2]", "m": "bool[4]"}


def program(body: str, inputs: dict[str, str] | None = None, *, init: str = "", before: str = "") -> Program:
    """A program of these lines; inputs are `x`, `y`, `z`, `i`, `m` as far as the lines name them, unless given."""
    body = textwrap.dedent(body).strip("\n")
    if inputs is None:
        inputs = {n: s for n, s in ALL.items() if re.search(rf"\b{n}\b", body)}
    source = f"import torch\n{before}\n\nclass M(torch.nn.Module):\n"
    if init:
        source += "    def __init__(self):\n        super().__init__()\n"
        source += textwrap.indent(textwrap.dedent(init).strip("\n"), " " * 8) + "\n\n"
    source += f"    def forward(self, {', '.join(inputs)}):\n{textwrap.indent(body, ' ' * 8)}\n"
    return Program(source, (tuple(default_spec(s) for s in inputs.values()),))


def forward(result: Program) -> str:
    """The lines of forward, without its head."""
    text = show(result.tree).split("def forward(", 1)[1]
    return textwrap.dedent(text.split("\n", 1)[1]).strip("\n")


def signature(result: Program) -> str:
    """The inputs of forward by layout: `x: f32[2]`."""
    return ", ".join(f"{n}: {a.layout()}" for n, a in zip(result.parameters, result.calls[0], strict=True))


def holding(
    *patterns: str, unless: Callable[[Program], bool] | None = None
) -> Callable[[Sequence[Program]], list[bool]]:
    """Keeps what is sound and matches every pattern in forward."""

    def keeps(group: Sequence[Program]) -> list[bool]:
        return [
            sound(p) and all(re.search(r, forward(p)) for r in patterns) and not (unless is not None and unless(p))
            for p in group
        ]

    return keeps
