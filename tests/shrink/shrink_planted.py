"""Faulty eager torch: operators that are wrong on purpose, and big programs with a few statements that show it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from inplace_fuzz.core import Program, default_spec
from inplace_fuzz.core.materialize import forget_namespace, load_namespace, make_call

aten = torch.ops.aten
SKIP = object()


class Faulty(TorchDispatchMode):
    """Runs `fault(func, args, kwargs)` in place of each operator, unless it answers SKIP."""

    def __init__(self, fault: Callable[..., Any]) -> None:
        super().__init__()
        self.fault = fault

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        answer = self.fault(func, args, kwargs or {})
        return func(*args, **(kwargs or {})) if answer is SKIP else answer


def run(program: Program, fault: Callable[..., Any] | None = None) -> str:
    """What the caller sees of all calls, as text."""
    namespace = load_namespace(program.source)
    try:
        module = namespace["M"]().eval()
        seen = []
        for call in program.calls:
            args = make_call(call)
            if fault is None:
                result = module(*args)
            else:
                with Faulty(fault):
                    result = module(*args)
            seen.append(repr((result, args, dict(module.named_buffers()))))
        return "\n".join(seen)
    finally:
        forget_namespace(namespace)


def differs(program: Program, fault: Callable[..., Any]) -> bool:
    """Whether the program runs, and the fault shows."""
    try:
        return run(program) != run(program, fault)
    except Exception:  # noqa: BLE001  (whatever a candidate raises, it is not kept)
        return False


class Judge:
    """`keeps` for one fault, which remembers what it accepted and how often it was asked."""

    def __init__(self, shows: Callable[[Program], bool]) -> None:
        self.shows = shows
        self.batches: list[int] = []
        self.accepted: list[str] = []

    def __call__(self, group: Sequence[Program]) -> list[bool]:
        self.batches.append(len(group))
        verdicts = [self.shows(p) for p in group]
        self.accepted += [p.digest for p, kept in zip(group, verdicts, strict=True) if kept]
        return verdicts

    @property
    def asked(self) -> int:
        return sum(self.batches)


def lost(*names: str, when: Callable[..., bool] = lambda a: True) -> Callable[..., Any]:
    """The fault that an in-place operator does nothing, where `when` holds for its arguments."""

    def fault(func: Any, args: Any, kwargs: Any) -> Any:
        return args[0] if func._schema.name.removeprefix("aten::") in names and when(args) else SKIP

    return fault


def _alpha(func: Any, args: Any, kwargs: Any) -> Any:
    return func(*args) if func is aten.add_.Tensor and kwargs.get("alpha", 1) != 1 else SKIP


def _accumulate(func: Any, args: Any, kwargs: Any) -> Any:
    if func._schema.name in ("aten::index_put_", "aten::_index_put_impl_") and len(args) > 3 and args[3]:
        return aten.index_put_(args[0], args[1], args[2], False)
    return SKIP


def _alias_clone(func: Any, args: Any, kwargs: Any) -> Any:
    return args[0] if func is aten.clone.default else SKIP


def _mask_inverted(func: Any, args: Any, kwargs: Any) -> Any:
    return func(args[0], ~args[1], *args[2:]) if func._schema.name == "aten::masked_fill_" else SKIP


def _where(func: Any, args: Any, kwargs: Any) -> Any:
    return func(args[0], args[2], args[1]) if func is aten.where.self else SKIP


def _separated(args: Any) -> bool:
    places = [k for k, a in enumerate(args[1]) if a is not None]
    return len(places) > 1 and places[-1] - places[0] >= len(places)


def _bool_index(args: Any) -> bool:
    return any(a is not None and a.dtype == torch.bool for a in args[1])


def _several(args: Any) -> bool:
    return sum(a is not None for a in args[1]) > 1


def _negative_select(func: Any, args: Any, kwargs: Any) -> Any:
    return func(args[0], args[1], 0) if func is aten.select.int and args[2] < 0 else SKIP


def _first_row(func: Any, args: Any, kwargs: Any) -> Any:
    if func is aten.copy_.default and 0 in args[1].stride():
        args[0][:1].copy_(args[1][:1])
        return args[0]
    return SKIP


INDEX_PUT = ("index_put_", "_index_put_impl_")

# name: (the fault, the statements that show it among the noise)
PLANTED: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "slice copy lost": (lost("copy_", when=lambda a: a[0]._is_view() and a[0].dim() == 2), ("x[1:] = y[1:]",)),
    "named view write lost": (lost("mul_", when=lambda a: a[0]._is_view()), ("v = x[:, 1]", "v.mul_(3)")),
    "select of slice lost": (
        lost("copy_", when=lambda a: a[0]._is_view() and a[0].dim() == 1 and a[0].storage_offset() > 0),
        ("x[1:3, 2] = y[:2, 1]",),
    ),
    "step lost": (
        lost("add_", when=lambda a: a[0].dim() == 2 and a[0].stride(0) > a[0].size(1)),
        ("v = x[::2]", "v.add_(10)"),
    ),
    "transposed write lost": (lost("copy_", when=lambda a: a[0].stride()[:1] == (1,)), ("x.t().copy_(y.t())",)),
    "alpha ignored": (_alpha, ("x.add_(y, alpha=2)",)),
    "accumulate ignored": (_accumulate, ("x.index_put_((i,), y[:2], accumulate=True)",)),
    "index list lost": (lost(*INDEX_PUT, when=lambda a: len(a[1]) == 1), ("x[[0, 2]] = y[:2]",)),
    "separated indices lost": (
        lost(*INDEX_PUT, when=_separated),
        ("w = torch.zeros([4, 3, 4])", "w[i, :, i] = y[:2]"),
    ),
    "pair of indices lost": (lost(*INDEX_PUT, when=_several), ("x[i, i] = 9.0",)),
    "mask write lost": (lost(*INDEX_PUT, "masked_fill_", when=lambda a: True), ("x[m] = 5.0",)),
    "mask of values lost": (lost(*INDEX_PUT, when=_bool_index), ("x[m] = y[:2]",)),
    "mask inverted": (_mask_inverted, ("x.masked_fill_(y > 6, 2.0)",)),
    "clone aliases": (_alias_clone, ("s = x.clone()", "x.zero_()", "return s")),
    "zero lost": (lost("zero_"), ("x[1].zero_()",)),
    "fill of a view lost": (lost("fill_", when=lambda a: a[0]._is_view()), ("x[2:].fill_(4)",)),
    "first row only": (_first_row, ("x[1:] = z",)),
    "last row is first": (_negative_select, ("x[-1] += y[0]",)),
    "diagonal write lost": (lost("copy_", when=lambda a: a[0].stride()[-1:] == (4,)), ("x.diagonal().copy_(z)",)),
    "where inverted": (_where, ("x[0] = torch.where(y[0] > 6, z, y[1])",)),
    "index_add lost": (lost("index_add_"), ("x.index_add_(0, i, y[1:3])",)),
    "scatter lost": (lost("scatter_"), ("x.scatter_(0, i[:, None], y)",)),
    "rank three write lost": (
        lost("copy_", when=lambda a: a[0].dim() == 3),
        ("w = x.view(2, 2, 3)", "w[:, 1:] = 6 * w[:, :1]"),
    ),
    "buffer write lost": (
        lost("add_", when=lambda a: a[0].shape == (3,) and a[0].is_contiguous()),
        ("self.buf.add_(z)",),
    ),
    "loop-carried write lost": (
        lost("add_", when=lambda a: a[0]._is_view() and a[0].storage_offset() > 0),
        ("for n in range(3):", "    x[n + 1].add_(x[n])"),
    ),
    "expanded source": (_first_row, ("if y.size(0) > 2:", "    x[:, 1:] = y[0, :1]")),
}  # fmt: skip

# What the planted statements hide among. None of it makes a name that they use.
NOISE = (
    ("a1 = y + 1", "a1[0] = 3", "keep.append(a1)"),
    ("a2 = torch.ones([4, 3])", "a2[:, 1] += 2", "keep.append(a2)"),
    ("a3 = y[1:] * 2", "keep.append(a3.sub_(1))"),
    ("z.mul_(2)",),
    ("y[0, 0] = 7.0",),
    ("a4 = torch.cat([x, y])", "a4[::3] = 1", "keep.append(a4)"),
    ("if y.size(1) == 3:", "    y[3] = y[2]"),
    ("a5 = z.unsqueeze(0).expand(2, 3)", "keep.append(a5 + 1)"),
    ("for q in range(2):", "    y[q] += q"),
    ("a6 = torch.zeros([2, 3])", "a6[1] = z", "a7 = a6.t()", "keep.append(a7)"),
    ("a8 = (y * 2).sum(0)", "z += a8"),
    ("a9 = torch.stack([z, z])", "a9.select(0, 1).sub_(1)", "keep.append(a9)"),
)


def big_program(name: str, *, seed: int = 0, blocks: int = 6) -> Program:
    """The planted statements of this name, in order, among blocks of noise: 12 to 20 statements in all."""
    _, core = PLANTED[name]
    rng = random.Random(f"{name} {seed}")
    core_lines = [line for line in core if not line.startswith("return")]
    held = [tuple(core_lines)] if core_lines[0].endswith(":") else [(line,) for line in core_lines]
    parts: list[tuple[str, ...]] = list(rng.sample(NOISE, blocks))
    spots = sorted(rng.randrange(len(parts) + 1) for _ in held)
    for shift, (spot, lines_of) in enumerate(zip(spots, held, strict=True)):
        parts.insert(spot + shift, lines_of)
    made = [line.split(" = ")[0] for line in core_lines if line[1:].startswith(" = ")]
    lines = ["keep = []", *(line for part in parts for line in part), f"return [x, {', '.join([*made, 'keep'])}]"]
    body = "\n".join(f"        {line}" for line in lines)
    source = (
        "import torch\n\n\nclass M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        '        self.register_buffer("buf", torch.ones(3))\n\n'
        f"    def forward(self, x, y, z, i, m):\n{body}\n"
    )
    call = (
        default_spec("f32[4,3]"),
        default_spec("f32[4,3]", start=5),
        default_spec("f32[3]", start=30),
        default_spec("i64[2]"),
        default_spec("bool[4]"),
    )
    return Program(source, (call, call))
