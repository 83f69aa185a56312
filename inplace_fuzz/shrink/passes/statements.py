"""Fewer statements: keep one write and what it needs, delete ranges, inline names.

Deleting a statement can leave a name without a value. Two repairs are tried: drop whatever reads it (elements of a
returned tuple one by one), or read the tensor that it was made from instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from inplace_fuzz.core import Program
from inplace_fuzz.core.kinds import Scope
from inplace_fuzz.shrink.edit import (
    COMPOUND,
    Change,
    binds,
    blocks,
    body_statements,
    edited,
    header,
    name,
    outer_names,
    reads,
    root,
)  # fmt: skip

_VIEWLIKE_USES = 3  # a view used more often than this is easier to read with a name


def keep_one_write(program: Program) -> Iterator[Program]:
    """Keeps one statement, the definitions that it needs, and the return."""
    steps = [s for s in body_statements(program) if not isinstance(s, ast.Return)]
    parents = {child: s for s in steps for block in blocks(s) for child in block}
    for kept in steps:
        if len(steps) < 3 or isinstance(kept, COMPOUND) or not _writes(kept):
            continue
        needed: set[ast.stmt] = set()
        todo = [kept]
        while todo:
            statement = todo.pop()
            if statement in needed:
                continue
            needed.add(statement)
            if statement in parents:
                todo.append(parents[statement])
            before = steps[: steps.index(statement)]
            for read in {n.id for n in reads(*header(statement))}:
                todo += [s for s in reversed(before) if read in binds(s)][:1]
        yield from _without(program, [s for s in steps if s not in needed], swap=False)


def delete_statements(program: Program) -> Iterator[Program]:
    """Deletes ranges of statements, long ones first, down to single ones."""
    steps = [s for s in body_statements(program) if not isinstance(s, ast.Return)]
    length = len(steps) // 2
    while length:
        for start in range(0, len(steps) - length + 1, length):
            doomed = steps[start : start + length]
            yield from _without(program, doomed, swap=True)
            yield from _without(program, doomed, swap=False)
        length //= 2


def inline_names(program: Program) -> Iterator[Program]:
    """Puts the expression in place of a name that is assigned once, where it is used once or is a short view."""
    steps = body_statements(program)
    for position, statement in enumerate(steps):
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                pass
            case _:
                continue
        if any(target in binds(s) for s in steps if s is not statement):
            yield from _inline_until_rebound(program, statement, steps[position + 1 :])
            continue
        uses = [n for s in steps[position + 1 :] for n in reads(*header(s)) if n.id == target]
        short = isinstance(value, (ast.Name, ast.Subscript)) and not any(
            isinstance(n, ast.Call) for n in ast.walk(value)
        )
        if uses and (len(uses) == 1 or (short and len(uses) <= _VIEWLIKE_USES)):
            yield edited(program, {statement: None, **dict.fromkeys(uses, value)})


def _inline_until_rebound(program: Program, statement: ast.Assign, later: list[ast.stmt]) -> Iterator[Program]:
    """`x = x + 1; x = x * 2` as `x = (x + 1) * 2`: the one use of this value is in the statement that rebinds."""
    target = next(iter(binds(statement)))
    for following in later:
        uses = [n for n in reads(*header(following)) if n.id == target]
        if uses or target in binds(following):
            if len(uses) == 1 and target in binds(following) and isinstance(following, ast.Assign):
                yield edited(program, {statement: None, uses[0]: statement.value})
            return


def _writes(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.AugAssign):
        return True
    if isinstance(statement, ast.Assign) and any(not isinstance(t, ast.Name) for t in statement.targets):
        return True
    return any(
        (isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr.endswith("_"))
        or (isinstance(n, ast.keyword) and n.arg == "out")
        or (isinstance(n, ast.Call) and isinstance(n.func, ast.Name))
        for n in ast.walk(statement)
    )  # fmt: skip


def _without(program: Program, doomed: list[ast.stmt], *, swap: bool) -> Iterator[Program]:
    """The program without these statements and with its readers of lost names repaired; nothing where that fails.

    With `swap`, a lost name is replaced by the name that it was made from; nothing comes where no name is lost.
    """
    gone: set[ast.stmt] = set(doomed)
    changes: dict[ast.AST, Change] = dict.fromkeys(doomed)
    known = outer_names(program) | {a.arg for a in ast.walk(program.forward.args) if isinstance(a, ast.arg)}
    made_from: dict[str, str | None] = {}
    tensors = _tensor_parameters(program)
    lost_any = False
    for statement in body_statements(program):
        if statement in gone:
            gone |= {child for block in blocks(statement) for child in block}
            made_from |= _sources(statement, made_from, known)
            continue
        own = binds(statement) if isinstance(statement, ast.For) else set()
        lost = [n for n in reads(*header(statement)) if n.id not in known | own]
        lost_any = lost_any or bool(lost)
        if lost and swap:
            instead = {n: made_from.get(n.id) or next(iter(tensors), None) for n in lost}
            if None in instead.values():
                return
            changes |= {n: name(str(i)) for n, i in instead.items()}
        elif lost and isinstance(statement, ast.Return):
            changes[statement] = _repaired_return(statement, {n.id for n in lost}, tensors)
        elif lost:
            gone.add(statement)
            gone |= {child for block in blocks(statement) for child in block}
            changes[statement] = None
            made_from |= _sources(statement, made_from, known)
            continue
        known = known | binds(statement)
    if lost_any == swap or not swap:
        yield edited(program, changes)


def _sources(statement: ast.stmt, made_from: dict[str, str | None], known: set[str]) -> dict[str, str | None]:
    """For each name that a lost statement binds: the name at the root of its value, if that still has a value."""
    value = getattr(statement, "value", None) or getattr(statement, "iter", None)
    source = root(value) if isinstance(value, ast.AST) else None
    if source is None and isinstance(value, ast.Call) and value.args:
        source = root(value.args[0])
    if source is not None and source not in known:
        source = made_from.get(source)
    return dict.fromkeys(binds(statement), source)


def _repaired_return(statement: ast.Return, lost: set[str], tensors: list[str]) -> ast.stmt:
    value = statement.value
    if isinstance(value, (ast.Tuple, ast.List)):
        left = [e for e in value.elts if not lost & {n.id for n in reads(e)}]
        if left:
            return ast.Return(left[0] if len(left) == 1 else type(value)(left, ast.Load()))
    if tensors:
        return ast.Return(name(tensors[0]))
    return ast.Return(ast.Constant(None))


def _tensor_parameters(program: Program) -> list[str]:
    scope = Scope(program)
    return [p for p in program.parameters if scope.names[p].what == "tensor" and scope.names[p].dtype != "bool"]
