"""Canonical names (inputs x, y, z, indices i, j, k, masks m, locals v, w, t), so that equal programs are equal text."""

from __future__ import annotations

import ast
import builtins
import itertools
import keyword
from collections.abc import Iterator

from inplace_fuzz.core import Program, TensorSpec
from inplace_fuzz.core.kinds import index_elements
from inplace_fuzz.shrink.edit import edited, outer_names

_POOLS = {
    "data": ("x", "y", "z", "a", "b", "c"),
    "index": ("i", "j", "k", "l"),
    "mask": ("m",),
    "number": ("n", "s"),
    "container": ("xs", "ys"),
    "local": ("v", "w", "t", "u"),
    "loop": ("k", "n"),
}


def tidy(program: Program) -> Program:
    """The same program with canonical names in forward. Renaming nothing gives the program back as it is."""
    new = _choose(program)
    if all(old == fresh for old, fresh in new.items()):
        return program
    changes: dict[ast.AST, ast.AST] = {}
    for node in ast.walk(program.forward):
        if isinstance(node, ast.Name) and node.id in new:
            changes[node] = ast.Name(new[node.id], node.ctx)
        elif isinstance(node, ast.arg) and node.arg in new:
            changes[node] = ast.arg(new[node.arg], node.annotation)
    return edited(program, changes)


def _choose(program: Program) -> dict[str, str]:
    function = program.forward
    parameters = [a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg) and a.arg != "self"]
    bound = [n.id for n in _in_order(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    bound += [a.arg for n in ast.walk(function) if isinstance(n, ast.Lambda) for a in n.args.args]
    loops = {
        n.id
        for f in ast.walk(function)
        if isinstance(f, (ast.For, ast.comprehension))
        for n in ast.walk(f.target)
        if isinstance(n, ast.Name)
    }
    indexing = _index_names(function)
    used = {n.id for n in ast.walk(program.forward) if isinstance(n, ast.Name)}
    mine = set(parameters) | set(bound)
    taken = (outer_names(program) - set(dir(builtins))) | (used - mine)
    chosen: dict[str, str] = {}
    for position, old in enumerate([*parameters, *dict.fromkeys(bound)]):
        if old in chosen:
            continue
        if position < len(parameters):
            kind = _parameter_kind(program, position, old in indexing)
        else:
            kind = "loop" if old in loops else "local"
        chosen[old] = next(n for n in _pool(kind) if n not in taken)
        taken.add(chosen[old])
    return chosen


def _pool(kind: str) -> Iterator[str]:
    names = _POOLS[kind]
    yield from names
    for number in itertools.count(2):
        yield from (f"{n}{number}" for n in names if not keyword.iskeyword(n))


def _parameter_kind(program: Program, position: int, indexing: bool) -> str:
    arg = program.calls[0][position] if program.calls and position < len(program.calls[0]) else None
    if isinstance(arg, TensorSpec):
        if arg.dtype == "bool":
            return "mask"
        return "index" if indexing and arg.dtype.startswith(("int", "uint")) else "data"
    return "container" if isinstance(arg, (list, tuple, dict)) else "number"


def _index_names(function: ast.FunctionDef) -> set[str]:
    """The names that select elements: between brackets, or in the argument of an index operator."""
    found: set[str] = set()
    for node in ast.walk(function):
        places: list[ast.AST] = []
        if isinstance(node, ast.Subscript):
            places = list(index_elements(node))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _takes_index(node.func.attr):
            places = list(node.args)
        found |= {n.id for p in places for n in ast.walk(p) if isinstance(n, ast.Name)}
    return found


def _takes_index(method: str) -> bool:
    return method.startswith(("index_", "scatter", "gather", "take", "put"))


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)
