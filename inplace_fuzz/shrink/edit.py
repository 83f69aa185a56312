"""Programs edited as syntax trees: the few moves that every reducer is made of.

A tree is never changed in place. `substitute` copies the path to what changes and shares the rest, nodes are addressed
by identity in `program.tree`, and the result is printed, so that the next reader parses it afresh.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from inplace_fuzz.core import Program, TensorSpec, default_spec
from inplace_fuzz.core.spec import map_specs, specs_in

# What takes a node's place: another node, several (in a list of statements or elements), or nothing.
Change: TypeAlias = "ast.AST | list[Any] | None"
Changes: TypeAlias = Mapping[ast.AST, Change]

_TAKES_SIZES = frozenset({
    "zeros", "ones", "empty", "full", "rand", "randn", "new_zeros", "new_ones", "new_empty", "new_full", "view",
    "reshape", "expand", "arange", "broadcast_to", "unflatten", "as_strided", "resize_",
})  # fmt: skip
COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try)


# ------------------------------------------------------------------------------------------------------------ editing
def substitute(node: ast.AST, changes: Changes) -> Change:
    """The tree with every node in `changes` replaced. A block that loses all its statements goes too."""
    if node in changes:
        return changes[node]
    fields: dict[str, Any] = {}
    changed = False
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            new: Any = []
            for item in value:
                got = substitute(item, changes) if isinstance(item, ast.AST) else item
                if isinstance(got, list):
                    new.extend(got)
                elif got is not None or item is None:
                    new.append(got)
            same = len(new) == len(value) and all(a is b for a, b in zip(new, value, strict=True))
        elif isinstance(value, ast.AST):
            new = substitute(value, changes)
            same = new is value
        else:
            new, same = value, True
        fields[name] = value if same else new
        changed = changed or not same
    if not changed:
        return node
    if fields.get("body") == [] and isinstance(node, ast.stmt):
        if isinstance(node, COMPOUND) and not getattr(node, "orelse", None):
            return []
        fields["body"] = [ast.Pass()]
    return type(node)(**fields)


def edited(program: Program, changes: Changes) -> Program:
    """The program with these nodes of its tree replaced."""
    tree = substitute(program.tree, changes)
    assert isinstance(tree, ast.Module)
    return replace(program, source=show(tree))


def each_input(program: Program, change: Callable[[TensorSpec], TensorSpec]) -> Iterator[Program]:
    """The change on every tensor of every call, then on one argument at a time, in all calls."""
    yield program.with_calls(*(map_specs(c, change) for c in program.calls))
    for k in range(len(program.parameters)):
        yield program.with_calls(
            *(tuple(map_specs(a, change) if k == at else a for at, a in enumerate(c)) for c in program.calls)
        )


def with_input(program: Program, changes: Changes, parameter: str, spec: TensorSpec) -> Program:
    """The edited program with one more input at the end, the same in every call."""
    arguments = program.forward.args
    more = ast.arguments(**{**dict(ast.iter_fields(arguments)), "args": [*arguments.args, ast.arg(parameter)]})
    changed = edited(program, {**changes, arguments: more})
    return replace(changed, calls=tuple((*call, spec) for call in program.calls))


def distinct_spec(program: Program, shape: tuple[int, ...]) -> TensorSpec:
    """A float32 tensor of this shape with values that no input of the program has."""
    used = [v.real for c in program.calls for s in specs_in(c) for v in s.values if s.dtype != "bool"]
    return default_spec(f"f32[{','.join(map(str, shape))}]", start=int(max([0, *used])) + 1)


def index_spec(program: Program, shape: tuple[int, ...]) -> TensorSpec:
    """An int64 tensor of this shape that holds 0, 1 … as far as the integer inputs go, again and again."""
    whole = [s for c in program.calls for s in specs_in(c) if s.dtype.startswith("int")]
    count = 1 + max((int(v.real) for s in whole for v in s.values), default=0)
    return TensorSpec(shape, "int64", tuple(k % max(1, count) for k in range(math.prod(shape))))


def fresh_parameter(program: Program) -> str:
    """A name for one more input; canonical naming gives it a better one."""
    taken = {n.id for n in ast.walk(program.tree) if isinstance(n, ast.Name)} | set(program.parameters)
    return next(f"new{k}" for k in range(len(taken) + 1) if f"new{k}" not in taken)


def show(tree: ast.Module) -> str:
    """A tree as a person lays it out: two blank lines around classes and functions, none after `class M`."""
    text = ""
    for node in tree.body:
        plain = not isinstance(node, (ast.ClassDef, ast.FunctionDef))
        gap = "" if not text else "\n" if plain else "\n\n\n"
        text += gap + (_class(node) if isinstance(node, ast.ClassDef) else _code(node))
    return text + "\n"


def _class(node: ast.ClassDef) -> str:
    head = _code(type(node)(**{**dict(ast.iter_fields(node)), "body": [ast.Pass()]})).removesuffix("\n    pass")
    parts = [("\n" + _code(item) if isinstance(item, ast.FunctionDef) else _code(item)) for item in node.body]
    body = "\n".join(parts).removeprefix("\n")
    return head + "\n" + "\n".join(f"    {line}" if line else "" for line in body.split("\n"))


def _code(node: ast.AST) -> str:
    return "\n".join(
        _bare_return(line) for line in ast.unparse(ast.fix_missing_locations(node)).strip("\n").split("\n")
    )


def _bare_return(line: str) -> str:
    """`return (x, y)` as `return x, y`, the way people write it."""
    inner = line.strip()
    if inner.startswith("return (") and inner.endswith(")"):
        shorter = f"return {inner[8:-1]}"
        try:
            if ast.dump(ast.parse(shorter)) == ast.dump(ast.parse(inner)):
                return line.replace(inner, shorter)
        except SyntaxError:
            pass
    return line


# ------------------------------------------------------------------------------------------------------------ reading
def body_statements(program: Program) -> list[ast.stmt]:
    """Every statement of forward in reading order, those inside blocks after the block's own line."""
    return list(_nested(program.forward.body))


def _nested(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for block in blocks(statement):
            yield from _nested(block)


def blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of statements that a compound statement holds."""
    found = [getattr(statement, name) for name in ("body", "orelse", "finalbody") if getattr(statement, name, None)]
    found += [handler.body for handler in getattr(statement, "handlers", [])]
    return found if isinstance(statement, COMPOUND) else []


def header(statement: ast.stmt) -> list[ast.AST]:
    """The parts of a statement that run as the statement itself: all of a simple one, the first line of a compound."""
    if not isinstance(statement, COMPOUND):
        return [statement]
    inner = {id(s) for block in blocks(statement) for s in block}
    return [n for n in ast.iter_child_nodes(statement) if id(n) not in inner and not isinstance(n, ast.ExceptHandler)]


def expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """Every expression of a statement's own part, outermost first."""
    for part in header(statement):
        for node in _preorder(part):
            if isinstance(node, ast.expr):
                yield node


def _preorder(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _preorder(child)


def reads(*nodes: ast.AST) -> list[ast.Name]:
    """The names that are read, in order. `x += 1` reads x; a comprehension's own variable is not read."""
    found: list[ast.Name] = []
    for top in nodes:
        own: set[str] = set()
        for node in ast.walk(top):
            if isinstance(node, ast.comprehension):
                own |= {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
            elif isinstance(node, ast.Lambda):
                own |= {a.arg for a in node.args.args}
            elif isinstance(node, ast.FunctionDef):
                own |= {a.arg for a in node.args.args} | {n for s in node.body for n in _stored(s)}
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in own:
                found.append(node)
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                found.append(node.target)
    return found


def _stored(node: ast.AST) -> set[str]:
    """The names that anything inside this node binds."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def binds(statement: ast.stmt) -> set[str]:
    """The names that a statement's own part gives a value."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    return {n for part in header(statement) for n in _stored(part)}


def outer_names(program: Program) -> set[str]:
    """What forward can name without binding it: builtins, imports, helper functions, and self."""
    names = set(dir(builtins)) | {"self"}
    for node in program.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(a.asname or a.name).split(".")[0] for a in node.names}
        else:
            names |= binds(node)
    return names


def sound(program: Program) -> bool:
    """Whether the text parses, forward takes each call's arguments, and every name it reads is bound before."""
    try:
        function = program.forward
    except (SyntaxError, ValueError):
        return False
    count, optional = len(program.parameters), len(function.args.defaults)
    if not function.args.vararg and any(not count - optional <= len(call) <= count for call in program.calls):
        return False
    known = outer_names(program) | {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    for statement in body_statements(program):
        own = binds(statement) if isinstance(statement, ast.For) else set()
        if any(name.id not in known | own for name in reads(*header(statement))):
            return False
        known |= binds(statement)
    return True


def root(node: ast.AST) -> str | None:
    """The name at the far left of a chain: x for `x[1:].t().add_(1)`; None for `torch.zeros(2)[0]` and numbers."""
    while True:
        if isinstance(node, ast.Name):
            return None if node.id in ("torch", "self") else node.id
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        elif isinstance(node, ast.BinOp):
            node = node.left
        else:
            return None


def on_torch(node: ast.AST) -> bool:
    """Whether this is `torch.f(...)`: a call of a function rather than of a tensor's method."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    owner = node.func.value
    while isinstance(owner, ast.Attribute):
        owner = owner.value
    return isinstance(owner, ast.Name) and owner.id == "torch"


def size_literals(program: Program) -> Iterator[ast.Constant]:
    """The whole numbers in the text that are sizes: in the arguments of zeros, view, expand and their like."""
    for statement in body_statements(program):
        for node in expressions(statement):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _TAKES_SIZES:
                places = node.args[1:2] if node.func.attr == "broadcast_to" else node.args
                for place in places:
                    parts = place.elts if isinstance(place, (ast.List, ast.Tuple)) else [place]
                    yield from (p for p in parts if isinstance(p, ast.Constant) and type(p.value) is int)


def name(identifier: str) -> ast.Name:
    return ast.Name(identifier, ast.Load())


def constant(value: Any) -> ast.expr:
    """A literal; lists and tuples of them too."""
    if isinstance(value, (list, tuple)):
        elts = [constant(v) for v in value]
        return ast.List(elts, ast.Load()) if isinstance(value, list) else ast.Tuple(elts, ast.Load())
    return ast.parse(repr(value), mode="eval").body
