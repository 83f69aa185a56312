"""Every operator of the installed torch whose schema writes is handled, refused by name, or out of scope."""

from __future__ import annotations

import collections

import torch

from inplace_fuzz.rewrite import DEFAULT_RULES
from inplace_fuzz.rewrite.census import FATES, census, fate
from inplace_fuzz.rewrite.schemas import WRITE, schema_verdict
from inplace_fuzz.rewrite.walk import handler_table


def writing_names() -> set[str]:
    return {s.name for s in torch._C._jit_get_all_schemas() if schema_verdict(s) is WRITE}


def test_every_writing_operator_has_one_fate() -> None:
    fates = {name: fate(name) for name in writing_names()}
    assert set(fates.values()) <= set(FATES)
    counts = collections.Counter(fates.values())
    assert counts == census()
    assert counts["handled by a row"] >= 160
    assert counts["handled as out="] >= 700
    assert counts["refused by name"] <= 130


def test_handled_means_that_the_walk_has_a_handler() -> None:
    table = handler_table(DEFAULT_RULES)
    for name in writing_names():
        if fate(name) == "handled by a row":
            assert name in table or name.startswith("aten::_foreach_"), name


def test_every_row_names_an_operator_that_exists() -> None:
    names = {s.name for s in torch._C._jit_get_all_schemas()}
    for row in DEFAULT_RULES.writes:
        assert row.kind in names, row.kind
        if isinstance(row.new, str):
            assert row.new in names, row.new
    for view in DEFAULT_RULES.views:
        assert view.kind.split(".")[0] in names or view.kind.startswith("prim::"), view.kind


def test_the_refused_ones() -> None:
    for name in ("aten::resize_", "aten::set_", "aten::set_data", "aten::rrelu_"):
        assert fate(name) == "refused by name", name
