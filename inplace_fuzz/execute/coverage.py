"""Which pairs of view, write and alias pattern a graph holds; the words are those of `execute.pairs`.

It reads the pass's own copy of the graph once, in order, and follows memory as the program would: every tensor is a
way to look at a base. Whether `reshape` and its like gave a view or a copy is not in the graph; the graph is run once
more, with those tensors as further outputs, to see.
"""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from inplace_fuzz.execute.pairs import MAYBE, SEVERAL, VIEW_WORDS, WRITE_WORDS, Pair
from inplace_fuzz.rewrite import schemas
from inplace_fuzz.rewrite.ir import Block, Graph, Node, Value
from inplace_fuzz.rewrite.torchscript import read

_REPEATING = frozenset({"expand", "unfold", "as_strided"})
_OPEN = 2**63 - 1


@dataclass(eq=False, slots=True)
class Base:
    """Memory of its own. `origin` is input, buffer, local or copy (of what could have been a view)."""

    origin: str
    shared: bool = False
    looks: list[Look] = field(default_factory=list)
    written: list[Written] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Look:
    """One way to look at a base: through `step` of `parent`, or the base itself."""

    base: Base
    step: str = ""
    parent: Look | None = None
    born: int = 0
    last: int = -1  # when it was last read, written or returned
    returned: int = 0

    def above(self) -> Iterator[Look]:
        look = self.parent
        while look is not None:
            yield look
            look = look.parent


@dataclass(eq=False, slots=True)
class Written:
    look: Look
    word: str
    at: int
    reads_itself: bool
    result: Look
    used: int = -1  # when the operator's result was last used


def pairs_of(graph: Any, arguments: Sequence[Any], storages: Sequence[int | None]) -> set[Pair]:
    """The pairs in a TorchScript graph. `arguments` are fresh and may be consumed; `storages` says of each whether it
    is a buffer (-1), shares its storage with others (their common number), or neither (None).
    """
    source = read(graph)
    reader = _Reader(_sharing(source, arguments))
    reader.run(source, storages)
    return reader.pairs()


def _maybe(block: Block) -> list[int]:
    return [k for k, node in enumerate(block.nodes) if node.kind in MAYBE and node.inputs[0].type is None]


def _sharing(source: Graph, arguments: Sequence[Any]) -> frozenset[int]:
    """The positions of the top-level nodes that could have copied and gave a view."""
    asked = _maybe(source.block)
    if not asked:
        return frozenset()
    looked_at = source.origin.copy()
    nodes = [n for n in looked_at.nodes() if n.kind() != "prim::Constant"]
    for k in asked:
        looked_at.registerOutput(nodes[k].inputsAt(0))
        looked_at.registerOutput(nodes[k].output())
    run: Any = getattr(torch._C, "_jit_interpret_graph")  # noqa: B009  no public way, and no stub
    seen = run(looked_at, tuple(arguments))[-2 * len(asked) :]
    found = []
    for k, given, made in zip(asked, seen[::2], seen[1::2], strict=True):
        if given.untyped_storage().data_ptr() == made.untyped_storage().data_ptr():
            found.append(k)
    return frozenset(found)


class _Reader:
    """One reading of one graph. A value is bound to a Look, to a list of them, or to nothing."""

    def __init__(self, sharing: frozenset[int]) -> None:
        self.sharing = sharing
        self.bound: dict[Value, Any] = {}
        self.bases: list[Base] = []
        self.clock = 0

    def run(self, source: Graph, storages: Sequence[int | None]) -> None:
        shared: dict[int, Base] = {}
        counts = [s for s in storages if s is not None and s >= 0]
        for param, storage in zip(source.block.params, storages, strict=False):
            if param.type is not None:
                continue
            if storage is None or storage < 0:
                base = self.base("input" if storage is None else "buffer")
            elif storage in shared:
                base = shared[storage]
            else:
                base = shared[storage] = self.base("input", shared=counts.count(storage) > 1)
            self.bound[param] = self.look(base)
        self.block(source.block, top=True)
        self.clock += 1
        for value in source.block.results:
            self.returns(self.bound.get(value))

    def base(self, origin: str, *, shared: bool = False) -> Base:
        base = Base(origin, shared)
        self.bases.append(base)
        return base

    def look(self, base: Base, step: str = "", parent: Look | None = None) -> Look:
        look = Look(base, step, parent, self.clock)
        base.looks.append(look)
        return look

    def returns(self, bound: Any) -> None:
        if isinstance(bound, Look):
            bound.returned += 1
            bound.last = self.clock
        elif isinstance(bound, list):
            for item in bound:
                self.returns(item)

    # ------------------------------------------------------------------------------------------------------ reading
    def block(self, block: Block, *, top: bool = False) -> None:
        for k, node in enumerate(block.nodes):
            self.clock += 1
            self.node(node, shares=top and k in self.sharing)

    def node(self, node: Node, *, shares: bool) -> None:
        kind, bound = node.kind, self.bound
        first = bound.get(node.inputs[0]) if node.inputs else None
        if kind in VIEW_WORDS and isinstance(first, Look):
            first.last = max(first.last, self.clock) if first.step == "" else first.last
            bound[node.outputs[0]] = self.viewed(node, first, shares=shares)
        elif kind in SEVERAL and isinstance(first, Look):
            bound[node.outputs[0]] = (first, SEVERAL[kind])
        elif kind.startswith("prim::") or kind == "aten::__getitem__":
            self.structure(node, first)
        else:
            self.operator(node)

    def viewed(self, node: Node, first: Look, *, shares: bool) -> Look:
        word = VIEW_WORDS[node.kind]
        if word == "slice" and _is_whole(node):
            word = "slice[:]"
        if (node.kind in MAYBE and not shares) or (word == "dropout" and node.inputs[2].py is not False):
            return self.look(self.base("copy"))
        return self.look(first.base, word, first)

    def structure(self, node: Node, first: Any) -> None:
        bound = self.bound
        if node.kind in ("prim::ListConstruct", "prim::TupleConstruct"):
            bound[node.outputs[0]] = [bound.get(v) for v in node.inputs]
        elif node.kind == "prim::DictConstruct":
            bound[node.outputs[0]] = [bound.get(v) for v in node.inputs[1::2]]
        elif node.kind in ("prim::ListUnpack", "prim::TupleUnpack"):
            for k, out in enumerate(node.outputs):
                if isinstance(first, tuple):
                    bound[out] = self.look(first[0].base, first[1], first[0])
                elif isinstance(first, list):
                    bound[out] = first[k]
        elif node.kind == "aten::__getitem__":
            index = node.inputs[1].py
            if isinstance(first, tuple):
                bound[node.outputs[0]] = self.look(first[0].base, first[1], first[0])
            elif isinstance(first, list) and isinstance(index, int) and -len(first) <= index < len(first):
                bound[node.outputs[0]] = first[index]
            elif isinstance(first, list) and first:
                bound[node.outputs[0]] = first[0]
        elif node.kind == "prim::GetAttr":
            if node.outputs[0].type is None:
                bound[node.outputs[0]] = self.look(self.base("buffer"))
        elif node.blocks:
            self.nested(node)

    def nested(self, node: Node) -> None:
        inner = node.inputs[2:] if node.kind == "prim::Loop" else []
        if node.kind == "prim::If" and isinstance(node.inputs[0].py, bool):
            taken = node.blocks[0 if node.inputs[0].py else 1]
            self.block(taken)
            for out, value in zip(node.outputs, taken.results, strict=True):
                self.bound[out] = self.bound.get(value)
            return
        for block in node.blocks:
            for param, value in zip(block.params[1:], inner, strict=False):
                self.bound[param] = self.bound.get(value)
            self.block(block)
        results = node.blocks[0].results[1:] if inner or node.kind == "prim::Loop" else node.blocks[0].results
        for out, value in zip(node.outputs, results, strict=False):
            self.bound[out] = self.bound.get(value)

    def operator(self, node: Node) -> None:
        kind = node.kind
        looks = [self.bound.get(v) for v in node.inputs]
        if schemas.verdict(kind, len(node.inputs), node.origin) is schemas.WRITE:
            self.write(node, looks)
            return
        self.touch(looks)
        for out in node.outputs:
            if out.type is None:
                self.bound[out] = self.look(self.base("local"))

    def touch(self, looks: Sequence[Any]) -> None:
        for look in looks:
            if isinstance(look, Look):
                look.last = self.clock
                for base_write in look.base.written:
                    if base_write.result is look:
                        base_write.used = self.clock
            elif isinstance(look, list):
                self.touch(look)

    def write(self, node: Node, looks: list[Any]) -> None:
        word = WRITE_WORDS.get(node.kind)
        place = 0
        if word is None:
            if node.kind.endswith("_"):
                word = node.kind.removeprefix("aten::")  # a metadata operator, or one that has no row: it is shown
            else:
                word, place = "out=", len(looks) - 1
        if word == "index_put_" and node.inputs[3].py is True:
            word = "index_put_ accumulate"
        targets = looks[place] if isinstance(looks[place], list) else [looks[place]]
        others = [look for k, look in enumerate(looks) if k != place]
        self.touch(others)
        for target in targets:
            if not isinstance(target, Look):
                continue
            reads = any(isinstance(o, Look) and o.base is target.base for o in _flat(others))
            result = Look(target.base, target.step, target.parent, target.born)
            target.base.looks.append(result)
            target.base.written.append(Written(target, word, self.clock, reads, result))
            target.last = self.clock
            if node.outputs:
                self.bound[node.outputs[0]] = result

    # --------------------------------------------------------------------------------------------------------- pairs
    def pairs(self) -> set[Pair]:
        found: set[Pair] = set()
        for base in self.bases:
            if not base.written:
                continue
            for look in base.looks:
                if look.step and look.parent is not None and look.parent.step:
                    found.add(("view x view", look.parent.step, look.step))
            for write in base.written:
                if write.look.step:
                    found.add(("view x write", write.look.step, write.word))
                for pattern in _patterns(base, write):
                    found.add(("write x alias", write.word, pattern))
        return found


def _patterns(base: Base, write: Written) -> Iterator[str]:
    """The ways in which what is written has other names: see `pairs.PATTERNS`."""
    look = write.look
    above = list(look.above())
    origin = {"input": "an input", "buffer": "a buffer", "local": "a tensor made inside", "copy": "a copy"}[base.origin]
    yield f"part of {origin}" if look.step else origin
    if any(a.step in _REPEATING for a in above):
        yield "part of a repeating view"
    if base.shared:
        yield "inputs share a storage"
    if write.reads_itself:
        yield "reads its own memory"
    if write.used > write.at or write.result.returned:
        yield "its result is used"
    others = [x for x in base.looks if x.step and x.born < write.at and x is not look and x not in above]
    if any(x.last > write.at for x in others if x is not write.result):
        yield "an older view is read after"
    if look.step and any(a.last > write.at for a in above):
        yield "the base is read after"
    if look.step and any(w.at > look.born and w.at < write.at and not _same(w.look, look) for w in base.written):
        yield "a view older than another write"
    if look.step and any(w.look.step and not _related(w.look, look) for w in base.written):
        yield "two views are written"
    returned = [x for x in base.looks if x.returned]
    if any(x.step for x in returned):
        yield "a view is returned"
    if any(not x.step for x in returned):
        yield "the base is returned"
    if sum(x.returned for x in returned) > 1:
        yield "two outputs share it"


def _same(a: Look, b: Look) -> bool:
    return a is b or (a.step == b.step and a.parent is b.parent and a.born == b.born)


def _related(a: Look, b: Look) -> bool:
    return _same(a, b) or a in b.above() or b in a.above()


def _is_whole(node: Node) -> bool:
    _, _, start, stop, step = node.inputs
    return step.py == 1 and start.py in (None, 0) and stop.py in (None, _OPEN)


def _flat(looks: Sequence[Any]) -> Iterator[Any]:
    for look in looks:
        if isinstance(look, list):
            yield from _flat(look)
        else:
            yield look
