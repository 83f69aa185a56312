"""Helper functions and methods, inlined where forward calls them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_fuzz.core import Program
from inplace_fuzz.shrink.edit import Change, body_statements, edited, header, outer_names, substitute


def inline_helpers(program: Program) -> Iterator[Program]:
    """Puts the body of a helper in place of a call of it, and drops the helper where that was the last call.

    Works for helpers with one return, at the end, or none. An argument stands in the body as it is where it is a name,
    a number or brackets, or is read once; otherwise it gets a local first.
    """
    helpers = _helpers(program)
    for statement in body_statements(program):
        for part in header(statement):
            for node in ast.walk(part):
                called = _called(node)
                if isinstance(node, ast.Call) and called in helpers and not isinstance(statement, ast.While):
                    inlined = _inlined(program, statement, node, helpers[called])
                    if inlined is not None:
                        yield inlined


def _helpers(program: Program) -> dict[str, ast.FunctionDef]:
    """Module-level functions by name, methods of M as `self.name`."""
    found: dict[str, ast.FunctionDef] = {}
    for node in program.tree.body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            found[node.name] = node
        elif isinstance(node, ast.ClassDef) and node.name == "M":
            methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and m.name not in ("forward", "__init__")]
            found |= {f"self.{m.name}": m for m in methods}
    return found


def _called(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name
        case ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name)):
            return f"self.{name}"
    return ""


def _inlined(program: Program, statement: ast.stmt, call: ast.Call, helper: ast.FunctionDef) -> Program | None:
    bound = _bound_arguments(call, helper)
    returns = [n for n in ast.walk(helper) if isinstance(n, ast.Return)]
    body = [s for s in helper.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    if bound is None or len(returns) > 1 or (returns and returns[0] is not body[-1]):
        return None
    taken = outer_names(program) | {n.id for n in ast.walk(program.forward) if isinstance(n, ast.Name)}
    taken |= {a.arg for a in ast.walk(program.forward.args) if isinstance(a, ast.arg)}
    names = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name)]
    stored = {n.id for n in names if isinstance(n.ctx, ast.Store)}
    before: list[ast.stmt] = []
    changes: dict[ast.AST, Change] = {}
    for local in dict.fromkeys([*bound, *stored]):
        uses = [n for n in names if n.id == local]
        argument = bound.get(local)
        plain = isinstance(argument, (ast.Name, ast.Constant, ast.Subscript)) or len(uses) <= 1
        if argument is not None and plain and local not in stored:
            changes |= dict.fromkeys(uses, argument)
            continue
        fresh = next(f"{local}{k or ''}" for k in range(99) if f"{local}{k or ''}" not in taken)
        taken.add(fresh)
        changes |= {n: ast.Name(fresh, n.ctx) for n in uses}
        if argument is not None:
            before.append(ast.Assign([ast.Name(fresh, ast.Store())], argument))
    replaced = substitute(ast.Module(body, []), changes)
    assert isinstance(replaced, ast.Module)
    steps = [*before, *replaced.body]
    result: ast.AST = ast.Constant(None)
    if returns:
        last = steps.pop()
        assert isinstance(last, ast.Return)
        result = last.value or result
    return edited(program, _put(program, statement, call, helper, steps, result))


def _put(
    program: Program,
    statement: ast.stmt,
    call: ast.Call,
    helper: ast.FunctionDef,
    steps: list[ast.stmt],
    result: ast.AST,
) -> dict[ast.AST, Change]:
    """The changes that put `steps` before the statement and `result` in place of the call."""
    alone = isinstance(statement, ast.Expr) and statement.value is call
    changed = substitute(statement, {call: result})
    keep = [] if alone and not isinstance(result, ast.Call) else [changed]
    changes: dict[ast.AST, Change] = {statement: [*steps, *keep]}
    others = [n for n in ast.walk(program.tree) if n is not call and _called(n) == _called(call)]
    if not others:
        changes[helper] = None
    return changes


def _bound_arguments(call: ast.Call, helper: ast.FunctionDef) -> dict[str, ast.expr] | None:
    """The argument of each parameter of the helper, defaults included; None where the call does not fit simply."""
    arguments = helper.args
    parameters = [a.arg for a in arguments.posonlyargs + arguments.args]
    if isinstance(call.func, ast.Attribute):
        parameters = parameters[1:]
    if (
        arguments.vararg
        or arguments.kwarg
        or arguments.kwonlyargs
        or any(isinstance(a, ast.Starred) for a in call.args)
    ):
        return None
    bound = dict(zip(parameters[len(parameters) - len(arguments.defaults) :], arguments.defaults, strict=False))
    bound |= dict(zip(parameters, call.args, strict=False))
    bound |= {k.arg: k.value for k in call.keywords if k.arg}
    return {p: bound[p] for p in parameters} if set(bound) == set(parameters) else None
