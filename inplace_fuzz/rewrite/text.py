"""A graph as a person reads it: short names, constants in place, no source ranges."""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

from typing import Any

import torch


def graph_text(graph: Any) -> str:
    """One line per operator. Takes a torch._C.Graph, anything with `inlined_graph`, a GraphModule or an fx.Graph."""
    if isinstance(graph, torch._C.Graph):
        return _Printer().graph(graph)
    if hasattr(graph, "inlined_graph"):
        return _Printer().graph(graph.inlined_graph)
    fx_graph = getattr(graph, "graph", graph)
    return _fx_text(fx_graph)


class _Printer:
    def __init__(self) -> None:
        self.names: dict[Any, str] = {}
        self.taken: set[str] = set()
        self.lines: list[str] = []
        self.count = 0

    def graph(self, graph: torch._C.Graph) -> str:
        params = [self.name(v) for v in graph.inputs()]
        self.lines.append(f"graph({', '.join(params)}):")
        for node in graph.nodes():
            self.node(node, "  ")
        self.lines.append(f"  return ({', '.join(self.use(v) for v in graph.outputs())})")
        return "\n".join(self.lines) + "\n"

    def name(self, value: torch._C.Value) -> str:
        name = value.debugName().split(".", 1)[0]
        if name.isdigit() or name in self.taken:
            stem = "" if name.isdigit() else name
            self.count += not stem
            number = self.count if not stem else 2
            name = f"{stem}{number}"
            while name in self.taken:
                number += 1
                name = f"{stem}{number}"
        self.taken.add(name)
        self.names[value] = name = "%" + name
        return name

    def use(self, value: torch._C.Value) -> str:
        return self.names[value]

    def node(self, node: torch._C.Node, indent: str) -> None:
        kind = node.kind()
        outs = list(node.outputs())
        if kind == "prim::Constant":
            self.names[outs[0]] = _constant(node)
            return
        inputs = [self.use(v) for v in node.inputs()]
        if kind == "prim::ListConstruct":
            self.names[outs[0]] = f"[{', '.join(inputs)}]"
            return
        if kind in ("prim::GetAttr", "prim::SetAttr"):
            kind += f'["{node.s("name")}"]'
        left = ", ".join(self.name(v) for v in outs)
        blocks = list(node.blocks())
        self.lines.append(f"{indent}{left + ' = ' if left else ''}{kind}({', '.join(inputs)}){':' if blocks else ''}")
        for i, block in enumerate(blocks):
            label = ("then", "else")[i] if kind == "prim::If" else "body"
            params = [self.name(v) for v in block.inputs()]
            self.lines.append(f"{indent}  {label}({', '.join(params)}):")
            for inner in block.nodes():
                self.node(inner, indent + "    ")
            self.lines.append(f"{indent}    -> ({', '.join(self.use(v) for v in block.outputs())})")


def _constant(node: torch._C.Node) -> str:
    value = node.output().toIValue()
    if isinstance(value, torch.Tensor):
        return f"<{str(value.dtype).removeprefix('torch.')}{list(value.shape)}>"
    return repr(value)


def _fx_text(graph: torch.fx.Graph) -> str:
    lines = []
    names = [n.name for n in graph.nodes if n.op == "placeholder"]
    lines.append(f"graph({', '.join('%' + n for n in names)}):")
    for node in graph.nodes:
        if node.op == "placeholder":
            continue
        if node.op == "output":
            lines.append(f"  return ({_fx_arg(node.args[0])})")
            continue
        args = [_fx_arg(a) for a in node.args] + [f"{k}={_fx_arg(v)}" for k, v in node.kwargs.items()]
        name = node.target.name() if hasattr(node.target, "name") and callable(node.target.name) else str(node.target)
        lines.append(f"  %{node.name} = {name}({', '.join(args)})")
    return "\n".join(lines) + "\n"


def _fx_arg(arg: Any) -> str:
    if isinstance(arg, torch.fx.Node):
        return "%" + arg.name
    if isinstance(arg, (list, tuple)):
        inner = ", ".join(_fx_arg(a) for a in arg)
        return f"[{inner}]" if isinstance(arg, list) else f"({inner})"
    return repr(arg)
