"""What an exception means: a refusal, an error of its stage, or running out of memory."""

from __future__ import annotations

import re

from inplace_fuzz.core.backend import Backend
from inplace_fuzz.core.verdict import Kind, Verdict
from inplace_fuzz.judge.observe import CallFailed

_OURS = frozenset({"rewrite", "legalise"})
_FRAMES = ("File ", "Traceback", "...", "^", "~", ">", "The above", "The following")
_INTERPRETER = re.compile(r"(?m)^(\w+(?:Error|Exception)): (.*)")


def verdict_of(error: BaseException, backend: Backend, stage: str) -> Verdict:
    """The verdict of what a compiler raised in a stage."""
    call = ""
    if isinstance(error, CallFailed):
        call = f" (call {error.call + 1})" if error.call else ""
        error = error.error
    message = one_line(error) + call
    if isinstance(error, MemoryError) or "can't allocate memory" in message:
        return Verdict(Kind.OUT_OF_MEMORY, stage=stage, message=message)
    if type(error).__name__ in {"UnsupportedMutation", "UnsupportedTarget"} or "inplace_fuzz: " in message:
        # The second form is a guard: what the pass cannot prove from a graph, it may refuse when the graph runs.
        return Verdict(Kind.REFUSED, stage=stage, message=message)
    if stage not in _OURS and any(r.matches(error, stage) for r in backend.refusals):
        return Verdict(Kind.REFUSED, stage=stage, message=message)
    # The pass has one way of saying no; anything else that it raises is our own fault.
    return Verdict(Kind.ERROR, stage=stage, message=message, origin="pass" if stage in _OURS else "")


def one_line(error: BaseException) -> str:
    """`TypeName: text`, where the text is the line of a long report that says what is wrong."""
    text = str(error)
    if "in the TorchScript interpreter" in text and (inner := _INTERPRETER.findall(text)):
        return ": ".join(inner[-1])[:600]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if not line.startswith(_FRAMES)]
    return f"{type(error).__name__}: {(telling or lines or [''])[0]}"[:600]
