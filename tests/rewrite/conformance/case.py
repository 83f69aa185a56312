"""One conformance case: a small module, its inputs, and inputs that send it another way."""

from __future__ import annotations

import dataclasses
import linecache
import sys
import textwrap
import types
from collections.abc import Callable
from typing import Any

import torch

_HEADER = "import torch\nfrom torch import Tensor\nfrom typing import Dict, List, Optional, Tuple\n"


@dataclasses.dataclass(frozen=True)
class Case:
    """`source` defines `class M`; `inputs()` and `other()` give fresh arguments, `other` of values that take another path."""

    name: str
    source: str
    inputs: Callable[[], tuple[Any, ...]]
    other: Callable[[], tuple[Any, ...]] | None = None

    def module(self) -> torch.nn.Module:
        """A fresh instance, whose source TorchScript can find."""
        name = f"conformance_{self.name}"
        if name not in sys.modules:
            file = f"<{name}>"
            linecache.cache[file] = (len(self.source), None, self.source.splitlines(True), file)
            made = types.ModuleType(name)
            made.__file__ = file
            exec(compile(self.source, file, "exec"), made.__dict__)
            sys.modules[name] = made
        module: torch.nn.Module = sys.modules[name].M()
        return module.eval()


def case(
    name: str, signature: str, body: str, inputs: Callable[[], tuple[Any, ...]],
    other: Callable[[], tuple[Any, ...]] | None = None, *, init: str = "", methods: str = "",
) -> Case:  # fmt: skip
    source = _HEADER + "\n\nclass M(torch.nn.Module):\n"
    if init:
        source += "    def __init__(self):\n        super().__init__()\n" + _indented(init, 8) + "\n\n"
    if methods:
        source += _indented(methods, 4) + "\n\n"
    source += f"    def forward(self{', ' + signature if signature else ''}):\n{_indented(body, 8)}\n"
    return Case(name, source, inputs, other)


def _indented(text: str, by: int) -> str:
    return textwrap.indent(textwrap.dedent(text).strip("\n"), " " * by)


def f(*shape: int, start: float = 1.0, step: float = 1.0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Distinct values, so that a write to the wrong place always shows."""
    n = torch.Size(shape).numel()
    return (torch.arange(n, dtype=torch.float64) * step + start).to(dtype).reshape(shape)


def i(*shape: int, start: int = 0, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return (torch.arange(torch.Size(shape).numel()) + start).to(dtype).reshape(shape)


def idx(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64)


def mask(*values: bool) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.bool)
