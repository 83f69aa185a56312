"""A rewritten module for a compiler that keeps no state: what it writes becomes outputs, its buffers become inputs.

A functional graph writes at its end alone, with one `copy_` for each input and buffer that changes. Legal because of
that: what reads the tensor before its `copy_` reads the old content, and what reads it afterwards the new one.

    before   forward(x):         y = x + buf;  copy_(buf, y);  return buf * 2
    after    forward(x, buf):    y = x + buf;                  return y * 2, y
    around   the caller's buf.copy_(y) once the compiled module has run

Compilers are given dense copies of their inputs. What a graph reads or writes beside an input in its storage, through
`as_strided`, therefore becomes an input of its own, which the wrapper cuts from the caller's tensor.
"""

# ruff: noqa: SLF001  (torch keeps codegens and hooks behind underscores)

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils import _pytree as pytree

from .errors import UnsupportedMutation
from .fx import InputGuard

_COPY = torch.ops.aten.copy_.default
_AS_STRIDED = torch.ops.aten.as_strided.default


@dataclass(frozen=True)
class Place:
    """Where a tensor of the caller's is: a flat input by position or a buffer by path, and how its storage is seen."""

    root: int | str
    strided: tuple[Any, ...] | None = None

    def find(self, flat: tuple[Any, ...], source: torch.nn.Module) -> Any:
        found = flat[self.root] if isinstance(self.root, int) else operator.attrgetter(self.root)(source)
        return found if self.strided is None else torch.as_strided(found, *self.strided)


@dataclass(frozen=True)
class Stateless:
    """`module` takes `inputs(args)` and returns, flat and each once, the tensors of its outputs and the new contents.

    `finish` writes those back and nests the outputs again, with whatever is no tensor among them.
    """

    module: torch.fx.GraphModule
    source: torch.fx.GraphModule
    leaves: tuple[Any, ...]  # what the source returns, flat; None where `module` computes it
    computed: dict[int, int]  # for each of those, which output of `module` it is
    nest: Any
    further: tuple[Place, ...]  # what the module takes after the caller's arguments
    written: dict[Place, int]  # where which output goes

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """What the compiled module is given: the caller's arguments, flat, and the buffers. Checks the guards."""
        for hook in self.source._forward_pre_hooks.values():
            if isinstance(hook, InputGuard):
                hook(self.source, args)
        flat = self._flat(args)
        return (*flat, *(place.find(flat, self.source) for place in self.further))

    def finish(self, args: tuple[Any, ...], result: Any) -> Any:
        """What the caller gets, once the new contents are where they belong."""
        leaves = list(self.leaves)
        for leaf, k in self.computed.items():
            leaves[leaf] = result[k]
        flat = self._flat(args)
        with torch.no_grad():
            for place, k in self.written.items():
                place.find(flat, self.source).copy_(result[k])
        return self.source.graph.process_outputs(pytree.tree_unflatten(leaves, self.nest))

    def legalised(self, rules: Callable[[torch.fx.GraphModule], torch.fx.GraphModule]) -> Stateless:
        """The same with its module rewritten; what two outputs have come to share is one output."""
        module = rules(self.module)
        output = module.graph.output_node()
        given: Any = output.args[0]
        once = list(dict.fromkeys(given))
        output.args = (tuple(once),)
        module.recompile()
        at = [once.index(node) for node in given]
        computed = {leaf: at[k] for leaf, k in self.computed.items()}
        return replace(self, module=module, computed=computed, written={p: at[k] for p, k in self.written.items()})

    def wrap(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The compiled module, called as the source module is."""
        return lambda *args: self.finish(args, call(*self.inputs(args)))

    def _flat(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self.source.graph.process_inputs(*args))


def without_state(gm: torch.fx.GraphModule, example: tuple[Any, ...]) -> Stateless:
    """`gm` with its write-backs taken out; `gm` is not changed, and goes on holding the buffers."""
    made = _Splitter(gm, example).run()
    placeholders = made.module.graph.find_nodes(op="placeholder")
    for node, value in zip(placeholders, made.inputs(example), strict=True):
        if isinstance(value, torch.Tensor):
            node.meta["val"] = torch.empty(value.shape, dtype=value.dtype, device="meta")
    return made


class _Splitter:
    """Copies the graph, and notes of each node that is a tensor of the caller's where it is and what it holds."""

    def __init__(self, gm: torch.fx.GraphModule, example: tuple[Any, ...]) -> None:
        self.gm = gm
        self.flat = tuple(gm.graph.process_inputs(*example))
        self.graph = torch.fx.Graph()
        self.new: dict[torch.fx.Node, torch.fx.Node] = {}
        self.places: dict[torch.fx.Node, Place] = {}
        self.further: dict[Place, torch.fx.Node] = {}
        self.contents: dict[Place, torch.fx.Node] = {}

    def run(self) -> Stateless:
        self.take_inputs()
        for node in self.gm.graph.nodes:
            if node in self.new or (node.op == "call_module" and node.name == "_guards_fn"):
                continue
            if node.target is _COPY and node.args[0] in self.places:
                self.write(node)
            elif node.op != "output":
                self.new[node] = self.graph.node_copy(node, self.new.__getitem__)
        leaves, nest = pytree.tree_flatten(self.gm.graph.output_node().args[0])
        computed = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.fx.Node)]
        self.graph.output((*(self.new[leaves[k]] for k in computed), *self.contents.values()))
        self.graph.eliminate_dead_code()
        self.graph.lint()
        kept = tuple(None if k in computed else leaf for k, leaf in enumerate(leaves))
        module = torch.fx.GraphModule(self.gm, self.graph)
        outputs = {leaf: k for k, leaf in enumerate(computed)}
        written = {place: k + len(computed) for k, place in enumerate(self.contents)}
        made = Stateless(module, self.gm, kept, outputs, nest, tuple(self.further), written)
        return made.legalised(lambda module: module)

    def take_inputs(self) -> None:
        """The caller's inputs, the buffers that are written, and what is seen of their storages."""
        nodes = self.gm.graph.nodes
        written = {n.args[0] for n in nodes if n.target is _COPY}
        for k, node in enumerate(self.gm.graph.find_nodes(op="placeholder")):
            self.places[node], self.new[node] = Place(k), self.graph.placeholder(node.name)
        for node in nodes:
            if node.op == "get_attr" and (node in written or any(u.target is _AS_STRIDED for u in node.users)):
                self.places[node] = Place(str(node.target))
            elif node.target is _AS_STRIDED and node.args[0] in self.places:
                self.places[node] = Place(self.places[node.args[0]].root, tuple(node.args[1:]))
            if (place := self.places.get(node)) is not None and node not in self.new:
                if place not in self.further:
                    self.further[place] = self.graph.placeholder(f"state_{len(self.further)}")
                self.new[node] = self.further[place]

    def write(self, node: torch.fx.Node) -> None:
        """One write-back: from here on every look at the tensor, or elsewhere in its storage, shows the new content."""
        place = self.places[node.args[0]]  # type: ignore[index]
        self.contents[place] = self.new[node] = content = self.new[node.args[1]]  # type: ignore[index]
        for other, seen in self.places.items():
            if seen == place:
                self.new[other] = content
            elif seen.root == place.root:
                self.new[other] = self.seen_in(place, content, seen)

    def seen_in(self, written: Place, content: torch.fx.Node, seen: Place) -> torch.fx.Node:
        """What another look at a storage shows, once all of the storage has new content."""
        if written.strided is None or list(written.strided[1]) != [1] or written.strided[2:] not in ((), (0,), (None,)):
            raise UnsupportedMutation(
                "aten::as_strided", f"a part of {written.root} is written, and another part looked at afterwards",
                hint="return what is written",
            )  # fmt: skip
        found = seen.find(self.flat, self.gm)
        layout = seen.strided or (list(found.shape), list(found.stride()), found.storage_offset())
        return self.graph.call_function(_AS_STRIDED, (content, *layout))
