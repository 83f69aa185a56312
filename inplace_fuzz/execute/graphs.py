"""Operations that show a person what the pass does: graphs before and after, and a module of the user's own."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from typing import Any

from inplace_fuzz.core.program import Program, ProgramError
from inplace_fuzz.core.text import syntax

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
    """`{"text", "class", "name"}` -> `{"text"}`: the file with that class named M, so that it is a program file.

    Nothing else of the text changes, its comments and line numbers neither. A class that was M becomes `_M`.
    """
    text, name = payload["text"], payload["class"]
    classes = [n.name for n in syntax(text, name=payload["name"]).body if isinstance(n, ast.ClassDef)]
    if name not in classes:
        there = f"it has {', '.join(classes)}" if classes else "it has no class"
        raise ProgramError(f"there is no class {name!r} in {payload['name']}; {there}")
    if name == "M":
        return {"text": text}
    lines = text.split("\n")
    new = {name: "M", "M": "_M"}
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    for before, token in reversed(list(itertools.pairwise(tokens))):
        if token.type == tokenize.NAME and token.string in new and before.string != ".":
            row, (start, end) = token.start[0] - 1, (token.start[1], token.end[1])
            lines[row] = lines[row][:start] + new[token.string] + lines[row][end:]
    return {"text": "\n".join(lines)}
