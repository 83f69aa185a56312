"""What a syntax tree says without being run: which names it binds and where, and how large what it makes will be."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Collection

from inplace_fuzz.core.vocabulary import NAMES, SIZED


def is_bound(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))


def every(arguments: ast.arguments) -> list[ast.arg]:
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    return [a for a in found if a is not None]


def rebinds(function: ast.FunctionDef, name: str) -> bool:
    """Whether a name stands for anything but the first argument somewhere in a function."""
    inside = [n for n in ast.walk(function) if name in bound_by(n)]
    return len(inside) > 1


def makes(node: ast.expr, classes: Collection[str]) -> bool:
    """Whether an expression makes a new instance of one of these classes."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in classes


def instances(function: ast.FunctionDef, classes: Collection[str]) -> set[str]:
    """The variables of a function that are new instances of these classes, wherever they are given a value."""
    made, bound = Counter[str](), Counter[str]()
    for node in ast.walk(function):
        bound.update(bound_by(node))
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if makes(value, classes):
                made[name] += 1
    return {name for name, count in made.items() if bound[name] == count}


def bound_by(node: ast.AST) -> list[str]:
    """The names that this node alone gives a meaning."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return [name]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.arg(arg=name):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [(a.asname or a.name).partition(".")[0] for a in names]
    return []


def bound_in(body: list[ast.stmt]) -> set[str]:
    """The names of one scope; those of functions and classes inside it are their own."""
    found: set[str] = set()
    row: list[ast.AST] = list(body)
    while row:
        node = row.pop()
        found.update(bound_by(node))
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            row += ast.iter_child_nodes(node)
    return found


def longest_module(path: str) -> tuple[str, list[str]]:
    """`torch.nn.functional.pad.x` as the module `torch.nn.functional` and the rest."""
    words = path.split(".")
    for k in range(len(words), 0, -1):
        module = ".".join(words[:k])
        if module in NAMES:
            return module, words[k:]
    return path, []


def number(node: ast.AST) -> float:
    return abs(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) else 0


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def elements(name: str, call: ast.Call) -> float:
    """How many elements a call makes at most, as far as that is written in it."""
    if name not in SIZED:
        return 0
    values = [*call.args, *(k.value for k in call.keywords)]
    lists = [math.prod(map(size, v.elts)) for v in values if isinstance(v, (ast.Tuple, ast.List))]
    if SIZED[name] == "lists":
        return max(lists, default=0)
    numbers = [n for n in map(number, values) if n]
    counted = max(numbers, default=0) if SIZED[name] == "longest" else math.prod(numbers)
    return max([counted, *lists])


def size(node: ast.AST) -> float:
    return number(node) if isinstance(node, ast.Constant) else 1


def amount(number: float) -> str:
    return f"{number:.0f}" if number < 1e15 else f"{number:.0e}"
