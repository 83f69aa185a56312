"""Inputs as data: tensors described by layout and storage contents, without torch.

A `TensorSpec` says everything that a caller can arrange about an input tensor: shape, dtype, strides,
offset, and the contents of the *whole storage* it looks into, so that a write outside the view shows.
Two specs with the same `storage` number share one storage, and are views of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

Scalar: TypeAlias = bool | int | float | complex
# An argument of `forward`: a tensor, a plain value, or a list, tuple or dict of them.
Arg: TypeAlias = Any

DTYPES = (
    "float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool",
    "complex64", "complex128",
)  # fmt: skip
_SHORT = {
    "f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
    "i16": "int16", "i8": "int8", "u8": "uint8", "b8": "bool", "bool": "bool", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
SHORT_NAME = {long: short for short, long in reversed(_SHORT.items()) if short != "b8"}


class SpecError(ValueError):
    """An input description that cannot be read; the message says what to write instead."""


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """One tensor input. `values` is the whole storage in storage order, so `len(values)` is its size in elements.

    `strides=None` means contiguous. `offset` counts elements from the start of the storage. `storage` is None for a
    storage of its own, or a number shared by every spec of the same call that looks into the same storage.
    """

    shape: tuple[int, ...]
    dtype: str
    values: tuple[Scalar, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0
    storage: int | None = None
    requires_grad: bool = False

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def plain(self) -> bool:
        """A contiguous tensor that fills a storage of its own."""
        return self.strides is None and self.offset == 0 and self.storage is None and len(self.values) == self.numel

    def with_values(self, values: tuple[Scalar, ...]) -> TensorSpec:
        return replace(self, values=values)

    def layout(self) -> str:
        """`f32[3, 2]`, with strides and sharing where they are not the plain ones."""
        text = f"{SHORT_NAME[self.dtype]}[{', '.join(map(str, self.shape))}]"
        if self.strides is not None:
            text += f" strides {list(self.strides)}"
        if self.offset:
            text += f" offset {self.offset}"
        if self.storage is not None:
            text += f" in storage {self.storage}"
        return text

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {
            "shape": list(self.shape),
            "dtype": self.dtype,
            "values": [_plain(v) for v in self.values],
        }
        if self.strides is not None:
            out["strides"] = list(self.strides)
        if self.offset:
            out["offset"] = self.offset
        if self.storage is not None:
            out["storage"] = self.storage
        if self.requires_grad:
            out["requires_grad"] = True
        return out

    @staticmethod
    def from_json(data: dict[str, Any]) -> TensorSpec:
        strides = data.get("strides")
        return TensorSpec(
            tuple(data["shape"]),
            data["dtype"],
            tuple(complex(*v) if isinstance(v, list) else v for v in data["values"]),
            None if strides is None else tuple(strides),
            data.get("offset", 0),
            data.get("storage"),
            data.get("requires_grad", False),
        )


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides torch gives a contiguous tensor of this shape (a dimension of size 0 counts as 1)."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def default_spec(text: str, *, start: int = 1) -> TensorSpec:
    """`"f32[4, 3]"` as a spec that holds distinct small values counted from `start`.

    Raises SpecError for anything else, with an example of what to write.
    """
    name, bracket, rest = text.strip().partition("[")
    dtype = _SHORT.get(name, name)
    sizes = rest.rstrip("]").replace(" ", "")
    if dtype not in DTYPES or not bracket or not rest.endswith("]"):
        raise SpecError(
            f'cannot read the input {text!r}; write a dtype and a shape, for example "f32[4,3]" or "i64[2]"'
        )
    try:
        shape = tuple(int(s) for s in sizes.split(",") if s)
    except ValueError:
        raise SpecError(f'cannot read the shape in {text!r}; write whole numbers, for example "f32[4,3]"') from None
    if any(s < 0 for s in shape) or math.prod(shape) > 1 << 24:
        raise SpecError(f"the shape in {text!r} must have sizes from 0 up and at most 16 million elements")
    n = math.prod(shape)
    values: tuple[Scalar, ...]
    if dtype == "bool":
        values = tuple(k % 2 == 0 for k in range(n))
    elif dtype.startswith(("int", "uint")):
        # Integers are mostly indices: 0, 1, 2 … stays in range for most programs.
        values = tuple(range(start - 1, start - 1 + n)) if n < 100 else tuple(k % 100 for k in range(n))
    else:
        values = tuple(float(start + k) for k in range(n))
    return TensorSpec(shape, dtype, values)


def _plain(value: Scalar) -> Any:
    return [value.real, value.imag] if isinstance(value, complex) else value


def arg_to_json(arg: Arg) -> Any:
    if isinstance(arg, TensorSpec):
        return {"tensor": arg.to_json()}
    if isinstance(arg, tuple):
        return {"tuple": [arg_to_json(a) for a in arg]}
    if isinstance(arg, list):
        return [arg_to_json(a) for a in arg]
    if isinstance(arg, dict):
        return {"dict": [[k, arg_to_json(v)] for k, v in arg.items()]}
    if isinstance(arg, complex):
        return {"complex": [arg.real, arg.imag]}
    return arg


def arg_from_json(data: Any) -> Arg:
    if isinstance(data, list):
        return [arg_from_json(d) for d in data]
    if isinstance(data, dict):
        (kind, body), *_ = data.items()
        if kind == "tensor":
            return TensorSpec.from_json(body)
        if kind == "tuple":
            return tuple(arg_from_json(d) for d in body)
        if kind == "dict":
            return {k: arg_from_json(v) for k, v in body}
        return complex(*body)
    return data


def specs_in(arg: Arg) -> list[TensorSpec]:
    """Every tensor in an argument or a call, in order."""
    if isinstance(arg, TensorSpec):
        return [arg]
    if isinstance(arg, (list, tuple)):
        return [s for a in arg for s in specs_in(a)]
    if isinstance(arg, dict):
        return [s for a in arg.values() for s in specs_in(a)]
    return []


def map_specs(arg: Arg, change: Any) -> Arg:
    """The same argument with `change(spec)` in place of every tensor."""
    if isinstance(arg, TensorSpec):
        return change(arg)
    if isinstance(arg, tuple):
        return tuple(map_specs(a, change) for a in arg)
    if isinstance(arg, list):
        return [map_specs(a, change) for a in arg]
    if isinstance(arg, dict):
        return {k: map_specs(a, change) for k, a in arg.items()}
    return arg
