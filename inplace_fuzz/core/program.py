"""The test case: source text plus input specs.

A hand-written bug report, a corpus file and a generated program are one thing, and every tool takes all three.
"""

from __future__ import annotations

import ast
import hashlib
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from inplace_fuzz.core.spec import Arg, arg_from_json, arg_to_json

HEADER = "import torch\n"
_SELF = re.compile(r"\bself\b")
# A file that holds torch, class M and forward with bare parameters alone, as programs are drawn: read without parsing,
# because parsing costs more than running such a program does.
_PLAIN = re.compile(
    r"import torch\n\n+class M\(torch\.nn\.Module\):\n"
    r"(    def forward\(self((?:, \w+)*)\):\n(?:(?:        [^\n]*)?\n)+)\Z"
)


@dataclass(frozen=True)
class Program:
    """A `class M(torch.nn.Module)` and the arguments of its calls.

    `source` is everything the class needs (imports, helper functions, the class). `calls` holds one tuple of arguments
    for each call of one instance, in order: the first is also the compile-time example; the second usually holds
    other values for the same shapes. `exact` programs are compared with `==`, others with the default tolerances of
    `torch.testing.assert_close`. `script` says whether TorchScript accepts the source.
    """

    source: str
    calls: tuple[tuple[Arg, ...], ...]
    exact: bool = True
    script: bool = True
    title: str = field(default="", compare=False)

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def _forward(self) -> ast.FunctionDef | None:
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and node.name == "M":
                for item in node.body:
                    if isinstance(item, ast.FunctionDef) and item.name == "forward":
                        return item
        return None

    @property
    def forward(self) -> ast.FunctionDef:
        """The `forward` of class M. Raises ProgramError where it has none of its own."""
        if self._forward is None:
            raise ProgramError("class M has no `forward` of its own; write it in `class M(torch.nn.Module)`")
        return self._forward

    @cached_property
    def _plain(self) -> re.Match[str] | None:
        return _PLAIN.match(self.source)

    @property
    def is_plain(self) -> bool:
        """Whether the file surely holds nothing but torch, class M and its forward."""
        return self._plain is not None

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of `forward`'s arguments, without self."""
        if self._plain is not None:
            return tuple(self._plain[2].split(", ")[1:])
        if self._forward is None:
            return ()  # inherited: inputs are then told apart by their place
        arguments = self._forward.args
        return tuple(a.arg for a in arguments.posonlyargs + arguments.args)[1:]

    @cached_property
    def forward_text(self) -> str:
        """`forward` as it is written, without the indentation of its class."""
        if self._plain is not None:
            return re.sub(r"(?m)^    ", "", self._plain[1])
        function = self.forward
        lines = self.source.split("\n")[function.lineno - 1 : function.end_lineno]
        indent = len(lines[0]) - len(lines[0].lstrip())
        return "\n".join(line[indent:] for line in lines) + "\n"

    @property
    def stateless(self) -> bool:
        """Whether `forward` mentions self as its parameter alone, so that it can be compiled as a plain function."""
        return len(_SELF.findall(self.forward_text)) == 1

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that name this text with these inputs."""
        body = repr((ast.dump(self.tree), [arg_to_json(c) for c in self.calls]))
        return hashlib.sha256(body.encode()).hexdigest()[:8]

    def with_calls(self, *calls: tuple[Arg, ...]) -> Program:
        return replace(self, calls=calls)

    def to_json(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "calls": [[arg_to_json(a) for a in call] for call in self.calls],
            "exact": self.exact,
            "script": self.script,
            "title": self.title,
        }

    @staticmethod
    def from_json(data: dict[str, Any]) -> Program:
        return Program(
            data["source"],
            tuple(tuple(arg_from_json(a) for a in call) for call in data["calls"]),
            data.get("exact", True),
            data.get("script", True),
            data.get("title", ""),
        )


class ProgramError(ValueError):
    """A program text that cannot be used; the message says what to change."""
