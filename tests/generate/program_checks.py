"""What the tests of the generator hold a drawn program against: eager, eager in wider dtypes, TorchScript."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Iterator
from dataclasses import replace

import torch

from inplace_fuzz.core import Program, TensorSpec
from inplace_fuzz.core.materialize import forget_namespace, load_namespace, make_call
from inplace_fuzz.core.spec import map_specs
from inplace_fuzz.generate import DEFAULT, Mix
from inplace_fuzz.generate.build import HEADER, RECORD, Built, build

WIDER = {
    **dict.fromkeys(("float16", "bfloat16", "float32"), "float64"),
    **dict.fromkeys(("uint8", "int8", "int16", "int32"), "int64"),
}


def built(
    count: int,
    seed: int = 0,
    mix: Mix = DEFAULT,
    *,
    min_statements: int = 1,
    max_statements: int = 11,
    **options,
) -> Iterator[Built]:
    """Programs from random bytes, without Hypothesis: quicker, for tests that need many."""
    random_bytes = random.Random(seed)
    for _ in range(count):
        records = [random_bytes.randbytes(RECORD) for _ in range(random_bytes.randint(min_statements, max_statements))]
        yield build(random_bytes.randbytes(HEADER), records, mix, **options)


def drawn(count: int, seed: int = 0, mix: Mix = DEFAULT, **options) -> Iterator[Program]:
    return (b.program for b in built(count, seed, mix, **options))


def tensors(value) -> list[torch.Tensor]:
    """The tensors of a nested result, in order."""
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        return [t for v in value.values() for t in tensors(v)]
    return [t for v in value for t in tensors(v)] if isinstance(value, (list, tuple)) else []


def seen(module, calls) -> list[torch.Tensor]:
    """Outputs, inputs and buffers after each call, as float64."""
    found = []
    for call in calls:
        args = make_call(call)
        output = module(*args)
        after = [*tensors(output), *args, *(module.buffers() if isinstance(module, torch.nn.Module) else ())]
        found += [t.detach().to(torch.float64).clone() for t in after]
    return found


def run_eager(program: Program) -> list[torch.Tensor]:
    namespace = load_namespace(program.source)
    try:
        return seen(namespace["M"](), program.calls)
    finally:
        forget_namespace(namespace)


def run_wider(program: Program) -> list[torch.Tensor]:
    """The same with floats held in float64 and integers in int64: it differs where the program rounds or wraps round."""
    source = re.sub(r"torch\.(\w+)\b(?!\()", lambda m: f"torch.{WIDER.get(m[1], m[1])}", program.source)

    def widen(spec: TensorSpec) -> TensorSpec:
        return replace(spec, dtype=WIDER.get(spec.dtype, spec.dtype))

    torch.set_default_dtype(torch.float64)
    try:
        return run_eager(replace(program, source=source, calls=tuple(map_specs(c, widen) for c in program.calls)))
    finally:
        torch.set_default_dtype(torch.float32)


def run_script(program: Program) -> list[torch.Tensor]:
    """The program as TorchScript; raises what TorchScript raises."""
    namespace = load_namespace(program.source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if not program.stateless:
                return seen(torch.jit.script(namespace["M"]()), program.calls)
            lines = program.source.split("\n")
            start = next(k for k, line in enumerate(lines) if line.startswith("    def forward"))
            text = "\n".join(line[4:] for line in lines[start:]).replace("(self, ", "(").replace("(self)", "()")
            return seen(torch.jit.CompilationUnit(text).forward, program.calls)
        finally:
            forget_namespace(namespace)


def same(a: list[torch.Tensor], b: list[torch.Tensor]) -> bool:
    return len(a) == len(b) and all(p.shape == q.shape and torch.equal(p, q) for p, q in zip(a, b, strict=True))
