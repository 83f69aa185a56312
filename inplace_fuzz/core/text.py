"""Programs as files: print and parse, without torch.

A program file is Python that a person reads: a comment header, `import torch`, `class M`, `inputs()` that returns the
arguments of the first call, and where needed `inputs_2()`, `inputs_3()` … for later calls of the same instance.
`parse` reads the inputs without running anything when they are written as `render` writes them; other files (a report
that computes its inputs) come back with `calls` unread, and a process that has torch evaluates them.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from inplace_fuzz.core.intake import nesting
from inplace_fuzz.core.program import Program, ProgramError
from inplace_fuzz.core.spec import DTYPES, Arg, Scalar, TensorSpec, contiguous_strides, specs_in

_INPUTS = re.compile(r"inputs(?:_([0-9]{1,4}))?$")
_LONGEST, _MOST = 1 << 18, 16  # elements of an `arange`, and how many of them a file may make in this process
_INFERRED = {"float32": float, "int64": int, "bool": bool, "complex64": complex}


# --------------------------------------------------------------------------------------------------------- printing
def render(program: Program) -> str:
    """The program as a file, without a corpus header."""
    return (
        program.source.strip("\n") + "\n" + "".join(f"\n\n{render_inputs(c, k)}" for k, c in enumerate(program.calls))
    )


def render_inputs(call: tuple[Arg, ...], index: int = 0) -> str:
    """`def inputs():` for one call; storages that several tensors share are made first."""
    name = "inputs" if index == 0 else f"inputs_{index + 1}"
    lines = [f"def {name}():"]
    shared: dict[int, str] = {}
    for spec in specs_in(call):
        if spec.storage is not None and spec.storage not in shared:
            shared[spec.storage] = f"s{len(shared)}"
            lines.append(f"    {shared[spec.storage]} = {_flat(spec)}")
    body = ", ".join(render_arg(a, shared) for a in call)
    lines.append(f"    return ({body}{',' if len(call) == 1 else ''})")
    return "\n".join(lines) + "\n"


def render_arg(arg: Arg, shared: dict[int, str] | None = None) -> str:
    if isinstance(arg, TensorSpec):
        return _tensor(arg, shared or {})
    if isinstance(arg, tuple):
        return f"({', '.join(render_arg(a, shared) for a in arg)}{',' if len(arg) == 1 else ''})"
    if isinstance(arg, list):
        return f"[{', '.join(render_arg(a, shared) for a in arg)}]"
    if isinstance(arg, dict):
        return "{" + ", ".join(f"{k!r}: {render_arg(v, shared)}" for k, v in arg.items()) + "}"
    return _scalar(arg)


def _scalar(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _flat(spec: TensorSpec) -> str:
    return _literal((len(spec.values),), spec.dtype, spec.values)


def _tensor(spec: TensorSpec, shared: dict[int, str]) -> str:
    if spec.plain:
        text = _literal(spec.shape, spec.dtype, spec.values)
    else:
        base = _flat(spec) if spec.storage is None else shared[spec.storage]
        strides = contiguous_strides(spec.shape) if spec.strides is None else spec.strides
        text = f"{base}.as_strided({list(spec.shape)}, {list(strides)}, {spec.offset})"
    return text + ".requires_grad_()" if spec.requires_grad else text


def _literal(shape: tuple[int, ...], dtype: str, values: tuple[Scalar, ...]) -> str:
    inferred = dtype in _INFERRED and all(type(v) is _INFERRED[dtype] for v in values)
    suffix = "" if inferred else f", dtype=torch.{dtype}"
    if not values:
        return f"torch.zeros({list(shape)}{'' if dtype == 'float32' else f', dtype=torch.{dtype}'})"
    if len(values) > 32 and dtype != "bool" and not isinstance(values[0], complex):
        start: Any = values[0]
        step: Any = values[1] - start
        if step > 0 and all(v == start + k * step for k, v in enumerate(values)):
            stop = start + step * len(values)
            by = "" if step == 1 else f", {step!r}"
            flat = f"torch.arange({start!r}, {stop!r}{by}{suffix})"
            return flat if len(shape) == 1 else f"{flat}.reshape({list(shape)})"
    return f"torch.tensor({_nested(shape, values)}{suffix})"


def _nested(shape: tuple[int, ...], values: tuple[Scalar, ...]) -> str:
    if not shape:
        return _scalar(values[0])
    step = len(values) // shape[0]
    return "[" + ", ".join(_nested(shape[1:], values[k * step : (k + 1) * step]) for k in range(shape[0])) + "]"


# ------------------------------------------------------------------------------------------------------- exactness
# What rounds, or may: a program that names one of these is compared with tolerances.
_ROUNDING = frozenset(
    """
    div true_divide divide floor_divide remainder fmod exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal
    sin cos tan tanh sinh cosh asin acos atan atan2 sigmoid softmax log_softmax softplus gelu silu elu selu erf erfc
    erfinv pow square mean std var norm cumprod prod matmul mm bmm mv addmm addmv addr einsum linear conv1d conv2d
    conv3d bilinear lerp addcdiv addcmul logsumexp logcumsumexp layer_norm batch_norm interpolate dist cdist inverse
    normalize cosine_similarity hypot digamma lgamma sinc xlogy logit renorm rand randn dropout
    """.split()  # noqa: SIM905  forty names read better as prose
)
_LARGEST_EXACT = 256  # a bfloat16 holds every whole number up to here


def is_exact(program: Program) -> bool:
    """Whether any order of evaluation gives the same bits: small whole numbers in, and nothing that rounds."""
    for spec in (s for call in program.calls for s in specs_in(call)):
        if any(isinstance(v, complex) or v != v or v % 1 or abs(v) > _LARGEST_EXACT for v in spec.values):
            return False
    for node in ast.walk(program.tree):
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) if name.removesuffix("_") in _ROUNDING:
                return False
            case ast.BinOp(op=op) | ast.AugAssign(op=op) if isinstance(op, (ast.Div, ast.Pow, ast.MatMult)):
                return False
            case ast.Constant(value=float() as number) if number % 1:
                return False
    return True


# ---------------------------------------------------------------------------------------------------------- parsing
@dataclass(frozen=True)
class ParsedFile:
    """A program file taken apart. `calls` is None where the inputs must be computed by running `text` with torch."""

    text: str
    header: tuple[str, ...]  # the leading comment lines, without "# "
    source: str
    calls: tuple[tuple[Arg, ...], ...] | None
    makers: str = ""  # the text of `inputs()` and its like

    @property
    def runs(self) -> str:
        """All that is run where the inputs are computed; nothing else of the file ever is."""
        return f"{self.source}\n\n{self.makers}"

    def program(self, calls: tuple[tuple[Arg, ...], ...] | None = None, **flags: Any) -> Program:
        known = self.calls if calls is None else calls
        if known is None:
            raise ProgramError("the inputs of this file must be computed; evaluate them in a process that has torch")
        program = Program(self.source, known, **flags)
        return program if "exact" in flags else replace(program, exact=is_exact(program))


def parse(text: str, *, name: str = "this file", trust: bool = False) -> ParsedFile:
    """Takes a program file apart without running it. `trust` lifts the limits on its size and depth.

    Raises ProgramError, saying what to change, when the text is not Python or has no class M or no `inputs()`.
    """
    if not trust:
        nesting(text, name=name)
    tree = syntax(text, name=name)
    inputs: dict[int, ast.FunctionDef] = {}
    kept: list[ast.stmt] = []
    for node in tree.body:
        match = _INPUTS.match(node.name) if isinstance(node, ast.FunctionDef) else None
        if match and isinstance(node, ast.FunctionDef):
            inputs[int(match[1] or 1)] = node
        elif not is_main_block(node):
            kept.append(node)
    classes = [n.name for n in kept if isinstance(n, ast.ClassDef)]
    if "M" not in classes:
        other = f", or say which is meant, for example {name}:{classes[-1]}" if classes else ""
        raise ProgramError(f"{name} has no `class M(torch.nn.Module)`; call the module's class M{other}")
    if 1 not in inputs:
        raise ProgramError(f"{name} has no `inputs()`; add one that returns the tuple of arguments")
    lines = text.split("\n")  # as the parser counts them; there are other characters that end a line for str
    source = _without_outer_comments(lines, kept)
    makers = _without_outer_comments(lines, [inputs[k] for k in sorted(inputs)])
    calls: tuple[tuple[Arg, ...], ...] | None
    try:
        _few_aranges(inputs.values())
        calls = tuple(_read_inputs(inputs[k]) for k in sorted(inputs))
    except (ValueError, TypeError, ArithmeticError, RecursionError):  # whoever runs it says what is wrong with it
        calls = None
    return ParsedFile(text, _header(lines), source, calls, makers)


def syntax(text: str, *, name: str) -> ast.Module:
    """The text parsed, and quietly: Python warns of odd escapes. Raises ProgramError, naming the line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f" line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise ProgramError(f"{name}{line} is not Python that can be parsed: {getattr(error, 'msg', error)}") from None


def without_inputs(text: str, *, name: str = "this file") -> str:
    """The same text without its `inputs()` functions."""
    lines = text.split("\n")
    for node in syntax(text, name=name).body:
        if isinstance(node, ast.FunctionDef) and _INPUTS.match(node.name):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            lines[first - 1 : node.end_lineno] = [""] * ((node.end_lineno or first) - first + 1)
    return "\n".join(lines)


def is_main_block(node: ast.stmt) -> bool:
    """Exactly `if __name__ == "__main__":`, which is for whoever runs the file with Python, no part of a program."""
    match node:
        case ast.If(
            test=ast.Compare(
                left=ast.Name(id="__name__"), ops=[ast.Eq()], comparators=[ast.Constant(value="__main__")]
            ),
            orelse=[],
        ):
            return True
    return False


def _header(lines: list[str]) -> tuple[str, ...]:
    header = []
    for line in lines:
        if not line.startswith("#"):
            break
        shown = "".join(c if c.isprintable() or c == "\t" else "?" for c in line)  # it is printed to terminals
        header.append(shown[1:].removeprefix(" ").rstrip())
    return tuple(header)


def _without_outer_comments(lines: list[str], kept: list[ast.stmt]) -> str:
    """The kept statements as they are written, with their decorators, imports together at the top."""
    chunks: list[str] = []
    for node in kept:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        chunk = "\n".join(lines[first - 1 : node.end_lineno])
        plain = isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign))
        gap = "" if not chunks else "\n" if plain else "\n\n\n"
        chunks.append(gap + chunk)
    return "".join(chunks) + "\n"


class NotLiteral(ValueError):
    """The expression is not one that `render` writes."""


def _few_aranges(functions: Iterable[ast.FunctionDef]) -> None:
    aranges = [n for f in functions for n in ast.walk(f) if isinstance(n, ast.Attribute) and n.attr == "arange"]
    if len(aranges) > _MOST:
        raise NotLiteral


def _read_inputs(function: ast.FunctionDef) -> tuple[Arg, ...]:
    names: dict[str, Arg] = {}
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=expression):
                value = _read(expression, names)
                # What has a name may be used twice, and then its users share one storage.
                names[name] = replace(value, storage=len(names)) if isinstance(value, TensorSpec) else value
            case ast.Return(value=ast.expr() as expression):
                result = _read(expression, names)
                return tuple(result) if isinstance(result, (tuple, list)) else (result,)
            case ast.Expr(value=ast.Constant()):
                continue  # a docstring
            case _:
                break
    raise NotLiteral


def _read(node: ast.expr, names: dict[str, Arg]) -> Arg:
    """The value of an expression of the few forms that `render` writes."""
    match node:
        case ast.Constant(value=bool() | int() | float() | complex() | str() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(_read(operand, names))
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            a, b = _number(_read(left, names)), _number(_read(right, names))
            return a + b if isinstance(op, ast.Add) else a - b
        case ast.Tuple(elts=elts):
            return tuple(_read(e, names) for e in elts)
        case ast.List(elts=elts):
            return [_read(e, names) for e in elts]
        case ast.Dict(keys=keys, values=values):
            return {_key(k): _read(v, names) for k, v in zip(keys, values, strict=True)}
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))], keywords=[]):
            return float(text)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=maker), args=args, keywords=keywords):
            return _make(maker, [_read(a, names) for a in args], _dtype(keywords))
        case ast.Call(func=ast.Attribute(value=inner, attr=method), args=args, keywords=[]):
            return _layout(_read(inner, names), method, [_read(a, names) for a in args])
    raise NotLiteral


def _key(node: ast.expr | None) -> Any:
    """The key of a dict that can be sent to a worker."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str() | None as value):
            return value
    raise NotLiteral


def _number(value: Any) -> Any:
    if not isinstance(value, (int, float, complex)):
        raise NotLiteral
    return value


def _dtype(keywords: list[ast.keyword]) -> str | None:
    if not keywords:
        return None
    match keywords:
        case [ast.keyword(arg="dtype", value=ast.Attribute(value=ast.Name(id="torch"), attr=name))] if name in DTYPES:
            return name
    raise NotLiteral


def _make(maker: str, args: list[Any], dtype: str | None) -> TensorSpec:
    if maker == "tensor" and len(args) == 1:
        shape, flat = _unnest(args[0])
        kind = dtype or _inferred(flat)
        return TensorSpec(shape, kind, tuple(_cast(v, kind) for v in flat))
    if maker == "zeros" and len(args) == 1 and isinstance(args[0], list) and math.prod(args[0]) == 0:
        return TensorSpec(tuple(args[0]), dtype or "float32", ())
    if maker == "arange" and 2 <= len(args) <= 3:
        start, stop = args[0], args[1]
        step = args[2] if len(args) == 3 else 1
        count = math.ceil((stop - start) / step)
        if not 0 <= count <= _LONGEST:
            raise NotLiteral
        whole = all(isinstance(a, int) for a in args)
        kind = dtype or ("int64" if whole else "float32")
        return TensorSpec((count,), kind, tuple(_cast(start + k * step, kind) for k in range(count)))
    raise NotLiteral


def _inferred(values: list[Scalar]) -> str:
    """The dtype that `torch.tensor` gives these values."""
    kinds = {type(v) for v in values}
    for kind, dtype in ((complex, "complex64"), (float, "float32"), (int, "int64"), (bool, "bool")):
        if kind in kinds:
            return dtype
    return "float32"


def _cast(value: Scalar, dtype: str) -> Scalar:
    if dtype == "bool":
        return bool(value)
    if dtype.startswith("complex"):
        return complex(value)
    if isinstance(value, complex):
        raise NotLiteral
    return float(value) if "float" in dtype else int(value)


def _unnest(value: Any) -> tuple[tuple[int, ...], list[Scalar]]:
    if isinstance(value, (TensorSpec, str, dict, type(None))):
        raise NotLiteral
    if not isinstance(value, (list, tuple)):
        return (), [value]
    parts = [_unnest(v) for v in value]
    if len({shape for shape, _ in parts}) > 1:
        raise NotLiteral
    return (len(parts), *(parts[0][0] if parts else ())), [v for _, flat in parts for v in flat]


def _layout(spec: Any, method: str, args: list[Any]) -> TensorSpec:
    if not isinstance(spec, TensorSpec):
        raise NotLiteral
    if method == "requires_grad_" and not args:
        return replace(spec, requires_grad=True)
    if method == "reshape" and spec.plain:
        shape = tuple(args[0] if len(args) == 1 and isinstance(args[0], list) else args)
        if all(isinstance(s, int) for s in shape) and math.prod(shape) == spec.numel:
            return TensorSpec(shape, spec.dtype, spec.values)
    if method == "as_strided" and len(args) == 3:
        shape, strides, offset = tuple(args[0]), tuple(args[1]), args[2]
        if not all(isinstance(n, int) and n >= 0 for n in (*shape, *strides, offset)):
            raise NotLiteral
        known = None if strides == contiguous_strides(shape) else strides
        return replace(spec, shape=shape, strides=known, offset=offset)
    raise NotLiteral
