"""The end of the walk: write-backs, then outputs.

1. Each input or buffer that was written takes its last content by one `aten::copy_`. The contents are fresh values,
   made before the first write-back, so their order does not matter. An optional tensor takes it where it is given.
2. Outputs are shown again from their bases: an output that looks at an input looks at the caller's own tensor, and
   two outputs that look at one tensor share it.
3. An attribute that was rebound is set, once.
4. A tensor of constant content that leaves is a new one in each call: a caller may write into it.
"""

from __future__ import annotations

from typing import Any

from .containers import Items, Parts, Tup
from .ir import BOOL, Block, Node, Value, varies
from .memory import ROOT, STEP, Alias, Root, certain
from .views import AT


class Finish:
    """The part of the walk that ends it."""

    def finish(self: Any, results: list[Value]) -> None:
        memory = self.memory
        bounds = [r.bound for r in results]
        rebound = list(self.cells.values())
        # Without TorchScript a rebound attribute is the old tensor with the content of the new one.
        taken = [] if self.executor else [c for c in rebound if self._takes(c)]
        over = [self._bound_before(c).root for c in taken]
        written = [a for a in self.externals if a.root.cur is not a.root.first and a.root not in over]
        news = {a: a.root.cur for a in written}
        shown = written if not self.write_back else self.policy.written_back(memory, written)
        storages = [base for base, _ in self.storages if base.root.cur is not base.root.first]
        extra = []
        if self.write_back:
            for alias in shown:
                self._write_back(alias.root, news[alias])
            for base in storages:
                # The whole storage, once: the program may have written beside the inputs that look into it.
                self._write_back(base.root, base.root.cur)
            for alias in [*written, *storages]:
                memory.set_root(alias.root, alias.root.first)
        else:
            members = [alias for base, seats in self.storages if base in storages for _, alias, _ in seats]
            extra = [news[a] for a in written] + [memory.read(alias) for alias in members]
            for alias in written:
                memory.set_root(alias.root, news[alias])
        returned = {r for b in bounds for r in self.roots_in(b)}
        roots = {r for b in [*bounds, *(c.items for c in rebound)] for r in self.roots_in(b)}
        sealed = {r for b in bounds if isinstance(b, Items) and b.at_run_time for r in b.sources}
        for root in roots:
            if root in sealed:
                if root.cur is not root.first and sum(root in self.roots_in(b) for b in bounds) > 1:
                    raise self.refuse("aten::append", "a tensor in a list that grows in a loop is returned beside it")
                continue
            if root.external is None and not varies(root.cur):
                memory.set_root(root, self.each_time(root.cur))
            elif root.cur is not root.first and root.external is None:
                memory.set_root(root, root.cur)
        for cell in rebound:
            self._set(cell)
        for cell in taken:
            self._take(cell, returned)
        self.out.block.results = [self.output(b) for b in bounds] + extra
        if (self.guard and written and len(self.externals) > 1) or self.plain_storage or self.storages or self.assumed:
            self.guards(written if self.guard else [])
        self.out.block.nodes[:0] = self.prologue

    def refuse_places(self: Any, alias: Alias) -> None:
        while alias.form == STEP:
            if alias.row is AT:
                raise self.refuse("prim::Loop", "a view that changes from one iteration to the next is returned",
                                  hint="return a clone of it")  # fmt: skip
            alias = alias.parent

    def each_time(self: Any, constant: Value) -> Value:
        """A tensor of its own in each call, where the content is the same in all. TorchScript's executor computes what
        depends on no input once, and hands that tensor out again and again; it does not fold what it takes to be
        random, such as a dropout that drops nothing. It has to be `alpha_dropout`: with a probability of 0 it gives any
        dtype back as it is and draws nothing, and no executor has a formula of its own for it. The legacy one has one
        for `dropout`, which takes floats alone.
        """
        if not self.executor:
            return self.g.clone(constant, None)  # type: ignore[no-any-return]
        return self.g.clone(self.g.alpha_dropout(constant, 0.0, True), None)  # type: ignore[no-any-return]

    def output(self: Any, bound: Any) -> Value:
        if bound.__class__ is Alias:
            self.refuse_places(bound.moved or bound)
            return self.policy.output(self.memory, bound.moved or bound)  # type: ignore[no-any-return]
        if bound.__class__ is Items and bound.at_run_time:
            return self.value(bound)  # type: ignore[no-any-return]
        if bound.__class__ is Tup or bound.__class__ is Items:
            name = "prim::TupleConstruct" if bound.__class__ is Tup else "prim::ListConstruct"
            return self.g.op(name, [self.output(b) for b in bound.items], bound.type)  # type: ignore[no-any-return]
        if bound.__class__ is Parts:
            return self.g.op(bound.kind, [self.memory.read(bound.source), *bound.args], bound.type)  # type: ignore[no-any-return]
        return self.value(bound)  # type: ignore[no-any-return]

    def _write_back(self: Any, root: Root, content: Value) -> None:
        g, target = self.g, root.first
        if target.type is None:
            self._copy_into(g.detach(target) if root.without_grad else target, content)
            return
        outer, g.block = g.block, Block(g.block)
        self._copy_into(certain(g, target), certain(g, content))
        given, g.block = g.block, outer
        self._when(g.call("aten::__isnot__", (target, None), BOOL), given)

    def _copy_into(self: Any, target: Value, content: Value) -> None:
        out = Value(block=self.g.block)
        out.node = node = Node("aten::copy_", [target, content, self.g.const(False)], [out], keep=True)
        self.g.block.nodes.append(node)

    def _bound_before(self: Any, cell: Any) -> Any:
        path = (*cell.module.path, cell.name)
        return self.attributes.get(self.tied.get(path, path))

    def _takes(self: Any, cell: Any) -> bool:
        before = self._bound_before(cell)
        return before.__class__ is Alias and cell.items.__class__ is Alias and cell.items is not before

    def _take(self: Any, cell: Any, returned: set[Root]) -> None:
        """Whoever returns the tensor that an attribute is bound to returns the attribute's."""
        before, now = self._bound_before(cell), cell.items.moved or cell.items
        if before.root in returned:
            raise self.refuse("prim::SetAttr", f"{cell.name} is bound to another tensor, and the old one is returned")
        if now.form == ROOT and now.root.external is None:
            self.memory.set_root(now.root, before.root.first)

    def _set(self: Any, cell: Any) -> None:
        before = self._bound_before(cell)
        if cell.items is not before:
            node = Node("prim::SetAttr", [cell.module.value, self.output(cell.items)], [], origin=cell.name, keep=True)
            self.g.block.nodes.append(node)
