"""One conformance case: a small module, its inputs, and where it matters inputs that send it another way.

A case is a `Program` like any other, so every tool of this package takes it. The makers of inputs below describe
tensors without torch.
"""

from __future__ import annotations

import math
import re
import textwrap
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from inplace_fuzz.core.program import Program
from inplace_fuzz.core.spec import Arg, Scalar, TensorSpec, contiguous_strides
from inplace_fuzz.core.text import is_exact

_TYPING = ("Dict", "List", "NamedTuple", "Optional", "Tuple")


@dataclass(frozen=True)
class Case:
    """`source` defines `class M`; `calls` holds the first inputs and, where there are such, others that take another
    path. `not_script` says why `torch.jit.script` does not take the module, or gets it wrong; it is empty elsewhere.
    """

    name: str
    source: str
    calls: tuple[tuple[Arg, ...], ...]
    not_script: str = ""

    @cached_property
    def program(self) -> Program:
        """The case with all its calls, which are made one after the other on one instance."""
        made = Program(self.source, self.calls, script=not self.not_script, title=self.name)
        return Program(self.source, self.calls, is_exact(made), not self.not_script, self.name)

    @cached_property
    def first(self) -> Program:
        """The case with its first inputs alone."""
        return self.program.with_calls(self.calls[0])


def case(
    name: str, signature: str, inputs: tuple[Arg, ...], body: str, *, other: tuple[Arg, ...] | None = None,
    init: str = "", methods: str = "", top: str = "", not_script: str = "",
) -> Case:  # fmt: skip
    """A case from the parts of its module: `forward`'s arguments and body, `__init__`, further methods, and what
    stands above the class.
    """
    source = ""
    if top:
        source += "\n\n" + _indented(top, 0) + "\n"
    source += "\n\nclass M(torch.nn.Module):\n"
    if init:
        source += "    def __init__(self):\n        super().__init__()\n" + _indented(init, 8) + "\n\n"
    if methods:
        source += _indented(methods, 4) + "\n\n"
    source += f"    def forward(self{', ' + signature if signature else ''}):\n{_indented(body, 8)}\n"
    return Case(name, _imports(source) + source, (inputs,) if other is None else (inputs, other), not_script)


def _imports(source: str) -> str:
    """What the source needs, and no more: cases are read, and handed to people who know nothing of this package."""
    lines = "import torch\n"
    if re.search(r"(?<![.\w])Tensor\b", source):
        lines += "from torch import Tensor\n"
    used = [name for name in _TYPING if re.search(rf"(?<![.\w]){name}\b", source)]
    return lines + (f"from typing import {', '.join(used)}\n" if used else "")


def _indented(text: str, by: int) -> str:
    return textwrap.indent(textwrap.dedent(text).strip("\n"), " " * by)


# ---------------------------------------------------------------------------------------------------------- inputs
def f(*shape: int, start: float = 1.0, step: float = 1.0, dtype: str = "float32") -> TensorSpec:
    """Distinct values, so that a write to the wrong place always shows."""
    values = [start + k * step for k in range(math.prod(shape))]
    kind: Any = complex if dtype.startswith("complex") else float
    return TensorSpec(shape, dtype, tuple(kind(v) for v in values))


def i(*shape: int, start: int = 0, dtype: str = "int64") -> TensorSpec:
    return TensorSpec(shape, dtype, tuple(range(start, start + math.prod(shape))))


def t(values: Any, dtype: str = "float32") -> TensorSpec:
    """A tensor with these values, nested as `torch.tensor` takes them."""
    shape: list[int] = []
    level = values
    while isinstance(level, list):
        shape.append(len(level))
        level = level[0] if level else 0
    return TensorSpec(tuple(shape), dtype, tuple(_flat(values)))


def idx(*values: int) -> TensorSpec:
    return t(list(values), "int64")


def mask(*values: bool) -> TensorSpec:
    return t(list(values), "bool")


def laid(spec: TensorSpec, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> TensorSpec:
    """A tensor that looks into the storage of `spec` in another way."""
    known = None if strides == contiguous_strides(shape) else strides
    return TensorSpec(shape, spec.dtype, spec.values, known, offset, spec.storage)


def transposed(spec: TensorSpec) -> TensorSpec:
    """The matrix `spec`, transposed without moving an element."""
    rows, columns = spec.shape
    return laid(spec, (columns, rows), (1, columns))


def shared(spec: TensorSpec, number: int = 0) -> TensorSpec:
    """The same tensor, in a storage that other inputs with this number look into too."""
    return TensorSpec(spec.shape, spec.dtype, spec.values, spec.strides, spec.offset, number)


def _flat(values: Any) -> list[Scalar]:
    return [v for part in values for v in _flat(part)] if isinstance(values, list) else [values]
