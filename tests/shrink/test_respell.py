"""Respellings: each says in other words what eager does, leaves what it is unsure of, and tells causes apart."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
import torch

from inplace_fuzz.core import Program, TensorSpec
from inplace_fuzz.core.materialize import load_namespace, make_call
from inplace_fuzz.core.spec import Arg
from inplace_fuzz.shrink.respell import RESPELLINGS, Respelling, first_change, respelled
from tests.generate.program_checks import drawn
from tests.rewrite.observed import seen

HEAD = "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x, y, m):\n"
MATRIX = TensorSpec((2, 2), "float32", (1.0, 2.0, 3.0, 4.0))
MASK = TensorSpec((2, 2), "bool", (True, False, False, True))


def program(*lines: str, x: Arg = MATRIX, y: Arg = MATRIX) -> Program:
    return Program(HEAD + "".join(f"        {line}\n" for line in lines), ((x, y, MASK),))


def forward(program: Program) -> list[str]:
    return [line.strip() for line in program.forward_text.splitlines()[1:]]


@pytest.mark.parametrize("row", RESPELLINGS, ids=lambda row: row.name)
def test_each_one_writes_its_example_the_other_way(row: Respelling) -> None:
    before, after = row.example
    given = program(before, *([] if before.startswith("return") else ["return x"]))
    other = respelled(given, [row])
    assert other is not None
    assert first_change(given, other) == (before, after)
    assert respelled(other, [row]) is None


@pytest.mark.parametrize(
    ("name", "line", "other"),
    [
        ("bitwise-method", "x[0] ^= y[0]", "x[0] = x[0].bitwise_xor_(y[0])"),
        ("one-by-one", "torch._foreach_add_([x, y], [y, x], alpha=2)", "x.add_(y, alpha=2)"),
        ("positive-index", "x[..., -1] = 0", "x[..., x.size(-1) - 1] = 0"),
        ("positive-index", "x[..., -2, 0] = 0", "x[..., x.size(-2) - 2, 0] = 0"),
        ("positive-index", "x[None, :, -1] = 0", "x[None, :, x.size(1) - 1] = 0"),
        ("positive-index", "x[-1][-1] = 0", "x[x.size(0) - 1][x[x.size(0) - 1].size(0) - 1] = 0"),
        ("positive-bound", "x[-9:-1] = 0", "x[max(x.size(0) - 9, 0):max(x.size(0) - 1, 0)] = 0"),
        ("fill-method", "x[0] = 2", "x[0].fill_(2)"),
        ("number-for-bool", "x[0] = True", "x[0] = 1"),
    ],
)
def test_what_is_written_instead(name: str, line: str, other: str) -> None:
    row = next(r for r in RESPELLINGS if r.name == name)
    result = respelled(program(line, "return x"), [row])
    assert result is not None
    assert forward(result)[0] == other


@pytest.mark.parametrize(
    "line",
    [
        "k = 1; k |= 2",
        "x[m] = y[m]",
        "x[m, -1] = 0",
        "x.relu_()[-1] = 0",
        "torch._foreach_add_([x], [y, y])",
        "x[0] = y",
    ],
)
def test_what_it_is_not_sure_of_stays(line: str) -> None:
    rows = [r for r in RESPELLINGS if r.name != "fill-method"]
    assert respelled(program(*line.split("; "), "return x"), rows) is None


def test_drawn_programs_mean_the_same_in_eager() -> None:
    """Every kind comes up, and none changes what a caller sees."""
    met: Counter[str] = Counter()
    for given in drawn(500, seed=3):
        for row in RESPELLINGS:
            other = respelled(given, [row])
            if other is not None:
                met[row.name] += 1
                assert not run(given).differs(run(other)), f"{row.name}:\n{given.source}\n{other.source}"
    never = {r.name for r in RESPELLINGS} - set(met)
    assert never <= {"one-by-one", "masked-fill", "no-alpha", "to-dtype", "positive-dimension"}, never
    assert len(met) >= 8


def test_the_table_in_the_docs_is_this_one() -> None:
    page = (Path(__file__).parents[2] / "docs" / "generating-and-judging.md").read_text()
    rows = page.partition("| respelling | from | to |\n|---|---|---|\n")[2].strip().splitlines()
    quoted = [(r.name, *(text.replace("|", "\\|") for text in r.example)) for r in RESPELLINGS]
    assert rows == [f"| `{name}` | `{before}` | `{after}` |" for name, before, after in quoted]


def run(given: Program):
    torch.manual_seed(0)
    module = load_namespace(given.source)["M"]()
    args = make_call(given.calls[0])
    return seen(module(*args), args, module.buffers())
