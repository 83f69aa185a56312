"""Deliberately wrong passes, to be scored."""

from __future__ import annotations

from typing import Any

import torch

from inplace_fuzz.conformance.passes import _OURS, Pass, _called
from inplace_fuzz.core import Compiled


def _frozen(module: Any, example: tuple[Any, ...], enter: Any) -> Compiled:
    """A trace, as it is: it freezes what depends on numbers, and its writes stay."""
    enter("convert")
    return _called(torch.jit.trace(module, example, check_trace=False, strict=False))


def _without_write_back(module: Any, example: tuple[Any, ...], enter: Any) -> Compiled:
    """Runs on copies, so that no caller sees a write."""
    from inplace_fuzz.rewrite.examples import copies

    enter("build")
    return Compiled(lambda *args: module(*copies(args)), lambda: dict(module.named_buffers()))


def _raises(module: Any, example: tuple[Any, ...], enter: Any) -> Compiled:
    enter("build")
    raise LookupError("no such operator")


FROZEN = Pass("frozen", _frozen, _OURS)
WITHOUT_WRITE_BACK = Pass("without-write-back", _without_write_back, _OURS)
RAISES = Pass("raises", _raises, _OURS)
