"""Less around forward: unused imports, helpers and methods go, buffers become inputs or locals."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_fuzz.core import Program
from inplace_fuzz.shrink.edit import distinct_spec, edited, name, with_input
from inplace_fuzz.shrink.static import made_shape


def drop_unused_definitions(program: Program) -> Iterator[Program]:
    """Drops the imports, helpers, methods and attributes that nothing reads, all at once and then one by one."""
    unused = list(_unused(program))
    if len(unused) > 1:
        yield edited(program, dict.fromkeys(unused))
    yield from (edited(program, {node: None}) for node in unused)


def drop_decorators(program: Program) -> Iterator[Program]:
    """Drops decorators, docstrings and class-level statements."""
    main = _module_class(program)
    for node in (main, *main.body):
        yield from (edited(program, {d: None}) for d in getattr(node, "decorator_list", []))
    texts = [
        s for s in (*main.body, *program.forward.body) if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)
    ]
    if texts:
        yield edited(program, dict.fromkeys(texts))
    yield from (edited(program, {s: None}) for s in main.body if not isinstance(s, (ast.FunctionDef, ast.Expr)))


def buffers_to_inputs(program: Program) -> Iterator[Program]:
    """Passes a buffer or attribute of known size in as one more input; else makes it in forward."""
    for statement, attribute, made in _tensors_on_self(program):
        uses = [n for n in ast.walk(program.forward) if _is_self(n, attribute)]
        if not uses:
            continue
        fresh = next(n for n in (attribute, *(f"{attribute}_{k}" for k in range(9))) if n not in program.parameters)
        changes: dict[ast.AST, ast.AST | list[ast.AST] | None] = {statement: None}
        changes |= {n: name(fresh) for n in uses}
        shape = made_shape(made)
        if shape is not None:
            yield with_input(program, changes, fresh, distinct_spec(program, shape))
        local = edited(program, changes)
        start = local.forward.body[0]
        yield edited(local, {start: [ast.Assign([ast.Name(fresh, ast.Store())], made), start]})


def _module_class(program: Program) -> ast.ClassDef:
    return next(n for n in program.tree.body if isinstance(n, ast.ClassDef) and n.name == "M")


def _is_self(node: ast.AST, attribute: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _tensors_on_self(program: Program) -> Iterator[tuple[ast.stmt, str, ast.expr]]:
    for method in _module_class(program).body:
        if not (isinstance(method, ast.FunctionDef) and method.name == "__init__"):
            continue
        for statement in method.body:
            match statement:
                case ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=str(at)), made, *_]
                    )
                ):
                    yield statement, at, made
                case ast.Assign(targets=[ast.Attribute(attr=at)], value=ast.Call(args=[made, *_]) as call):
                    text = ast.unparse(call.func)
                    if text in ("torch.nn.Parameter", "nn.Parameter"):
                        yield statement, at, made
                    elif text.startswith("torch.") and not text.startswith("torch.nn"):
                        yield statement, at, call


def _unused(program: Program) -> Iterator[ast.AST]:
    """Top-level definitions, methods and `__init__` statements that nothing else names."""
    tree, main = program.tree, _module_class(program)
    for node in tree.body:
        if node is main or (isinstance(node, ast.Import) and node.names[0].name == "torch"):
            continue
        bound = (
            {(a.asname or a.name).split(".")[0] for a in node.names}
            if isinstance(node, (ast.Import, ast.ImportFrom))
            else _bound(node)
        )
        elsewhere = {
            n.id for other in tree.body if other is not node for n in ast.walk(other) if isinstance(n, ast.Name)
        }
        operators = any(isinstance(n, ast.Attribute) and n.attr in bound for n in ast.walk(main))
        if not bound & elsewhere and not operators:
            yield node
    attributes = {n.attr for n in ast.walk(program.forward) if isinstance(n, ast.Attribute)}
    for method in main.body:
        if not isinstance(method, ast.FunctionDef) or method.name == "forward":
            continue
        if method.name != "__init__":
            called = {n.attr for m in main.body if m is not method for n in ast.walk(m) if isinstance(n, ast.Attribute)}
            if method.name not in called:
                yield method
            continue
        mine = [s for s in method.body if not ast.unparse(s).startswith("super(")]
        needed = [s for s in mine if _sets(s) is None or _sets(s) in attributes]
        if not needed:
            yield method
        else:
            yield from (s for s in mine if s not in needed)


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _sets(statement: ast.stmt) -> str | None:
    """The attribute of self that a statement of `__init__` sets."""
    match statement:
        case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=attribute)]):
            return attribute
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(attr="register_buffer" | "register_parameter"),
                args=[ast.Constant(value=str(attribute)), *_],
            )
        ):
            return attribute
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr="eval" | "train"))):
            return "training"
    return None
