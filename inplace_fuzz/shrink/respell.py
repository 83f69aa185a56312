"""Other spellings of one program: what they cure says what is at fault.

A respelling writes every place of one kind another way that means the same in eager: `x |= y` as `x.bitwise_or_(y)`,
`x[-1]` as `x[x.size(0) - 1]`. Where a compiler gets a program wrong and its respelling right, the fault is in how it
takes that kind of place, whatever else the program holds. Two faults of one backend, lane and kind of verdict that the
same respelling cures are one root cause, and a program is news only if it is still wrong with all known causes
respelled.

    x |= 1            wrong    the known one, cured by `bitwise-method`
    y ^= x            wrong    right as `y.bitwise_xor_(x)`: the same
    x.t()[0] |= y[1]  wrong    still wrong as `x.t()[0].bitwise_or_(y[1])`: another fault, and this is what is shrunk

The text is read without types (`core.kinds.Scope`); a place that it is not sure of stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from inplace_fuzz.core import Program
from inplace_fuzz.core.kinds import CREATORS, Scope, index_elements
from inplace_fuzz.shrink.edit import Change, constant, edited, header, on_torch

Places = Iterator[tuple[ast.AST, Change]]

_BITWISE = {
    ast.BitAnd: "bitwise_and_", ast.BitOr: "bitwise_or_", ast.BitXor: "bitwise_xor_",
    ast.LShift: "bitwise_left_shift_", ast.RShift: "bitwise_right_shift_",
}  # fmt: skip
_ARITHMETIC = {
    ast.Add: "add_", ast.Sub: "sub_", ast.Mult: "mul_", ast.Div: "div_", ast.FloorDiv: "floor_divide_",
    ast.Mod: "remainder_", ast.Pow: "pow_",
}  # fmt: skip
# Of torch._foreach_*_, those with a method of the same name.
_FOREACH = frozenset({
    "abs", "acos", "add", "addcdiv", "addcmul", "asin", "atan", "ceil", "clamp_max", "clamp_min", "copy", "cos", "cosh",
    "div", "erf", "erfc", "exp", "expm1", "floor", "frac", "lerp", "lgamma", "log", "log10", "log1p", "log2", "mul",
    "neg", "pow", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "sub", "tan", "tanh",
    "trunc", "zero",
})  # fmt: skip
# Methods whose first arguments are dimensions of the tensor itself, and how many of them.
_DIMENSIONS = {
    "select": 1, "narrow": 1, "squeeze": 1, "squeeze_": 1, "unbind": 1, "transpose": 2, "transpose_": 2, "swapaxes": 2,
    "movedim": 2, "index_add_": 1, "index_copy_": 1, "index_fill_": 1, "index_reduce_": 1, "scatter_": 1,
    "scatter_add_": 1, "scatter_reduce_": 1, "cumsum": 1, "cumsum_": 1, "cumprod_": 1, "gather": 1, "index_select": 1,
    "flip": 1, "select_scatter": 2,
}  # fmt: skip
_DEEPEST = 4  # places within places that are looked for
_TAKES_BOOL = frozenset({"fill_", "masked_fill_", "masked_fill", "index_fill_", "index_fill", "scatter_"})


@dataclass(frozen=True)
class Respelling:
    """`places` finds what one statement has of the kind, with what takes its place. `example` is one, both ways."""

    name: str
    example: tuple[str, str]
    places: Callable[[ast.stmt, Scope], Places]


def respelled(program: Program, respellings: Iterable[Respelling]) -> Program | None:
    """The program with all places of these kinds written the other way, or None where it has none of them."""
    result = program
    for respelling in respellings:
        # A place inside another one is only seen once the outer one is done.
        for _ in range(_DEEPEST):
            scope = Scope(result)
            changes = {node: to for statement in scope.steps() for node, to in respelling.places(statement, scope)}
            if not changes:
                break
            result = edited(result, changes)
    return None if result is program else result


def first_change(program: Program, other: Program) -> tuple[str, str] | None:
    """The first statement that reads otherwise in the other program, both ways; None where that is not one line."""
    ours, theirs = (p.forward_text.splitlines()[1:] for p in (program, other))
    for a, b in zip(ours, theirs, strict=False):
        if a != b:
            return a.strip(), b.strip()
    return None


# ----------------------------------------------------------------------------------------------------------- statements
def _augmented(methods: dict[type[ast.operator], str]) -> Callable[[ast.stmt, Scope], Places]:
    def places(statement: ast.stmt, scope: Scope) -> Places:
        match statement:
            case ast.AugAssign(target=target, op=op, value=value) if type(op) in methods:
                if scope.value(target).what != "tensor":
                    return
                call = _call(_loaded(target), methods[type(op)], [value])
                if isinstance(target, ast.Name):
                    yield statement, ast.Expr(call)
                else:  # as Python itself does it: what the method returns is put back
                    yield statement, ast.Assign([target], call, lineno=0)

    return places


def _foreach(statement: ast.stmt, scope: Scope) -> Places:
    del scope
    match statement:
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(attr=name), args=[ast.List(elts=tensors), *rest], keywords=keywords
            ) as call
        ) if on_torch(call) and name.startswith("_foreach_") and name[9:-1] in _FOREACH:
            lists = [a.elts if isinstance(a, ast.List) else [a] * len(tensors) for a in rest]
            if any(len(elements) != len(tensors) for elements in lists):
                return
            alone = [
                ast.Expr(_call(tensor, name[9:], [elements[k] for elements in lists], keywords))
                for k, tensor in enumerate(tensors)
            ]
            yield statement, list(alone)


def _fill_method(statement: ast.stmt, scope: Scope) -> Places:
    # Numbers alone: `x[0] = y` takes a y with more dimensions of one than `copy_` does.
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value) if _is_basic(target, scope):
            if scope.value(value).what == "number":
                yield statement, ast.Expr(_call(_loaded(target), "fill_", [value]))


def _masked_fill(statement: ast.stmt, scope: Scope) -> Places:
    match statement:
        case ast.Assign(targets=[ast.Subscript(value=owner, slice=ast.Compare(left=left) as mask)], value=value):
            # A mask of fewer dimensions is no argument of masked_fill_; one of the tensor's own values has them all.
            same = ast.unparse(left) == ast.unparse(owner)
            if same and scope.value(owner).what == "tensor" and scope.value(value).what == "number":
                yield statement, ast.Expr(_call(owner, "masked_fill_", [mask, value]))


# ---------------------------------------------------------------------------------------------------------- expressions
def _positive_index(statement: ast.stmt, scope: Scope) -> Places:
    for owner, element, dimension in _elements(statement, scope):
        if (k := _negative(element)) is not None:
            yield element, _from_end(owner, dimension, k)


def _positive_bound(statement: ast.stmt, scope: Scope) -> Places:
    for owner, element, dimension in _elements(statement, scope):
        if isinstance(element, ast.Slice):
            for bound in (element.lower, element.upper):
                if bound is not None and (k := _negative(bound)) is not None:
                    end = _from_end(owner, dimension, k)
                    yield bound, ast.Call(ast.Name("max", ast.Load()), [end, constant(0)], [])


def _positive_dimension(statement: ast.stmt, scope: Scope) -> Places:
    for call, receiver, method in _method_calls(statement):
        if scope.value(receiver).what != "tensor" or not _is_pure(receiver):
            continue
        for place in call.args[: _DIMENSIONS.get(method, 0)]:
            if (k := _negative(place)) is not None:
                yield place, ast.BinOp(_call(receiver, "dim", []), ast.Sub(), constant(k))


def _to_dtype(statement: ast.stmt, scope: Scope) -> Places:
    for call, receiver, method in _method_calls(statement):
        if method == "type_as" and len(call.args) == 1 and scope.value(receiver).what == "tensor":
            yield call, _call(receiver, "to", [ast.Attribute(call.args[0], "dtype", ast.Load())])


def _no_alpha(statement: ast.stmt, scope: Scope) -> Places:
    for call, receiver, method in _method_calls(statement):
        alphas = [k.value for k in call.keywords if k.arg == "alpha"]
        if method in ("add_", "sub_", "add", "sub") and alphas and len(call.args) == 1:
            if scope.value(call.args[0]).what != "tensor":
                continue
            yield call, _call(receiver, method, [ast.BinOp(call.args[0], ast.Mult(), alphas[0])])


def _number_for_bool(statement: ast.stmt, scope: Scope) -> Places:
    match statement:
        case ast.Assign(targets=[ast.Subscript()], value=ast.Constant(value=bool(value)) as place):
            yield place, constant(int(value))
        case ast.AugAssign(value=ast.Constant(value=bool(value)) as place):
            yield place, constant(int(value))
    for call, receiver, method in _method_calls(statement):
        if method in _TAKES_BOOL and scope.value(receiver).what == "tensor" and call.args:
            match call.args[-1]:
                case ast.Constant(value=bool(value)) as place:
                    yield place, constant(int(value))
    for node in _nodes(statement):
        match node:
            case ast.Compare(comparators=[ast.Constant(value=bool(value)) as place]):
                yield place, constant(int(value))


def _cloned_constant(statement: ast.stmt, scope: Scope) -> Places:
    del scope
    cloned = {id(receiver) for _, receiver, method in _method_calls(statement) if method == "clone"}
    for node in _nodes(statement):
        match node:
            case ast.Call(func=ast.Attribute(attr=made)) if made in CREATORS and id(node) not in cloned:
                yield node, _call(node, "clone", [])


RESPELLINGS: tuple[Respelling, ...] = (
    Respelling("bitwise-method", ("x |= y", "x.bitwise_or_(y)"), _augmented(_BITWISE)),
    Respelling("arithmetic-method", ("x += y", "x.add_(y)"), _augmented(_ARITHMETIC)),
    Respelling("one-by-one", ("torch._foreach_mul_([x, y], 2)", "x.mul_(2)"), _foreach),
    Respelling("fill-method", ("x[1:] = 0", "x[1:].fill_(0)"), _fill_method),
    Respelling("masked-fill", ("x[x > 1] = 0", "x.masked_fill_(x > 1, 0)"), _masked_fill),
    Respelling("positive-index", ("x[-1] = y", "x[x.size(0) - 1] = y"), _positive_index),
    Respelling("positive-bound", ("x[-2:] = y", "x[max(x.size(0) - 2, 0):] = y"), _positive_bound),
    Respelling(
        "positive-dimension", ("x.select(-1, 0).zero_()", "x.select(x.dim() - 1, 0).zero_()"), _positive_dimension
    ),
    Respelling("to-dtype", ("x.type_as(y)[0] = 1", "x.to(y.dtype)[0] = 1"), _to_dtype),
    Respelling("no-alpha", ("x.add_(y, alpha=2)", "x.add_(y * 2)"), _no_alpha),
    Respelling("number-for-bool", ("x.fill_(False)", "x.fill_(0)"), _number_for_bool),
    Respelling("cloned-constant", ("return torch.zeros(2)", "return torch.zeros(2).clone()"), _cloned_constant),
)
BY_NAME = {r.name: r for r in RESPELLINGS}


# -------------------------------------------------------------------------------------------------------------- helpers
def _nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Every node of a statement's own part, outer ones first."""
    for part in header(statement):
        yield from ast.walk(part)


def _method_calls(statement: ast.stmt) -> Iterator[tuple[ast.Call, ast.expr, str]]:
    for node in _nodes(statement):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not on_torch(node):
            yield node, node.func.value, node.func.attr


def _elements(statement: ast.stmt, scope: Scope) -> Iterator[tuple[ast.expr, ast.expr, int]]:
    """Each index element of a tensor's brackets, with the tensor and the dimension that it is about."""
    for node in _nodes(statement):
        if not isinstance(node, ast.Subscript) or scope.value(node.value).what != "tensor" or not _is_pure(node.value):
            continue
        elements = index_elements(node)
        if any(scope.value(e).dtype == "bool" for e in elements if scope.is_advanced(e)):
            continue  # a mask takes as many dimensions as it has
        gaps = [k for k, e in enumerate(elements) if isinstance(e, ast.Constant) and e.value is ...]
        for k, element in enumerate(elements):
            before = sum(map(_takes_dimension, elements[:k]))
            after = sum(map(_takes_dimension, elements[k:]))
            yield _loaded(node.value), element, -after if gaps and gaps[0] < k else before


def _takes_dimension(element: ast.expr) -> bool:
    return not (isinstance(element, ast.Constant) and (element.value is None or element.value is ...))


def _is_basic(target: ast.Subscript, scope: Scope) -> bool:
    return not any(scope.is_advanced(e) for e in index_elements(target)) and scope.value(target.value).what == "tensor"


def _is_pure(node: ast.expr) -> bool:
    """Whether it can be written twice: a name, or views of one."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and (
            on_torch(part) or not isinstance(part.func, ast.Attribute) or part.func.attr.endswith("_")
        ):
            return False
    return True


def _negative(node: ast.expr) -> int | None:
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(k))) if k > 0:
            return k
    return None


def _from_end(owner: ast.expr, dimension: int, k: int) -> ast.expr:
    return ast.BinOp(_call(owner, "size", [constant(dimension)]), ast.Sub(), constant(k))


def _call(receiver: ast.expr, method: str, args: list[ast.expr], keywords: list[ast.keyword] | None = None) -> ast.Call:
    return ast.Call(ast.Attribute(receiver, method, ast.Load()), args, keywords or [])


def _loaded(target: ast.expr) -> ast.expr:
    """A target as something that is read."""
    match target:
        case ast.Subscript(value=value, slice=index):
            return ast.Subscript(value, index, ast.Load())
        case ast.Attribute(value=value, attr=attr):
            return ast.Attribute(value, attr, ast.Load())
        case ast.Name(id=name):
            return ast.Name(name, ast.Load())
    return target
