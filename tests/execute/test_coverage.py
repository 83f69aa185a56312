"""The pairs that are read off a graph, and the reasons why some cannot be."""

from __future__ import annotations

import pytest
import torch

from inplace_fuzz.execute.coverage import pairs_of
from inplace_fuzz.execute.pairs import PATTERNS, TABLES, VIEWS, WRITES, impossible, possible
from inplace_fuzz.rewrite.schemas import WRITE, schema_verdict


def pairs(lines: str, *inputs: torch.Tensor, storages: tuple[int | None, ...] | None = None) -> dict[str, set[str]]:
    body = "".join(f"    {line}\n" for line in lines.split("; "))
    graph = torch.jit.CompilationUnit(f"def f({', '.join('xyz'[: len(inputs)])}):\n{body}").f.graph
    found: dict[str, set[str]] = {table: set() for table in TABLES}
    for table, first, second in pairs_of(graph, inputs, storages or (None,) * len(inputs)):
        found[table].add(f"{first} / {second}")
    return found


def square() -> torch.Tensor:
    return torch.arange(9.0).reshape(3, 3)


def test_a_chain_and_the_write_through_it() -> None:
    found = pairs("v = x.t()[1:]; v.add_(1); return x", square())
    assert found["view x view"] == {"t / slice"}
    assert found["view x write"] == {"slice / add_"}
    assert found["write x alias"] == {
        "add_ / part of an input", "add_ / the base is read after", "add_ / the base is returned",
    }  # fmt: skip


def test_a_chain_over_memory_that_nobody_writes_does_not_count() -> None:
    assert pairs("return x.t()[1:]", square()) == {table: set() for table in TABLES}


@pytest.mark.parametrize(("turn", "kind"), [("", "reshape / neg_"), (".t()", "")])
def test_whether_reshape_was_a_view_is_seen_by_running(turn: str, kind: str) -> None:
    found = pairs(f"v = x{turn}.reshape(-1); v.neg_(); return x, v", square())
    assert found["view x write"] == ({kind} if kind else set())
    assert ("neg_ / a copy" in found["write x alias"]) is not kind


@pytest.mark.parametrize(
    ("lines", "pattern"),
    [
        ("t = torch.zeros([3]); t.neg_(); return t", "a tensor made inside"),
        ("t = torch.zeros([3]); t[1:].neg_(); return t", "part of a tensor made inside"),
        ("x.neg_(); return x + 0", "an input"),
        ("v = x.expand(2, 3, 3); v[0].neg_(); return x", "part of a repeating view"),
        ("r = x.neg_(); return r + 1", "its result is used"),
        ("v = x[0]; x.neg_(); return v + 0", "an older view is read after"),
        ("v = x[0]; v.neg_(); return x + 0", "the base is read after"),
        ("v = x[0]; x.zero_(); v.neg_(); return 1", "a view older than another write"),
        ("v = x[0]; w = x[1:]; v.neg_(); w.neg_(); return 1", "two views are written"),
        ("x.neg_(); return x[0]", "a view is returned"),
        ("x.neg_(); return x, x", "two outputs share it"),
        ("x[0].copy_(x[1]); return 1", "reads its own memory"),
        ("v = x.t().contiguous(); v[0].neg_(); return v", "part of a copy"),
    ],
)
def test_an_alias_pattern(lines: str, pattern: str) -> None:
    assert pattern in PATTERNS
    word = "copy_" if "copy_" in lines else "neg_"
    assert f"{word} / {pattern}" in pairs(lines, square())["write x alias"]
    without = {p for p in PATTERNS if p.startswith(("its", "reads", "two", "part of a rep", "a view older"))} - {
        pattern
    }
    assert not {f"zero_ / {p}" for p in without} & pairs("x.zero_(); return 1", square())["write x alias"]


def test_buffers_and_inputs_that_share_a_storage() -> None:
    x = square()
    assert "neg_ / a buffer" in pairs("x.neg_(); return y", x, x, storages=(-1, None))["write x alias"]
    found = pairs("x[0].neg_(); return y", x, x, storages=(7, 7))["write x alias"]
    assert {"neg_ / inputs share a storage", "neg_ / the base is returned"} <= found


def test_every_word_can_come_up() -> None:
    assert len(possible()) + sum(bool(impossible(*pair)) for t in TABLES.values() for pair in everything(t)) == sum(
        len(firsts) * len(seconds) for _, firsts, seconds in TABLES.values()
    )
    assert {w for _, *words in possible(shared=True) for w in words} == {*VIEWS, *WRITES, *PATTERNS}


def everything(table: tuple[str, tuple[str, ...], tuple[str, ...]]) -> list[tuple[str, str, str]]:
    name, firsts, seconds = table
    return [(name, a, b) for a in firsts for b in seconds]


def test_what_is_said_to_take_no_other_tensor_takes_none() -> None:
    for word in WRITES:
        if impossible("write x alias", word, "reads its own memory"):
            schemas = torch._C._jit_get_schemas_for_operator(f"aten::{word}")
            writing = [s for s in schemas if schema_verdict(s) is WRITE]
            tensors = [[a for a in s.arguments if str(a.type) in ("Tensor", "Optional[Tensor]")] for s in writing]
            assert tensors, word
            assert all(len(each) == 1 for each in tensors), word


@pytest.mark.parametrize("call", ["mT", "diagonal()", "tril_()", "triu_()", "fill_diagonal_(1)"])
def test_what_is_said_to_take_two_dimensions_takes_no_fewer(call: str) -> None:
    assert impossible("view x view" if "_" not in call else "view x write", "ravel", call.partition("(")[0])
    for shape in ((3, 3), (4,), ()):
        with pytest.raises((RuntimeError, IndexError)):
            eval(f"x.ravel().{call}", {"x": torch.ones(shape)})
