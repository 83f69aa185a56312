"""The arguments of `forward`: shapes, dtypes, layouts and values, for two calls.

Values are small and distinct, so that a misplaced element shows. The second call has the same shapes and other values;
indices stay in range and as distinct as they were, masks keep their number of True.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from inplace_fuzz.core import TensorSpec
from inplace_fuzz.core.materialize import make_call
from inplace_fuzz.core.spec import Scalar, contiguous_strides
from inplace_fuzz.generate.exact import BY_NAME, NUMBERS
from inplace_fuzz.generate.state import State

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Root:
    """The shape that a program is about; every other shape is cut from it."""

    feature: str
    shapes: tuple[Shape, ...]


ROOTS = (
    Root("rank_1", ((3,), (4,), (6,))),
    Root("rank_2", ((2, 3), (4, 3), (6, 4))),
    Root("square", ((2, 2), (3, 3))),
    Root("rank_3", ((2, 3, 4), (2, 2, 3), (3, 2, 2))),
    Root("rank_4", ((2, 2, 2, 3), (2, 1, 3, 2))),
    Root("size_one", ((1,), (1, 3), (2, 1, 3), (4, 1))),
    Root("zero_dim", ((),)),
    Root("empty_shape", ((0,), (0, 3), (2, 0, 3))),
)


@dataclass(frozen=True, slots=True)
class Dtype:
    feature: str
    name: str


DTYPES = (
    Dtype("f32", "float32"),
    Dtype("f64", "float64"),
    Dtype("f16", "float16"),
    Dtype("bf16", "bfloat16"),
    Dtype("i64", "int64"),
    Dtype("i32", "int32"),
    Dtype("u8", "uint8"),
    Dtype("i8", "int8"),
    Dtype("bool", "bool"),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """How an input lies in its storage; `place` gives strides, offset and storage size for a shape."""

    feature: str
    place: str


LAYOUTS = (
    Layout("plain_input", "plain"),
    Layout("transposed_input", "transposed"),
    Layout("strided_input", "strided"),
    Layout("offset_input", "offset"),
)


def layout(place: str, shape: Shape) -> tuple[Shape | None, int, int]:
    """Strides (None for contiguous ones), offset and storage size, in elements."""
    size = math.prod(shape)
    if place == "transposed" and len(shape) > 1 and size > 0:
        turned = contiguous_strides(shape[::-1])[::-1]
        return (None if turned == contiguous_strides(shape) else turned), 0, size
    if place == "strided" and shape and size > 0:
        return tuple(2 * s for s in contiguous_strides(shape)), 0, 2 * size
    if place == "offset":
        return None, 2, size + 3
    return None, 0, size


def values(dtype: str, count: int, start: int, call: int) -> tuple[Scalar, ...]:
    """Distinct small numbers of a dtype: counted up from `start` for the first call, scattered for the second."""
    if dtype == "bool":
        return tuple((k + start + call) % 3 == 0 for k in range(count))
    numbers = range(start, start + count) if call == 0 else range(start + count, start, -1)
    if call and dtype != "uint8":
        numbers = [-v if k % 2 else v for k, v in enumerate(numbers)]  # type: ignore[assignment]
    return tuple(numbers) if NUMBERS[BY_NAME[dtype]].category == "i" else tuple(map(float, numbers))


@dataclass(slots=True)
class Inputs:
    """The parameters of `forward` in order, with their specs for both calls."""

    names: list[str]
    first: list[TensorSpec]
    second: list[TensorSpec]
    roles: list[str]

    def add(self, name: str, role: str, first: TensorSpec, second: TensorSpec) -> None:
        self.names.append(name)
        self.first.append(first)
        self.second.append(second)
        self.roles.append(role)


def draw_inputs(state: State) -> Inputs:
    """Draws the root shape and the inputs, and makes the tensors. The first input has the root shape."""
    choices, active = state.choices, state.active
    root = state.root = choices.pick(active.pick(choices, ROOTS).shapes)
    inputs = Inputs([], [], [], [])
    main = active.pick(choices, DTYPES).name
    start = 1
    for name in ("x", "y", "z")[: 1 + choices.weighted((3, 6, 2))]:
        shape = root if name == "x" else choices.pick(_relatives(root))
        dtype = active.pick(choices, DTYPES).name if name != "x" and state.gate("mixed_dtypes") else main
        strides, offset, size = layout(active.pick(choices, LAYOUTS).place, shape)
        start = _add_tensor(inputs, name, shape, dtype, strides, offset, size, start)
    if state.gate("shared_storage") and math.prod(root) > 1:
        _share(inputs, main, twice=choices.chance(40))
    if state.gate("index_input"):
        _add_indices(state, inputs, root)
    if state.gate("mask_input") and root and math.prod(root) > 0:
        _add_mask(state, inputs, root)
    _make(state, inputs)
    return inputs


def _relatives(root: Shape) -> tuple[Shape, ...]:
    """Shapes that go with the root: itself, its rows, its columns, one of each, a scalar."""
    if not root:
        return ((), (3,))
    return (root, root, root[1:], (1, *root[1:]), (*root[:-1], 1), (2, *root), root[-1:], ())


def _add_tensor(
    inputs: Inputs, name: str, shape: Shape, dtype: str, strides: Shape | None, offset: int, size: int, start: int
) -> int:
    if start + size > min(NUMBERS[BY_NAME[dtype]].high, 128):
        start = 1
    first, second = (values(dtype, size, start, call) for call in (0, 1))
    inputs.add(
        name,
        "input",
        TensorSpec(shape, dtype, first, strides, offset),
        TensorSpec(shape, dtype, second, strides, offset),
    )
    return start + size


def _share(inputs: Inputs, dtype: str, *, twice: bool) -> None:
    """Adds an input that looks into the storage of `x`: flat, from its second element on, or `x` itself again."""
    size = len(inputs.first[0].values)
    for specs in (inputs.first, inputs.second):
        x = specs[0]
        specs[0] = TensorSpec(x.shape, x.dtype, x.values, x.strides, x.offset, 0)
        specs.append(specs[0] if twice else TensorSpec((size - 1,), dtype, x.values, None, 1, 0))
    inputs.names.append("s")
    inputs.roles.append("input")


def _add_indices(state: State, inputs: Inputs, root: Shape) -> None:
    choices = state.choices
    sizes = [n for n in dict.fromkeys(root) if n > 0]
    if not sizes:
        return
    for name in ("i", "j")[: 1 + choices.below(2)]:
        n = choices.pick(sizes)
        count = choices.between(1, min(n, 3))
        turn = choices.below(n)
        numbers = [(turn + k) % n for k in range(count)]
        if choices.byte() & 1:
            numbers.reverse()
        if state.gate("duplicate_index"):
            numbers = [*numbers, numbers[0]]
        if state.gate("negative_index"):
            numbers[-1] -= n
        shape: Shape = (len(numbers),)
        if state.on("index_2d") and len(numbers) % 2 == 0 and choices.byte() & 1:
            shape = (2, len(numbers) // 2)
        elif state.on("index_0d") and choices.chance(15):
            shape, numbers = (), numbers[:1]
        turned = tuple((v + 1) % n - (n if v < 0 else 0) for v in numbers)
        inputs.add(name, "index", TensorSpec(shape, "int64", tuple(numbers)), TensorSpec(shape, "int64", turned))


def _add_mask(state: State, inputs: Inputs, root: Shape) -> None:
    choices = state.choices
    shape = choices.pick([root[:k] for k in range(len(root), 0, -1)])
    count, pattern = math.prod(shape), choices.byte() | 1
    first = tuple(bool(pattern >> (k % 8) & 1) for k in range(count))
    inputs.add("m", "mask", TensorSpec(shape, "bool", first), TensorSpec(shape, "bool", first[1:] + first[:1]))


def _make(state: State, inputs: Inputs) -> None:
    first, second = make_call(tuple(inputs.first)), make_call(tuple(inputs.second))
    for k, name in enumerate(inputs.names):
        state.first_env[name], state.second_env[name] = first[k], second[k]
        both = [int(v.real) for spec in (inputs.first[k], inputs.second[k]) for v in spec.values] or [0]
        named = state.bind(name, inputs.roles[k], (min(both), max(both)))
        named.base.origin = "input"
        named.base.frozen = inputs.roles[k] in ("index", "mask")


def distinct(t: torch.Tensor, size: int) -> bool:
    """Whether no two elements name the same position of a dimension of this size."""
    positions = [v % size for v in t.reshape(-1).tolist()]
    return len(set(positions)) == len(positions)
