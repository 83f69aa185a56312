"""Random straight-line and branching programs, each statement run as it is drawn, so that all are valid."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import torch

SHAPES = [(3,), (4,), (2, 3), (3, 3), (3, 4), (2, 3, 2), (2, 2, 3), (1, 3), (3, 1, 2)]


class Drawn:
    """One program: `source` of a function `f`, and `inputs()` that makes its arguments afresh."""

    def __init__(self, seed: int, *, flow: bool = False) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.names: list[str] = []
        self.flow = flow
        self.params: list[tuple[str, tuple[int, ...], int]] = []
        self.scope: dict[str, Any] = {"torch": torch}
        self.fresh = 0
        self.draw()

    # ------------------------------------------------------------------ the program
    def draw(self) -> None:
        r = self.random
        for i in range(r.randint(1, 2)):
            name, shape = "xy"[i], r.choice(SHAPES)
            self.params.append((name, shape, 1 + 100 * i))
            self.scope[name] = self.tensor(shape, 1 + 100 * i)
            self.names.append(name)
        if r.random() < 0.6:
            self.local()
        for _ in range(r.randint(2, 6)):
            self.statement()
        returned = r.sample(self.names, min(len(self.names), r.randint(1, 3)))
        body = "\n".join("    " + line for line in self.lines)
        result = ", ".join(returned)
        annotated = ", ".join(p[0] for p in self.params)
        self.source = f"def f({annotated}):\n{body}\n    return {result}\n"

    def tensor(self, shape: tuple[int, ...], start: int) -> torch.Tensor:
        n = 1
        for s in shape:
            n *= s
        return torch.arange(start, start + n, dtype=torch.float32).reshape(shape)

    def inputs(self, shift: int = 0) -> tuple[torch.Tensor, ...]:
        return tuple(self.tensor(shape, start + shift) for _, shape, start in self.params)

    def new(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def run(self, line: str) -> bool:
        """Run a statement on copies first: only one that eager takes joins the program, and only one whose result
        does not depend on the order in which overlapping memory is read and written: `@name@` is read as it is, and
        has to give what a copy of it gives.
        """
        found = self.tried(re.sub(r"@(\w+)@", r"\1", line))
        if found is None:
            return False
        if "@" in line:
            copied = self.tried(re.sub(r"@(\w+)@", r"\1.clone()", line))
            if copied is None or any(
                isinstance(v, torch.Tensor) and not torch.equal(v, copied[k]) for k, v in found.items()
            ):
                return False
        self.scope = found
        return True

    def tried(self, line: str) -> dict[str, Any] | None:
        scope = dict(self.scope)
        storages: dict[int, torch.UntypedStorage] = {}
        for name, value in self.scope.items():
            if isinstance(value, torch.Tensor):
                held = value.untyped_storage()
                copy = storages.setdefault(held.data_ptr(), held.clone())
                scope[name] = torch.empty(0, dtype=value.dtype).set_(
                    copy, value.storage_offset(), value.shape, value.stride()
                )
        try:
            exec(line, scope)
        except (RuntimeError, IndexError, TypeError, ValueError):
            return None
        scope.pop("__builtins__", None)
        return scope

    def add(self, make: Callable[[], str]) -> bool:
        for _ in range(8):
            line = make()
            if self.run(line):
                self.lines.extend(re.sub(r"@(\w+)@", r"\1", line).split("\n"))
                return True
        return False

    # ------------------------------------------------------------------ statements
    def local(self) -> None:
        r, name = self.random, self.new("t")
        shape = list(r.choice(SHAPES))
        made = r.choice([
            f"torch.zeros({shape})", f"torch.ones({shape})", f"torch.full({shape}, 7.0)", "x.clone()", "x * 2.0",
            "torch.zeros_like(x)", "x.new_zeros([3, 2])", f"torch.empty({shape}).fill_(5.0)",
            "torch.arange(6, dtype=torch.float32).view(2, 3)", "torch.zeros([2, 3], dtype=torch.int64)"])  # fmt: skip
        if self.add(lambda: f"{name} = {made}"):
            self.names.append(name)

    def statement(self) -> None:
        r = self.random
        kind = r.random()
        if kind < 0.3:
            name = self.new("v")
            if self.add(lambda: f"{name} = {self.view(r.choice(self.names), r.randint(1, 2))}"):
                self.names.append(name)
        elif kind < 0.4:
            name = self.new("c")
            if self.add(lambda: f"{name} = {r.choice(self.names)} + 1.0"):
                self.names.append(name)
        elif kind < 0.5 and self.flow:
            self.branch()
        else:
            self.add(self.write)

    def branch(self) -> None:
        r = self.random
        cond = r.choice([f"bool({r.choice(self.names)}.sum() > {r.choice([0.0, 50.0, 400.0])})", "True", "1 > 2"])
        writes = [self.write() for _ in range(2)]
        if all(self.probe(w) for w in writes):
            loop = r.random() < 0.4
            if loop:
                self.add(lambda: f"for _k in range({r.randint(0, 3)}):\n    {writes[0]}\n    {writes[1]}")
            else:
                self.add(lambda: f"if {cond}:\n    {writes[0]}\nelse:\n    {writes[1]}")

    def probe(self, line: str) -> bool:
        before = self.scope
        worked = self.run(line)
        self.scope = before
        return worked

    def view(self, source: str, depth: int) -> str:
        text = source
        for _ in range(depth):
            text += self.random.choice([self.index, self.index, self.method])(text)
        return text

    def method(self, text: str) -> str:
        return self.random.choice([
            ".t()", ".transpose(0, -1)", ".unsqueeze(0)", ".squeeze()", ".view(-1)", ".reshape(-1)", ".flatten()",
            ".unsqueeze(-1)", ".permute(1, 0)", ".narrow(0, 0, 2)", ".select(0, 1)", ".diagonal()",
            ".contiguous()", ".unbind(0)[1]", ".split(2)[0]", ".chunk(2)[1]", ".movedim(0, -1)", ".detach()",
            ".unfold(0, 2, 2)", ".squeeze(0)", ".narrow(0, -1, 1)", ".tensor_split(2)[1]"])  # fmt: skip

    def index(self, text: str) -> str:
        rank = self.random.randint(1, 3)
        parts = [self.part() for _ in range(rank)]
        return f"[{', '.join(parts)}]"

    def part(self) -> str:
        return self.random.choice(
            [":", "1:", ":2", "::2", "0", "1", "-1", "1:2", "-2:", ":-1", "5:", "2:1", "None", "..."]
        )

    def target(self) -> str:
        r = self.random
        return self.view(r.choice(self.names), r.randint(0, 2))

    def advanced(self) -> str:
        r = self.random
        parts = [r.choice([self.part(), "torch.tensor([1, 0])", "torch.tensor([-1])", "torch.tensor([[0, 1]])",
                           "torch.tensor([True, False, True])", "torch.tensor([True, False])"])
                 for _ in range(r.randint(1, 3))]  # fmt: skip
        return f"{self.view(r.choice(self.names), r.randint(0, 1))}[{', '.join(parts)}]"

    def value(self) -> str:
        r = self.random
        return r.choice(["3.0", "-1.0", f"@{r.choice(self.names)}@", self.view(r.choice(self.names), 1) + " * 1.0",
                         self.view(r.choice(self.names), 1) + ".clone()"])  # fmt: skip

    def write(self) -> str:
        r = self.random
        kind = r.random()
        if kind < 0.25:
            return f"{self.setitem_target()} = {self.value()}"
        if kind < 0.4:
            return f"{self.advanced()} = {self.value()}"
        if kind < 0.5:
            return f"{self.setitem_target()} {r.choice(['+=', '-=', '*='])} {self.value()}"
        call = r.choice([
            "add_({v})", "sub_({v})", "mul_({v})", "copy_({v})", "fill_(2.0)", "zero_()", "neg_()", "add_({v}, alpha=2)",
            "masked_fill_({t} > 3.0, -4.0)", "clamp_(0.0, 5.0)", "index_fill_(0, torch.tensor([0]), 8.0)",
            "index_put_([torch.tensor([0, 0])], torch.tensor(1.0), accumulate=True)", "gt_(2.0)",
            "index_add_(0, torch.tensor([0, 0]), {v})"])  # fmt: skip
        target = self.target()
        value = self.value()
        if "copy_" in call and value[0] != "@" and not any(c in value for c in "*("):
            value = f"@{r.choice(self.names)}@"
        return f"{target}.{call.format(v=value, t=target)}"

    def setitem_target(self) -> str:
        return self.view(self.random.choice(self.names), self.random.randint(0, 1)) + self.index("")
