"""Which overload of a packet takes these arguments, and how a call of it is written in FX."""

# ruff: noqa: SLF001  (torch keeps its graphs and schemas behind underscores)

from __future__ import annotations

import functools
from typing import Any

import torch

from . import schemas

DTYPES = {
    0: torch.uint8, 1: torch.int8, 2: torch.int16, 3: torch.int32, 4: torch.int64, 5: torch.float16, 6: torch.float32,
    7: torch.float64, 8: torch.complex32, 9: torch.complex64, 10: torch.complex128, 11: torch.bool, 15: torch.bfloat16,
}  # fmt: skip
DTYPE_NUMBERS = {dtype: number for number, dtype in DTYPES.items()}
_LAYOUTS = {0: torch.strided}
_FORMATS = {
    0: torch.contiguous_format, 1: torch.preserve_format, 2: torch.channels_last, 3: torch.channels_last_3d,
}  # fmt: skip


@functools.cache
def _candidates(kind: str) -> tuple[Any, ...]:
    namespace, name = kind.split("::")
    packet = getattr(getattr(torch.ops, namespace), name, None)
    if packet is None:
        return ()
    found = [getattr(packet, overload) for overload in packet.overloads()]
    return tuple(o for o in found if isinstance(o, torch._ops.OpOverload))


def resolve(kind: str, values: list[Any], overload: str | None = None) -> Any:
    """The OpOverload of `kind` that takes `values` in schema order, or None. `overload` is its name where known."""
    base = kind.partition(".")[0]
    candidates = _candidates(base)
    # The twin of `pow_.Tensor` has another overload name, and `pow.Tensor` takes other arguments.
    named = [op for op in candidates if op._schema.overload_name == overload and _takes(op, values)]
    return next(iter(named), None) or next((op for op in candidates if _takes(op, values, pure=True)), None)


def _takes(op: Any, values: list[Any], *, pure: bool = False) -> bool:
    arguments = op._schema.arguments
    if len(arguments) != len(values) or (pure and schemas.schema_verdict(op._schema) is schemas.WRITE):
        return False
    return all(_fits(str(a.real_type), v) for a, v in zip(arguments, values, strict=True))


def _fits(type_: str, value: Any) -> bool:
    if type_.startswith("Optional["):
        return value is None or _fits(type_[9:-1], value)
    if type_.startswith("List["):
        return isinstance(value, (list, tuple)) and all(_fits(type_[5:-1], v) for v in value)
    if type_ == "Tensor":
        return isinstance(value, torch.Tensor)
    if type_ in ("int", "SymInt", "ScalarType", "MemoryFormat", "Layout"):
        return isinstance(value, (int, torch.SymInt)) and not isinstance(value, bool)
    if type_ == "float":
        return isinstance(value, (float, torch.SymFloat))
    if type_ in ("number", "Scalar"):
        return isinstance(value, (int, float, complex, torch.SymInt, torch.SymFloat))
    if type_ == "bool":
        return isinstance(value, bool)
    if type_ == "str":
        return isinstance(value, str)
    if type_ == "Device":
        return isinstance(value, (torch.device, str))
    return type_ == "Generator" and isinstance(value, torch.Generator)


def arrange(op: Any, args: list[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments for a call of `op`: defaults left out, numbers turned into torch's own names."""
    arguments = op._schema.arguments
    written = [_named(str(a.real_type), v) for a, v in zip(arguments, args, strict=True)]
    positional = [v for a, v in zip(arguments, written, strict=True) if not a.kwarg_only]
    plain = [a for a in arguments if not a.kwarg_only]
    while positional and plain[len(positional) - 1].has_default_value() and _is_default(
        plain[len(positional) - 1], positional[-1]
    ):  # fmt: skip
        positional.pop()
    keywords = {
        a.name: v
        for a, v in zip(arguments, written, strict=True)
        if a.kwarg_only and not (a.has_default_value() and _is_default(a, v))
    }
    return tuple(positional), keywords


def _is_default(argument: Any, value: Any) -> bool:
    default = argument.default_value
    return type(default) is type(value) and isinstance(value, (int, float, bool, type(None), str)) and default == value


def _named(type_: str, value: Any) -> Any:
    if type(value) is not int:
        return value
    if "ScalarType" in type_:
        return DTYPES[value]
    if "MemoryFormat" in type_:
        return _FORMATS[value]
    if "Layout" in type_:
        return _LAYOUTS[value]
    return value
