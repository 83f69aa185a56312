"""What the pass says when it cannot prove that a rewriting is right."""

from __future__ import annotations


class UnsupportedMutation(Exception):
    """The pass will not rewrite this program; `operator` and `source_line` say where it stopped.

    operator:    the name of the operator as the graph spells it, such as ``aten::resize_``
    source_line: the line of the user's program, or "" when the graph does not say
    """

    def __init__(self, operator: str, reason: str, *, source_line: str = "", hint: str = "") -> None:
        self.operator = operator
        self.reason = reason
        self.source_line = source_line
        self.hint = hint
        text = f"{operator}: {reason}"
        if source_line:
            text += f"\n  at: {source_line}"
        if hint:
            text += f"\n  try: {hint}"
        super().__init__(text)
