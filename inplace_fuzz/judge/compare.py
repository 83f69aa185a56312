"""The comparing half of the judge: two observations become a verdict. Plain Python, no torch.

Exact programs are compared with `==` (NaN equals NaN): their values are small integers and any order of evaluation
gives the same bits. Others use the default tolerances of `torch.testing.assert_close`. Only the channels that the
backend promises are looked at. A compiler that promises no buffers is judged up to the first call that writes into one:
what later calls read from it is lost, which is what the compiler said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from inplace_fuzz.core.observation import CallSeen, Observation, TensorSeen, Tree
from inplace_fuzz.core.verdict import Channel, Difference, Kind, Verdict

# dtype: (rtol, atol), the table in torch.testing.assert_close's documentation.
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
_MOST_DIFFERENCES = 4  # enough to see the pattern; a verdict travels over a pipe and into a database

Report = Callable[[Channel, Difference], None]


def compare(eager: Observation, other: Observation, channels: frozenset[Channel], *, exact: bool = True) -> Verdict:
    """`agree`, or `mismatch` with every promised channel that differs, in the order of `Channel`."""
    found: dict[Channel, list[Difference]] = {}

    def report(channel: Channel, difference: Difference) -> None:
        if channel in channels:
            found.setdefault(channel, []).append(difference)

    still = _unwritten(eager)
    for index, (left, right) in enumerate(zip(eager.calls, other.calls, strict=True)):
        _compare_call(left, right, index, exact, channels, still, report)
        if Channel.BUFFERS not in channels and _moved(eager, index):
            break
    if Channel.AGAIN in channels and eager.kept is not None:

        def on_kept(found_on: Channel, difference: Difference) -> None:
            if found_on is not Channel.STRIDES:
                report(Channel.AGAIN, difference)

        _compare_tree(eager.kept, other.kept, "the first call's output after the last call:", 0, exact, on_kept)
    if not found:
        return Verdict(Kind.AGREE)
    names = tuple(c for c in Channel if c in found)
    shown = tuple(d for c in names for d in found[c])[:_MOST_DIFFERENCES]
    return Verdict(Kind.MISMATCH, names, differences=shown)


def _unwritten(eager: Observation) -> frozenset[str]:
    """Buffers that hold after every call what they held after the first."""
    first, *later = [call.buffers or {} for call in eager.calls]
    return frozenset(n for n, t in first.items() if later and all(n in b and b[n].values == t.values for b in later))


def _moved(eager: Observation, index: int) -> bool:
    """Whether this call wrote something else into a buffer than it held."""
    before = (eager.calls[index - 1].buffers or {}) if index else eager.before
    after = eager.calls[index].buffers or {}
    return any(n in before and before[n].values != t.values for n, t in after.items())


def _compare_call(
    eager: CallSeen,
    other: CallSeen,
    index: int,
    exact: bool,
    channels: frozenset[Channel],
    still: frozenset[str],
    report: Report,
) -> None:
    _compare_tree(eager.output, other.output, "output", index, exact, report)
    if Channel.INPUTS in channels:
        _compare_inputs(eager, other, index, exact, report)
    if Channel.BUFFERS in channels and eager.buffers is not None and other.buffers is not None:
        for name, seen in eager.buffers.items():
            if name not in other.buffers and name in still:
                continue  # a graph need not hold a buffer that nothing writes
            _compare_state(seen, other.buffers.get(name), f"buffer {name}", Channel.BUFFERS, index, exact, report)
    if Channel.ALIAS in channels:
        # Where in a storage a tensor starts follows from strides: judged where they are.
        offsets = Channel.STRIDES in channels
        left, right = _aliases(eager, offsets=offsets), _aliases(other, offsets=offsets)
        # Where other tensors are there than in eager, the structure already says so.
        where = next((w for w, text in left.items() if right[w] != text), None) if left.keys() == right.keys() else None
        if where is not None:
            report(Channel.ALIAS, Difference(where, left[where], right[where], call=index))


def _compare_inputs(eager: CallSeen, other: CallSeen, index: int, exact: bool, report: Report) -> None:
    for name, seen in eager.inputs.items():
        _compare_state(seen, other.inputs.get(name), f"input {name}", Channel.INPUTS, index, exact, report)
    for name, values in eager.storages.items():
        others = other.storages.get(name)
        # A storage is missing on one side when the input's own metadata changed: the input itself then says so.
        if others is not None and not _same_values(values, others, None):
            count = sum(not _same(a, b) for a, b in zip(values, others, strict=False))
            text = f"storage of input {name}"
            report(
                Channel.INPUTS, Difference(text, _short(list(values)), _short(list(others)), count, len(values), index)
            )


def _compare_state(
    eager: Tree, other: Tree, where: str, channel: Channel, index: int, exact: bool, report: Report
) -> None:
    """Compares everything about a piece of state, and reports all of it on one channel. Strides are not judged."""

    def on_state(found: Channel, difference: Difference) -> None:
        if found is not Channel.STRIDES:
            report(channel, difference)

    _compare_tree(eager, other, where, index, exact, on_state)


def _compare_tree(eager: Tree, other: Tree, where: str, index: int, exact: bool, report: Report) -> None:
    if isinstance(eager, TensorSeen) and isinstance(other, TensorSeen):
        _compare_tensor(eager, other, where, index, exact, report)
        return
    if isinstance(eager, dict) and isinstance(other, dict) and list(eager) == list(other):
        for key, value in eager.items():
            _compare_tree(value, other[key], f"{where} [{key!r}]", index, exact, report)
        return
    nested = (isinstance(eager, tuple) and isinstance(other, tuple)) or (
        isinstance(eager, list) and isinstance(other, list)
    )
    if nested and len(eager) == len(other):
        for k, (left, right) in enumerate(zip(eager, other, strict=True)):
            _compare_tree(left, right, f"{where} {k}", index, exact, report)
        return
    left_kind, right_kind = _structure(eager), _structure(other)
    if left_kind != right_kind:
        report(Channel.STRUCTURE, Difference(where, left_kind, right_kind, call=index))
    elif not _same(eager, other):
        report(Channel.VALUES, Difference(where, repr(eager), repr(other), 1, 1, index))


def _compare_tensor(eager: TensorSeen, other: TensorSeen, where: str, index: int, exact: bool, report: Report) -> None:
    if eager.dtype != other.dtype:
        report(Channel.DTYPE, Difference(where, eager.dtype, other.dtype, call=index))
    if eager.shape != other.shape:
        report(Channel.SHAPE, Difference(where, str(list(eager.shape)), str(list(other.shape)), call=index))
        return
    if not _same_values(eager.values, other.values, None if exact else eager.dtype):
        wrong = [k for k, (a, b) in enumerate(zip(eager.values, other.values, strict=True)) if not _same(a, b)]
        left, right = _show_pair(eager, other, wrong)
        report(Channel.VALUES, Difference(where, left, right, len(wrong), len(eager.values), index))
    if eager.strides != other.strides and 0 not in eager.shape:
        left_strides = [s for s, n in zip(eager.strides, eager.shape, strict=True) if n > 1]
        right_strides = [s for s, n in zip(other.strides, other.shape, strict=True) if n > 1]
        if left_strides != right_strides:
            report(Channel.STRIDES, Difference(where, str(left_strides), str(right_strides), call=index))


def _same_values(eager: tuple[Any, ...], other: tuple[Any, ...], dtype: str | None) -> bool:
    """Elementwise sameness; `dtype` asks for that dtype's tolerances instead of `==`."""
    if eager == other:
        return True
    if len(eager) != len(other):
        return False
    if dtype is None or dtype not in TOLERANCES:
        return all(_same(a, b) for a, b in zip(eager, other, strict=True))
    rtol, atol = TOLERANCES[dtype]
    return all(_same(a, b) or abs(a - b) <= atol + rtol * abs(a) for a, b in zip(eager, other, strict=True))


def _same(left: Any, right: Any) -> bool:
    return bool(left == right or (left != left and right != right))


# ---------------------------------------------------------------------------------------------------------- aliasing
def _leaves(call: CallSeen) -> Iterator[tuple[str, TensorSeen]]:
    yield from (leaf for name, tree in call.inputs.items() for leaf in _walk(tree, f"input {name}"))
    yield from (leaf for name, tree in (call.buffers or {}).items() for leaf in _walk(tree, f"buffer {name}"))
    yield from _walk(call.output, "output")


def _walk(tree: Tree, where: str) -> Iterator[tuple[str, TensorSeen]]:
    if isinstance(tree, TensorSeen):
        yield where, tree
    elif isinstance(tree, (list, tuple)):
        for k, t in enumerate(tree):
            yield from _walk(t, f"{where} {k}")
    elif isinstance(tree, dict):
        for k, t in tree.items():
            yield from _walk(t, f"{where} [{k!r}]")


def _aliases(call: CallSeen, *, offsets: bool) -> dict[str, str]:
    """For each tensor with elements, the first tensor that shares its storage, and how far behind it starts."""
    first: dict[int, tuple[str, int]] = {}
    out: dict[str, str] = {}
    for where, seen in _leaves(call):
        if seen.group < 0:
            continue
        name, offset = first.setdefault(seen.group, (where, seen.offset))
        shift = f" {seen.offset - offset:+d} bytes" if offsets and seen.offset != offset else ""
        out[where] = "memory of its own" if name == where else f"shares memory with {name}{shift}"
    return out


# ---------------------------------------------------------------------------------------------------------- printing
def _structure(tree: Tree) -> str:
    if isinstance(tree, TensorSeen):
        return "a tensor"
    if isinstance(tree, (tuple, list)):
        return f"a {'tuple' if isinstance(tree, tuple) else 'list'} of {len(tree)}"
    if isinstance(tree, dict):
        return f"a dict of {sorted(map(str, tree))}"
    return "None" if tree is None else f"a plain {type(tree).__name__}"


def _show_pair(eager: TensorSeen, other: TensorSeen, wrong: list[int]) -> tuple[str, str]:
    if len(eager.values) <= 48:
        return show_values(eager.shape, eager.values), show_values(other.shape, other.values)
    return _show_places(eager, wrong), _show_places(other, wrong)


def _show_places(seen: TensorSeen, wrong: list[int]) -> str:
    places = (f"[{', '.join(map(str, _position(k, seen.shape)))}] = {number(seen.values[k])}" for k in wrong[:4])
    return ", ".join(places) + (" …" if len(wrong) > 4 else "")


def _position(flat: int, shape: tuple[int, ...]) -> list[int]:
    place = []
    for size in reversed(shape):
        flat, index = divmod(flat, size)
        place.append(index)
    return place[::-1]


def show_values(shape: tuple[int, ...], values: tuple[Any, ...]) -> str:
    """Nested brackets, whole numbers without their `.0`, as a person would write them down."""
    if not shape:
        return number(values[0]) if values else "[]"
    step = len(values) // shape[0] if shape[0] else 0
    parts = (show_values(shape[1:], values[k * step : (k + 1) * step]) for k in range(shape[0]))
    return f"[{', '.join(parts)}]"


def number(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _short(values: list[Any]) -> str:
    text = "[" + ", ".join(number(v) for v in values[:48])
    return text + (", …]" if len(values) > 48 else "]")
