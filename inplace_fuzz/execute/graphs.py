"""Operations that show a person what the pass does: graphs before and after, and a module of the user's own."""

from __future__ import annotations

from typing import Any

from inplace_fuzz.core.program import Program, ProgramError

Payload = dict[str, Any]


def graphs(payload: Payload) -> Payload:
    """`{"program", "route": "script" | "trace"}` -> `{"before", "after", "writes", "refused"}`: graphs as text."""
    import warnings

    from inplace_fuzz.backends.torchscript import GRAPH, trace
    from inplace_fuzz.core.materialize import load_module, make_call
    from inplace_fuzz.execute.classify import one_line
    from inplace_fuzz.rewrite import UnsupportedMutation, graph_text, rewrite_graph, writing_operators

    program = Program.from_json(payload["program"])
    example = make_call(program.calls[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if payload.get("route") == "trace":
                graph = trace(load_module(program), example).inlined_graph
            else:
                graph = GRAPH.open(program, lambda: load_module(program)).graph
        except Exception as error:  # noqa: BLE001  TorchScript raises many types for what it does not take
            raise ProgramError(
                f"TorchScript does not take this program by {payload.get('route', 'script')} ({one_line(error)}); "
                f"try --route {'script' if payload.get('route') == 'trace' else 'trace'}"
            ) from None
        answer: Payload = {"before": graph_text(graph), "after": "", "writes": [], "refused": ""}
        try:
            after = rewrite_graph(graph, make_call(program.calls[0]))
        except UnsupportedMutation as error:
            answer["refused"] = str(error)
        else:
            answer["after"] = graph_text(after)
            answer["writes"] = [str(w) for w in writing_operators(after)]
    return answer


def rename(payload: Payload) -> Payload:
    """`{"text", "class", "name"}` -> `{"text"}`: the file with that class named M, so that it is a program file."""
    import ast

    text, name = payload["text"], payload["class"]
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ProgramError(
            f"{payload['name']} is not Python that can be parsed (line {error.lineno}): {error.msg}"
        ) from None
    classes = [n.name for n in tree.body if isinstance(n, ast.ClassDef)]
    if name not in classes:
        there = f"it has {', '.join(classes)}" if classes else "it has no class"
        raise ProgramError(f"there is no class {name!r} in {payload['name']}; {there}")

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:
            return ast.copy_location(ast.Name("M", node.ctx), node) if node.id == name else node

        def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
            self.generic_visit(node)
            if node.name == name:
                node.name = "M"
            return node

    renamed = text if name == "M" else ast.unparse(Rename().visit(tree)) + "\n"
    return {"text": renamed}
