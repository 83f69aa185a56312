"""How big a program is, counted as a person counts, and which of two programs is the simpler one.

`return` is not counted as a statement, nor are `super().__init__()`, docstrings and `pass`. `x[1:, 0] = y` is one
statement with one operator, its subscript. The operators are calls, subscripts, attributes that compute (`x.T`) and
arithmetic; the brackets of lists and the sign of a number are none.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from inplace_fuzz.core import Program, TensorSpec, render
from inplace_fuzz.core.spec import Arg, specs_in
from inplace_fuzz.shrink.edit import size_literals

_OWN_METHODS = ("forward", "__init__")
COMPUTING_ATTRIBUTES = frozenset({"T", "mT", "H", "mH", "real", "imag", "data"})


def statements(program: Program) -> int:
    """How many statements the program has, in forward, in `__init__` and in helpers; the `def` of a helper is one."""
    helpers = [n for n in ast.walk(program.tree) if isinstance(n, ast.FunctionDef) and n.name not in _OWN_METHODS]
    return len(helpers) + sum(_is_step(n) for n in _code(program) if not isinstance(n, ast.FunctionDef))


def operators(program: Program) -> int:
    """How many calls, subscripts and arithmetic operators the program has."""
    return sum(_is_operator(n) for n in _code(program))


def inputs(program: Program) -> int:
    """How many arguments the calls have, tensors in lists and tuples counted each."""
    return sum(max(1, len(specs_in(arg))) for call in program.calls for arg in call)


def elements(program: Program) -> int:
    """How many elements the storages of all tensor inputs hold."""
    total = 0
    for call in program.calls:
        specs = specs_in(call)
        shared = {s.storage: len(s.values) for s in specs if s.storage is not None}
        total += sum(len(s.values) for s in specs if s.storage is None) + sum(shared.values())
    return total


def size(program: Program) -> tuple[int, int, int, int, int]:
    """(statements, operators, inputs, elements, length of the file): smaller is simpler, compared in this order."""
    return statements(program), operators(program), inputs(program), elements(program), len(render(program))


def rank(program: Program) -> tuple[int | str, ...]:
    """A total order in which every accepted reduction must go down: `size`, with what it cannot see put in.

    A lone number and a dimension of one count as four long: people report `[1., 2.]` rather than a tensor of one
    element, where indexing and broadcasting hide what happens. Before the length comes what needs explaining: a dtype
    other than float32, strides, values that do not count up or that another input has too. After it come a result that
    has nothing to do with the writes, the sum of the numbers in the text (`x[1]` is simpler than `x[2]`), and the text.
    """
    text = render(program)
    counts = statements(program), operators(program), inputs(program), _natural_elements(program)
    odd = _oddness(program) + sum(n.value in (0, 1) for n in size_literals(program))
    # `torch.ones` is no simpler than `torch.zeros` for being shorter.
    length = len(text) + text.count("torch.ones(")
    return (*counts, odd, length, int(_returns_untouched(program)), _magnitude(program), _with_zeros_first(text))


def _with_zeros_first(text: str) -> str:
    return text.replace("torch.zeros(", "torch.(")


def _code(program: Program) -> Iterator[ast.AST]:
    for node in program.tree.body:
        if isinstance(node, ast.FunctionDef):
            yield from _function(node)
        elif isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef):
                    yield from _function(item)
                elif node.name == "M":
                    yield from ast.walk(item)
        elif isinstance(node, (ast.Assign, ast.Expr)):
            yield from ast.walk(node)


def _function(function: ast.FunctionDef) -> Iterator[ast.AST]:
    for statement in function.body:
        if not _is_plumbing(statement):
            yield from ast.walk(statement)


def _is_plumbing(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith("super(")


def _is_step(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt) and not isinstance(node, (ast.Return, ast.Pass)) and not _is_plumbing(node)


def _is_operator(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr in COMPUTING_ATTRIBUTES
    if isinstance(node, ast.UnaryOp):
        return not isinstance(node.operand, ast.Constant)
    return isinstance(node, (ast.Call, ast.Subscript, ast.BinOp, ast.AugAssign, ast.Compare, ast.BoolOp, ast.IfExp))


def _natural_elements(program: Program) -> int:
    return sum(_natural(s) for call in program.calls for s in specs_in(call))


def _natural(spec: TensorSpec) -> int:
    if spec.strides is not None or spec.storage is not None:
        return max(2, len(spec.values))
    return math.prod(n if n > 1 else 4 for n in spec.shape or (1,))


def _returns_untouched(program: Program) -> bool:
    """Whether forward returns just a parameter that it never writes, though it writes others."""
    function = program.forward
    last = function.body[-1]
    if not (isinstance(last, ast.Return) and isinstance(last.value, ast.Name) and last.value.id in program.parameters):
        return False
    name = last.value.id
    return not any(
        isinstance(n, ast.Name) and n.id == name and n is not last.value
        for s in function.body
        for n in ast.walk(_target(s))
    )


def _target(statement: ast.stmt) -> ast.AST:
    """The part of a statement that says what is written: its target, or the receiver of its call."""
    match statement:
        case (
            ast.Assign(targets=[ast.Subscript(value=written), *_]) | ast.AugAssign(target=ast.Subscript(value=written))
        ):
            return written
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=receiver))):
            return receiver
    return statement


def _oddness(program: Program) -> int:
    return sum(_odd(spec) for call in program.calls for spec in specs_in(call)) + sum(map(_repeats, program.calls))


def _repeats(call: tuple[Arg, ...]) -> int:
    """How many floating-point inputs hold a value that an earlier one holds: a misplaced element may not show."""
    seen: set[object] = set()
    repeated = 0
    for spec in specs_in(call):
        if spec.dtype.startswith(("float", "bfloat")) and spec.storage is None:
            repeated += not seen.isdisjoint(spec.values)
            seen |= set(spec.values)
    return repeated


def _odd(spec: TensorSpec) -> int:
    plain_dtype = spec.dtype == "float32"
    counting = all(b == a + 1 for a, b in zip(spec.values, spec.values[1:], strict=False)) or spec.dtype == "bool"
    layout = (spec.strides is not None) + (spec.offset != 0) + (spec.storage is not None) + spec.requires_grad
    return (not plain_dtype) + (not counting) + layout


def _magnitude(program: Program) -> int:
    numbers = [n.value for n in _code(program) if isinstance(n, ast.Constant) and isinstance(n.value, (int, float))]
    return sum(min(1000, round(abs(v))) for v in numbers if v == v)
