"""The end of the walk: write-backs, then outputs.

1. Each input or buffer that was written takes its last content by one `aten::copy_`. The contents are fresh values,
   made before the first write-back, so their order does not matter.
2. Outputs are shown again from their bases: an output that looks at an input looks at the caller's own tensor, and
   two outputs that look at one tensor share it.
3. An attribute that was rebound is set, once.
"""

from __future__ import annotations

from typing import Any

from .containers import Items, Parts, Tup
from .ir import Node, Value
from .memory import Alias


class Finish:
    """The part of the walk that ends it."""

    def finish(self: Any, results: list[Value]) -> None:
        memory = self.memory
        written = [a for a in self.externals if a.root.cur is not a.root.first]
        bounds = [r.bound for r in results]
        rebound = list(self.cells.values())
        news = {a: a.root.cur for a in written}
        shown = written if not self.write_back else self.policy.written_back(memory, written)
        storages = [base for base, _ in self.storages if base.root.cur is not base.root.first]
        extra = []
        if self.write_back:
            for alias in shown:
                if alias.root.first.type is not None:
                    raise self.refuse("aten::copy_", "it writes to an Optional[Tensor] of the caller")
                self._write_back(alias.root.first, news[alias])
            for base in storages:
                # The whole storage, once: the program may have written beside the inputs that look into it.
                self._write_back(base.root.first, base.root.cur)
            for alias in [*written, *storages]:
                memory.set_root(alias.root, alias.root.first)
        else:
            members = [alias for base, seats in self.storages if base in storages for _, alias, _ in seats]
            extra = [news[a] for a in written] + [memory.read(alias) for alias in members]
            for alias in written:
                memory.set_root(alias.root, news[alias])
        roots = {r for b in [*bounds, *(c.items for c in rebound)] for r in self.roots_in(b)}
        sealed = {r for b in bounds if isinstance(b, Items) and b.at_run_time for r in b.sources}
        for root in roots:
            if root in sealed:
                if root.cur is not root.first and sum(root in self.roots_in(b) for b in bounds) > 1:
                    raise self.refuse("aten::append", "a tensor in a list that grows in a loop is returned beside it")
                continue
            if root.cur is not root.first and root.external is None:
                memory.set_root(root, root.cur)
            elif root.constant:
                memory.set_root(root, self.g.clone(root.cur, None))
        for cell in rebound:
            self._set(cell)
        self.out.block.results = [self.output(b) for b in bounds] + extra
        if (self.guard and written and len(self.externals) > 1) or self.plain_storage or self.storages:
            self.guards(written if self.guard else [])
        self.out.block.nodes[:0] = self.prologue

    def output(self: Any, bound: Any) -> Value:
        if bound.__class__ is Alias:
            return self.policy.output(self.memory, bound.moved or bound)  # type: ignore[no-any-return]
        if bound.__class__ is Items and bound.at_run_time:
            return self.value(bound)  # type: ignore[no-any-return]
        if bound.__class__ is Tup or bound.__class__ is Items:
            name = "prim::TupleConstruct" if bound.__class__ is Tup else "prim::ListConstruct"
            return self.g.op(name, [self.output(b) for b in bound.items], bound.type)  # type: ignore[no-any-return]
        if bound.__class__ is Parts:
            return self.g.op(bound.kind, [self.memory.read(bound.source), *bound.args], bound.type)  # type: ignore[no-any-return]
        return self.value(bound)  # type: ignore[no-any-return]

    def _write_back(self: Any, target: Value, content: Value) -> None:
        out = Value(block=self.g.block)
        out.node = node = Node("aten::copy_", [target, content, self.g.const(False)], [out], keep=True)
        self.g.block.nodes.append(node)

    def _set(self: Any, cell: Any) -> None:
        before = self.attributes.get((*cell.module.path, cell.name))
        if cell.items is not before:
            node = Node("prim::SetAttr", [cell.module.value, self.output(cell.items)], [], origin=cell.name, keep=True)
            self.g.block.nodes.append(node)
