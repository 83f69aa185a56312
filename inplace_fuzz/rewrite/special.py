"""Operators that are neither a plain view nor a plain write: `out=`, foreach, metadata, storages, dropout, norms."""

# ruff: noqa: ARG002, SLF001  (the functions of one table take the same arguments; torch keeps its schemas private)

from __future__ import annotations

from typing import Any

import torch

from . import schemas
from .containers import Items
from .ir import BOOL, TENSORS, Node, Value
from .memory import ROOT, STEP, Alias, lies_otherwise
from .views import WHOLE, View
from .writes import copied


class Special:
    """The part of the walk that knows operators one by one."""

    def metadata(self: Any, node: Node, view: str) -> None:
        """The tensor gets another shape under this name only; views of it keep theirs and still share its memory."""
        target = self.tensor(node.inputs[0], node.kind)
        if target.form != STEP and target.root is not None and target.root.external is not None:
            raise self.refuse(node.kind, "it changes the shape of the caller's own tensor")
        if target.block is not self.g.block:
            raise self.refuse(node.kind, "it changes the shape of a tensor in one branch or iteration only")
        args = tuple(self.values(node.inputs[1:]))
        moved = self.look(target, self.rules.view_of[view], args, view)
        named = node.inputs[0].bound
        named.moved = moved
        node.outputs[0].bound = named

    def same_object(self: Any, node: Node, row: Any) -> None:
        node.outputs[0].bound = node.inputs[0].bound

    def written_out(self: Any, node: Node) -> None:
        """`out=`: the functional overload's results become the content of the tensors given as out."""
        kind = node.kind
        schema = _schema_of(node)
        if schema is None:
            raise self.refuse(kind, "its schema writes, and no rule says what")
        outs = [i for i, a in enumerate(schema.arguments) if a.is_out]
        written = [i for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]
        if kind.startswith("aten::_foreach_") and kind.split(".")[0].endswith("_") and written == [0]:
            self.foreach(node)
            return
        if not outs or outs != written:
            raise self.refuse(kind, "it writes, and no rule says how", hint="add a row to writes.py (docs/pass.md)")
        pure = kind.split(".", 1)[0]
        if not schemas.has_functional(pure, len(node.inputs) - len(outs)):
            raise self.refuse(kind, "no functional overload takes the same arguments")
        targets = [self.tensor(node.inputs[i], kind) for i in outs]
        inputs = [self.value(v.bound) for i, v in enumerate(node.inputs) if i not in outs]
        results = [Value(block=self.g.block) for _ in outs]
        call = Node(pure, inputs, results)
        for result in results:
            result.node = call
        self.g.block.nodes.append(call)
        for target, result, out in zip(targets, results, node.outputs, strict=True):
            before = self.memory.read(target)
            if target.form != ROOT or target.root.external is not None:
                self._guard(
                    self.g.call("aten::ne", (self.g.size(result), self.g.size(before)), BOOL),
                    f"inplace_fuzz: {pure} gives its out= argument another shape; give one of the right shape",
                )
            # The result lies in memory as the operator likes, and not as what was given as out.
            cast = self.g.op("aten::type_as", [result, before], fresh=not lies_otherwise(target))
            self.put(target, cast)
            out.bound = target
        self.explained.append((kind, self.line(), "computed without out=, put into the tensor given as out"))

    def foreach(self: Any, node: Node) -> None:
        """`_foreach_add_(tensors, ...)`: the pure twin on the whole list, then each result into its own tensor. Tensors
        of one base may overlap, and are written one after the other, as eager does.
        """
        kind = node.kind
        name, dot, overload = kind.partition(".")
        held = node.inputs[0].bound
        items = list(held.items) if isinstance(held, Items) and not held.at_run_time else []
        if not items or not all(b.__class__ is Alias for b in items):
            raise self.refuse(kind, "its list of tensors is not followed")
        targets = [b.moved or b for b in items]
        roots = [r for t in targets for r in t.roots]
        g, memory = self.g, self.memory
        pure = name[:-1] + dot + overload
        if len(set(roots)) == len(roots):
            results = g.op(pure, [self.whole(held), *self.values(node.inputs[1:])], TENSORS)
        for i, target in enumerate(targets):
            place = i
            if len(set(roots)) != len(roots):
                one = g.call("prim::ListConstruct", (memory.read(target),), TENSORS)
                results, place = (
                    g.op(pure, [one, *(self.argument(v, i, len(items)) for v in node.inputs[1:])], TENSORS),
                    0,
                )
            result = g.op("aten::__getitem__", [results, g.const(place)])
            self.put(target, copied(g, memory.read(target), result))
        self.explained.append((kind, self.line(), "computed as a list, each result put into its own tensor"))
        for out in node.outputs:
            out.bound = held

    def argument(self: Any, value: Value, i: int, n: int) -> Value:
        """What tensor `i` of a foreach call over `n` takes: its own item of a list, or what all take."""
        g, bound = self.g, value.bound
        if isinstance(bound, Items) and not bound.at_run_time and len(bound.items) == n:
            return g.call("prim::ListConstruct", (self.value(bound.items[i]),), bound.type)  # type: ignore[no-any-return]
        whole = self.value(bound)
        if hasattr(whole.type, "kind") and whole.type.kind() == "ListType":
            own = g.op("aten::__getitem__", [whole, g.const(i)], whole.type.getElementType())
            return g.call("prim::ListConstruct", (own,), whole.type)  # type: ignore[no-any-return]
        return whole  # type: ignore[no-any-return]

    def dropout(self: Any, node: Node, row: View) -> None:
        """In eval, or with p = 0, it gives its argument; in training a tensor of its own, drawn once, in order."""
        p, train = (v.bound.py for v in node.inputs[1:3])
        if train is False or p == 0:
            source = node.inputs[0].bound
            node.outputs[0].bound = self.memory.step(source.moved or source, WHOLE, ())
        elif train is True and isinstance(p, float):
            self.copy(node, self.values(node.inputs), schemas.PURE)
        else:
            self.unknown_alias(node, row)

    def storage_copy(self: Any, node: Node, row: Any) -> None:
        """`as_strided_copy` reads the storage, so it reads the storage of the base: a look, and a copy of it."""
        args = tuple(self.values(node.inputs[1:]))
        source = self.tensor(node.inputs[0], node.kind)
        alias = self.look(source, self.rules.view_of["aten::as_strided"], args, "aten::as_strided")
        copy = self.g.call("aten::clone", (self.memory.read(alias), None))
        node.outputs[0].bound = self.memory.base(copy)

    def storage_scatter(self: Any, node: Node, row: Any) -> None:
        """`as_strided_scatter` puts into a copy of the storage: known only for a base that is its whole storage."""
        source = self.tensor(node.inputs[0], node.kind)
        if source.form != ROOT:
            raise self.refuse(node.kind, "the storage behind a view is not known")
        if source.root.external is not None:
            self.need_plain_storage(source)
        self.scatter(node, row)

    def scatter(self: Any, node: Node, row: Any) -> None:
        """`slice_scatter` and its like copy all of the storage behind their argument, and lay their result there as the
        argument lies: with its gaps, its offset, and its repeats but for those of stride 0.
        """
        source = node.inputs[0].bound
        self.copy(node, self.values(node.inputs), schemas.PURE)
        if source.__class__ is Alias:
            node.outputs[0].bound.root.laid_as = source.moved or source

    def unknown_alias(self: Any, node: Node, row: Any) -> None:
        """Its result may be its argument, or look at it, and its schema does not say so."""
        self.copy(node, self.values(node.inputs), schemas.ALIAS)

    def normalise(self: Any, node: Node, row: int) -> None:
        """Batch norm writes its running statistics when it trains, and its schema does not say so."""
        training, mean = node.inputs[row].bound, node.inputs[3].bound
        if training.py is False or (mean.__class__ is Value and mean.py is None):
            self.pure(node)
            return
        if node.kind.partition(".")[0] != "aten::batch_norm":
            raise self.refuse(node.kind, "in training it updates its running statistics", hint="call .eval() first")
        targets = [self.tensor(v, node.kind) for v in node.inputs[3:5]]
        results = [Value(block=self.g.block) for _ in range(5)]
        call = Node("aten::_native_batch_norm_legit_functional", self.values(node.inputs[:8]), results)
        for result in results:
            result.node = call
        self.g.block.nodes.append(call)
        node.outputs[0].bound = self.memory.base(results[0])
        for target, content in zip(targets, results[3:], strict=True):
            self.put(target, content)
        self.explained.append((node.kind, self.line(), "its running statistics are computed without a write"))


def _schema_of(node: Node) -> Any:
    origin = node.origin
    if origin is None:
        return None
    if isinstance(origin, torch._ops.OpOverload):
        return origin._schema
    text = origin.schema()
    return None if text == "(no schema)" else torch._C.parse_schema(text)
