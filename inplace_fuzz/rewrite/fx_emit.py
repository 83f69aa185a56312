"""The FX target: functional `torch.ops.aten` calls, for the shapes of the example inputs.

The rewritten graph is run once on copies of the example inputs, operator by operator, and every tensor operator that
runs is written down. What is known then (sizes, dtypes, ints, which branch, how many iterations) becomes part of the
graph; `InputGuard` refuses other inputs. What depends on the content of a tensor cannot become part of the graph: a
branch on it is refused.
"""

# ruff: noqa: ARG001  (the functions of one table take the same arguments)
# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import operator
from typing import Any

import torch

from . import overloads
from .errors import UnsupportedMutation
from .fx_operators import OWN, PLAIN, Known, python_function
from .ir import Block, Graph, Node, Value, mark_live

_METADATA = frozenset(
    [
        "aten::size",
        "aten::dim",
        "aten::numel",
        "aten::stride",
        "aten::storage_offset",
        "aten::is_contiguous",
        "aten::is_set_to",
        "prim::dtype",
        "prim::device",
        "prim::layout",
        "aten::is_floating_point",
        "aten::is_complex",
        "aten::len",
        "prim::is_cuda",
        "prim::requires_grad",
        "aten::__is__",
        "aten::__isnot__",
    ]
)
_DATA_SHAPED = frozenset(
    [
        "aten::nonzero",
        "aten::masked_select",
        "aten::unique_dim",
        "aten::_unique2",
        "aten::unique_consecutive",
        "aten::repeat_interleave",
        "aten::bincount",
    ]
)
_SHAPED_LIKE_SELF = frozenset(
    [
        "aten::index_put",
        "aten::masked_scatter",
        "aten::slice_scatter",
        "aten::select_scatter",
        "aten::index_copy",
        "aten::index_add",
        "aten::index_fill",
        "aten::masked_fill",
        "aten::copy",
        "aten::scatter",
        "aten::put",
        "aten::type_as",
        "aten::copy_",
    ]
)
_LIMIT = 20_000


class Emitter:
    """One run. `attributes` maps a path to what the module holds there, and "" to the script module itself."""

    def __init__(self, attributes: dict[str, Any]) -> None:
        self.graph = torch.fx.Graph()
        self.root = torch.nn.Module()
        self.attributes = attributes
        self.known: dict[Value, Known] = {}
        self.count = 0
        self.held = 0
        self.nodes: dict[str, torch.fx.Node] = {}
        self.reads_layout = False
        self.rebound: list[tuple[str, torch.Tensor]] = []

    # ------------------------------------------------------------------ the run
    def run(self, graph: Graph, inputs: list[Known]) -> list[Known]:
        mark_live(graph.block)
        for param, known in zip(graph.block.params, inputs, strict=True):
            self.known[param] = known
        for constant in graph.constants:
            if constant.live:
                self.known[constant] = self.constant(constant.py)
        with torch.no_grad():
            self.block(graph.block)
        results = [self.known[v] for v in graph.block.results]
        self.check_rebound([k.example for k in (*inputs, *results)])
        return results

    def check_rebound(self, seen: Any) -> None:
        """An attribute that is bound to another tensor takes its content here; that the two share memory is lost."""
        storages = {
            t.untyped_storage().data_ptr() for t in torch.utils._pytree.tree_leaves(seen) if isinstance(t, torch.Tensor)
        }
        for path, value in self.rebound:
            if value.untyped_storage().data_ptr() in storages:
                raise UnsupportedMutation(
                    "prim::SetAttr", f"{path} is bound to a tensor that the caller sees too, in the fx target",
                    hint='functionalize(..., target="torchscript") binds it',
                )  # fmt: skip

    def constant(self, py: Any) -> Known:
        if isinstance(py, torch.Tensor):
            name = f"_tensor_constant{self.held}"
            self.held += 1
            self.root.register_buffer(name, py)
            return Known(self.get_attr(name), py)
        return Known(py, py)

    def get_attr(self, path: str) -> torch.fx.Node:
        if path not in self.nodes:
            first = next((n for n in self.graph.nodes if n.op not in ("placeholder", "get_attr")), None)
            with self.graph.inserting_before(first) if first is not None else self.graph.inserting_after(None):
                self.nodes[path] = self.graph.create_node("get_attr", path)
        return self.nodes[path]

    def block(self, block: Block) -> None:
        for node in block.nodes:
            if node.live:
                self.count += 1
                if self.count > _LIMIT:
                    raise UnsupportedMutation(node.kind, f"more than {_LIMIT} operators when its loops are written out")
                self.node(node)

    def node(self, node: Node) -> None:
        kind = node.kind.partition(".")[0]
        own = OWN.get(kind) if not kind.startswith("python::") else python_function
        inputs = [self.known[v] for v in node.inputs] if not node.blocks else []
        if own is not None and own(self, node, inputs):
            return
        self.general(node, kind, inputs)

    def give(self, node: Node, *results: Known) -> bool:
        for out, known in zip(node.outputs, results, strict=True):
            self.known[out] = known
        return True

    # ------------------------------------------------------------------ operators
    def general(self, node: Node, kind: str, inputs: list[Known]) -> None:
        values = [k.example for k in inputs]
        tensors = _any_tensor(values)
        if not tensors and _makes_tensor(overloads.resolve(kind, values, _overload_of(node))):
            self.call(node, kind, inputs)
            return
        if not tensors:
            if any(k.content for k in inputs) and len(inputs) != 1:
                raise UnsupportedMutation(kind, "arithmetic on a number that comes out of a tensor, in the fx target")
            result = _plain(kind, node, values)
            self.give(node, *(Known(r, r) for r in (result if len(node.outputs) > 1 else (result,))))
            return
        if kind in _METADATA:
            if any(k.sized for k in inputs):
                raise UnsupportedMutation(kind, "a size that depends on the content of a tensor, in the fx target")
            self.reads_layout |= kind in (
                "aten::stride",
                "aten::storage_offset",
                "aten::is_contiguous",
                "aten::is_set_to",
            )
            result = _plain(kind, node, values)
            self.give(node, Known(result, result))
            return
        self.call(node, kind, inputs)

    def call(self, node: Node, kind: str, inputs: list[Known]) -> None:
        overload = _overload_of(node)
        values = [k.example for k in inputs]
        op = overloads.resolve(kind, values, overload)
        if op is None:
            raise UnsupportedMutation(kind, "no operator of torch.ops takes these arguments, in the fx target")
        positional, keywords = overloads.arrange(op, values)
        example = op(*positional, **keywords)
        args, kwargs = overloads.arrange(op, [k.arg for k in inputs])
        made = self.graph.call_function(op, args, kwargs)
        sized = _data_shaped(kind, inputs)
        if len(op._schema.returns) <= 1:
            if isinstance(example, (list, tuple)):
                items = [self.graph.call_function(operator.getitem, (made, i)) for i in range(len(example))]
                self.give(node, Known(items, list(example), sized=sized))
                return
            content = not isinstance(example, torch.Tensor)
            made.meta["example"] = example
            if node.outputs:
                self.give(node, Known(made, example, content=content, sized=sized))
            return
        self.give(
            node,
            *(
                Known(self.graph.call_function(operator.getitem, (made, i)), e, sized=sized)
                for i, e in enumerate(example)
            ),
        )

    def emit(self, op: Any, args: list[Known], kwargs: dict[str, Any] | None = None) -> Known:
        """One more operator that the target spells in its own way."""
        kwargs = kwargs or {}
        made = self.graph.call_function(op, tuple(k.arg for k in args), kwargs)
        return Known(made, op(*(k.example for k in args), **kwargs), sized=any(k.sized for k in args[:1]))


def _data_shaped(kind: str, inputs: list[Known]) -> bool:
    if kind in _SHAPED_LIKE_SELF:
        return inputs[0].sized
    if kind in _DATA_SHAPED or any(k.sized for k in inputs):
        return True
    return kind == "aten::index" and any(
        isinstance(t, torch.Tensor) and t.dtype in (torch.bool, torch.uint8) for t in inputs[1].example
    )


def _makes_tensor(op: Any) -> bool:
    return op is not None and any("Tensor" in str(r.type) for r in op._schema.returns)


def _overload_of(node: Node) -> str | None:
    origin = node.origin
    if origin is None or isinstance(origin, str):
        dot = node.kind.partition(".")
        return (dot[2] if dot[2] != "default" else "") if dot[1] else None
    if isinstance(origin, torch._ops.OpOverload):
        return origin._schema.overload_name
    text = origin.schema()
    if text == "(no schema)":
        return None
    head = text.split("(", 1)[0].partition(".")
    return head[2]  # type: ignore[no-any-return]


def _any_tensor(values: Any) -> bool:
    return any(isinstance(v, torch.Tensor) or (isinstance(v, (list, tuple)) and _any_tensor(v)) for v in values)


def _plain(kind: str, node: Node, values: list[Any]) -> Any:
    """Operators on numbers, lists and shapes, as TorchScript computes them."""
    own = PLAIN.get(kind)
    if own is not None:
        return own(*values)
    namespace, name = kind.split("::")
    try:
        return getattr(getattr(torch.ops, namespace), name)(*values)
    except (AttributeError, TypeError, RuntimeError) as why:
        raise UnsupportedMutation(kind, f"not computed before the program runs, in the fx target: {why}") from why
