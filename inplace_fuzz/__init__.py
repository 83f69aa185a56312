"""Differential fuzzing of in-place writes through views in PyTorch compilers.

    check(program, backends=…)          one program through every backend and lane, against eager
    programs()                          a Hypothesis strategy of programs
    functionalize(module, inputs)       the pass: the same module without in-place writes
    Program, TensorSpec                 a test case: source text plus input specs
    Backend                             what an adapter provides

Importing this package imports neither torch nor Hypothesis; using a name that needs them does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inplace_fuzz.api import Checked, check, load_program, show_difference
    from inplace_fuzz.core import Backend, Lane, Program, ProgramError, TensorSpec, Verdict
    from inplace_fuzz.generate import programs
    from inplace_fuzz.rewrite import UnsupportedMutation, functionalize, legalise

__version__ = "0.1.0"
_HOME = {
    "Backend": "core",
    "Checked": "api",
    "Lane": "core",
    "Program": "core",
    "ProgramError": "core",
    "TensorSpec": "core",
    "UnsupportedMutation": "rewrite",
    "Verdict": "core",
    "check": "api",
    "functionalize": "rewrite",
    "legalise": "rewrite",
    "load_program": "api",
    "programs": "generate",
    "show_difference": "api",
}
__all__ = [
    "Backend", "Checked", "Lane", "Program", "ProgramError", "TensorSpec", "UnsupportedMutation", "Verdict", "check",
    "functionalize", "legalise", "load_program", "programs", "show_difference",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
