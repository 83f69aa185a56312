"""What each expression of a program is, as far as its text tells: a tensor over which memory, a number, a list.

This is local typing without torch. It reads forward once, in order, and knows input dtypes from the specs. It is a
reader's guess and says "unknown" freely: reports, names and the reducer use it, no verdict depends on it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from inplace_fuzz.core.program import Program
from inplace_fuzz.core.spec import Arg, TensorSpec

# Methods (and torch functions of the same name) that give a view, by the word used for them in reports.
VIEWS = {
    "transpose": "transpose", "t": "transpose", "T": "transpose", "mT": "transpose", "swapaxes": "transpose",
    "swapdims": "transpose", "permute": "permute", "movedim": "permute", "moveaxis": "permute", "view": "view",
    "view_as": "view", "reshape": "reshape", "reshape_as": "reshape", "flatten": "reshape", "ravel": "reshape",
    "unflatten": "reshape", "expand": "expand", "expand_as": "expand", "broadcast_to": "expand", "squeeze": "squeeze",
    "unsqueeze": "unsqueeze", "select": "select", "narrow": "slice", "diagonal": "diagonal", "as_strided": "as_strided",
    "unfold": "unfold", "chunk": "split", "split": "split", "tensor_split": "split", "unbind": "split",
    "hsplit": "split",
    "contiguous": "alias", "detach": "alias", "alias": "alias", "data": "alias", "view_as_real": "complex",
    "view_as_complex": "complex", "real": "complex", "imag": "complex", "conj": "complex",
}  # fmt: skip
SEVERAL = frozenset({"chunk", "split", "tensor_split", "unbind", "hsplit"})
CREATORS = frozenset({
    "zeros", "ones", "empty", "full", "arange", "tensor", "eye", "linspace", "rand", "randn", "zeros_like", "ones_like",
    "empty_like", "full_like", "new_zeros", "new_ones", "new_empty", "new_full", "new_tensor", "as_tensor",
})  # fmt: skip
_NUMBERS = frozenset({"item", "size", "dim", "numel", "stride", "storage_offset", "ndim", "tolist", "shape", "__len__"})
_BOOLEAN = frozenset(
    {"eq", "ne", "lt", "le", "gt", "ge", "isnan", "isfinite", "logical_not", "logical_and", "logical_or"}
)
_CASTS = {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "int": "int32", "bool": "bool"}
_WHOLE = frozenset({"nonzero", "argsort", "argmax", "argmin"})
_NO_TENSOR = frozenset({"range", "len", "int", "float", "bool", "enumerate", "zip", "min", "max", "abs", "print"})


@dataclass(frozen=True, slots=True)
class Value:
    """What an expression is. For a tensor: its dtype where known, and the memory that it looks into.

    `memory` names that memory: a parameter, a buffer as `self.buf`, or how it was made with a number, as `zeros#2`.
    `origin` is the kind of it: input, buffer, or `local:zeros`. `copied` names the memory it is a plain copy of.
    """

    what: str = "unknown"  # tensor, number, list, tuple, dict, none, other, unknown
    dtype: str = ""
    memory: str = ""
    origin: str = ""
    view: bool = False
    copied: str = ""
    items: tuple[Value, ...] = field(default=())

    @property
    def maybe_tensor(self) -> bool:
        return self.what in ("tensor", "unknown")


UNKNOWN, NUMBER = Value(), Value("number")


def from_arg(arg: Arg, name: str) -> Value:
    """What a parameter holds, by the argument of the first call."""
    if isinstance(arg, TensorSpec):
        return Value("tensor", arg.dtype, name, "input")
    if isinstance(arg, (list, tuple)):
        items = tuple(from_arg(a, f"{name}[{k}]") for k, a in enumerate(arg))
        return Value("tuple" if isinstance(arg, tuple) else "list", items=items)
    if isinstance(arg, dict):
        return Value("dict", items=tuple(from_arg(a, f"{name}[{k!r}]") for k, a in arg.items()))
    return NUMBER if isinstance(arg, (bool, int, float, complex)) else Value("none" if arg is None else "other")


class Scope:
    """The names of forward and what they are. `steps` walks the statements and keeps the names up to date."""

    def __init__(self, program: Program) -> None:
        first = program.calls[0] if program.calls else ()
        self.names = dict.fromkeys(program.parameters, UNKNOWN)
        self.names |= {n: from_arg(a, n) for n, a in zip(program.parameters, first, strict=False)}
        self.attributes = dict(_attributes(program))
        self.body = program.forward.body
        self._made = 0

    def steps(self, body: list[ast.stmt] | None = None) -> Iterator[ast.stmt]:
        """Each statement in reading order, while `names` still holds what was before it."""
        for statement in self.body if body is None else body:
            yield statement
            self._bind(statement)
            for block in ("body", "orelse", "finalbody"):
                yield from self.steps(
                    getattr(statement, block, []) if not isinstance(statement, ast.FunctionDef) else []
                )

    def value(self, node: ast.expr | None) -> Value:
        """What this expression is, with the names as they are now."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name, UNKNOWN)
            case ast.Constant(value=value):
                number = isinstance(value, (bool, int, float, complex))
                return NUMBER if number else Value("none" if value is None else "other")
            case ast.List(elts=elts) | ast.Tuple(elts=elts):
                what = "list" if isinstance(node, ast.List) else "tuple"
                return Value(what, items=tuple(self.value(e) for e in elts))
            case ast.Dict(values=values):
                return Value("dict", items=tuple(self.value(v) for v in values))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp(left=left, right=right):
                return self._computed([left, right])
            case ast.Compare(left=left, comparators=others):
                return replace(self._computed([left, *others]), dtype="bool")
            case ast.UnaryOp(operand=operand):
                return self._computed([operand])
            case ast.IfExp(body=body) | ast.NamedExpr(value=body):
                return self.value(body)
        return UNKNOWN

    def _fresh(self, how: str, dtype: str = "", copied: str = "") -> Value:
        self._made += 1
        return Value("tensor", dtype, f"{how}#{self._made}", f"local:{how}", copied=copied)

    def _computed(self, parts: list[ast.expr]) -> Value:
        values = [self.value(p) for p in parts]
        tensors = [v for v in values if v.what == "tensor"]
        if tensors:
            return self._fresh("op", tensors[0].dtype)
        return NUMBER if all(v.what == "number" for v in values) else UNKNOWN

    def _attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return self.attributes.get(node.attr, UNKNOWN)
        owner = self.value(node.value)
        if owner.what == "tensor":
            return (
                replace(owner, view=True) if node.attr in VIEWS else NUMBER if node.attr in _NUMBERS else Value("other")
            )
        return UNKNOWN

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if owner.what in ("list", "tuple", "dict"):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int) and owner.what != "dict":
                k = node.slice.value
                return owner.items[k] if -len(owner.items) <= k < len(owner.items) else UNKNOWN
            return owner.items[0] if len(set(owner.items)) == 1 else UNKNOWN
        if owner.what != "tensor":
            return NUMBER if owner.what == "number" else UNKNOWN
        if any(self.is_advanced(e) for e in index_elements(node)):
            return self._fresh("index", owner.dtype)
        return replace(owner, view=True)

    def is_advanced(self, element: ast.expr) -> bool:
        """Whether an index element makes the read a copy: a tensor, mask or list rather than a slice or number."""
        if isinstance(element, (ast.Slice, ast.Constant)):
            return False
        return self.value(element).what not in ("number", "none", "other")

    def _call(self, node: ast.Call) -> Value:
        function = node.func
        if isinstance(function, ast.Name):
            return NUMBER if function.id in _NO_TENSOR else UNKNOWN
        if not isinstance(function, ast.Attribute):
            return UNKNOWN
        name = function.attr
        named = [k.value for k in node.keywords if k.arg == "dtype"]
        if name in ("to", "type"):
            named += node.args[:1]
        dtype = next((ast.unparse(n).removeprefix("torch.") for n in named if ast.unparse(n).startswith("torch.")), "")
        free = _is_torch(function.value)
        owner = self.value(node.args[0] if node.args else None) if free else self.value(function.value)
        if name in CREATORS:
            return self._fresh(
                name.removeprefix("new_").removesuffix("_like"), dtype or _made_dtype(node) or owner.dtype
            )
        if owner.what != "tensor":
            return self._fresh("op", dtype) if free else UNKNOWN
        if name.endswith("_"):
            return owner
        if name in SEVERAL:
            return Value("tuple", items=(replace(owner, view=True),) * 8)
        if name in _NUMBERS:
            return NUMBER
        if name == "view" and node.args and "torch." in ast.unparse(node.args[0]):
            return replace(owner, view=True, dtype=ast.unparse(node.args[0]).removeprefix("torch."))
        if name in VIEWS:
            return replace(owner, view=True)
        if name == "clone":
            return self._fresh("clone", owner.dtype, owner.memory)
        if name in _BOOLEAN:
            return self._fresh("op", "bool")
        return self._fresh("op", "int64" if name in _WHOLE else _CASTS.get(name, dtype or owner.dtype))

    def _bind(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                got = self.value(value)
                for target in targets:
                    self._bind_target(target, got)
            case ast.AnnAssign(target=ast.Name() as target, value=value) if value is not None:
                self._bind_target(target, self.value(value))
            case ast.AugAssign(target=ast.Name(id=name), value=value) if self.names.get(name, UNKNOWN).what != "tensor":
                self.names[name] = self._computed([statement.target, value])
            case ast.For(target=target, iter=iterable):
                got = self.value(iterable)
                is_number = got.what == "number"
                item = NUMBER if is_number else got.items[0] if got.items else replace(got, view=got.what == "tensor")
                self._bind_target(target, item)

    def _bind_target(self, target: ast.expr, got: Value) -> None:
        if isinstance(target, ast.Name):
            self.names[target.id] = got
        elif isinstance(target, (ast.Tuple, ast.List)):
            for k, part in enumerate(target.elts):
                self._bind_target(part, got.items[k] if k < len(got.items) else UNKNOWN)


def index_elements(node: ast.Subscript) -> list[ast.expr]:
    """The elements between the brackets: two for `x[1:, 0]`, one for `x[i]`, none for `x[()]`."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def _is_torch(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "torch"


def _made_dtype(node: ast.Call) -> str:
    """The dtype that a creator picks by itself."""
    assert isinstance(node.func, ast.Attribute)
    name, first = node.func.attr, ast.unparse(node.args[0]) if node.args else ""
    if name in ("zeros", "ones", "empty", "eye", "rand", "randn", "linspace"):
        return "float32"
    if name in ("tensor", "new_tensor", "as_tensor", "arange", "full"):
        text = ast.unparse(node.args[1]) if name == "full" and len(node.args) > 1 else first
        return "bool" if "True" in text or "False" in text else "float32" if "." in text else "int64"
    return ""


def _attributes(program: Program) -> Iterator[tuple[str, Value]]:
    """The buffers, parameters and plain tensors that `__init__` of M puts on self."""
    for node in program.tree.body:
        if not (isinstance(node, ast.ClassDef) and node.name == "M"):
            continue
        for item in ast.walk(node):
            match item:
                case ast.Call(
                    func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=str(name)), made, *_]
                ):
                    yield name, Value("tensor", _dtype_of(made), f"self.{name}", "buffer")
                case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=made):
                    text = ast.unparse(made)
                    if text.startswith(("torch.nn.Parameter", "nn.Parameter")):
                        yield name, Value("tensor", _dtype_of(made), f"self.{name}", "parameter")
                    elif text.startswith("torch.") and not text.startswith("torch.nn."):
                        yield name, Value("tensor", _dtype_of(made), f"self.{name}", "attribute")


def _dtype_of(made: ast.expr) -> str:
    call = next(
        (
            n
            for n in ast.walk(made)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr in CREATORS
        ),
        None,
    )
    if call is None:
        return ""
    named = next((ast.unparse(k.value).removeprefix("torch.") for k in call.keywords if k.arg == "dtype"), "")
    return named or _made_dtype(call)
