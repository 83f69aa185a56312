"""One program in this process: each way in which a run can go is its own verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from inplace_fuzz import backends
from inplace_fuzz.core import ALL_CHANNELS, Channel, Compiled, Kind, Lane, Program, Refusal, TensorSpec, Verdict
from inplace_fuzz.execute.classify import one_line
from inplace_fuzz.execute.evaluate import evaluate

SOURCE = """import torch


class M(torch.nn.Module):
    def forward(self, x):
        x[0] = 5
        return x + 1
"""
PROGRAM = Program(SOURCE, ((TensorSpec((2,), "float32", (1.0, 2.0)),), (TensorSpec((2,), "float32", (3.0, 4.0)),)))


@dataclass(frozen=True)
class Odd:
    """Runs eager's module through `wrap`."""

    wrap: Callable[[Any], Callable[..., Any]]
    name: str = "odd"
    channels: frozenset[Channel] = ALL_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT,)
    refusals: tuple[Refusal, ...] = (Refusal("NotImplementedError", "no such"),)
    form: str = "module"
    per_fork: int = 8

    def version(self) -> str:
        return "odd 1"

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("build")
        return Compiled(self.wrap(module), lambda: dict(module.named_buffers()))


def verdict(wrap: Callable[[Any], Callable[..., Any]], program: Program = PROGRAM) -> Verdict:
    return judged(program, (Odd(wrap), Lane.DIRECT))[("odd", "direct")]


def judged(program: Program, *targets: tuple[Any, Lane]) -> dict[tuple[str, str], Verdict]:
    seen: dict[tuple[str, str], Verdict] = {}
    evaluate(program, targets, enter=lambda where, stage: None, emit=seen.__setitem__)
    return seen


def raising(error: Exception) -> Callable[[Any], Callable[..., Any]]:
    def wrap(module: Any) -> Callable[..., Any]:
        raise error

    return wrap


def test_the_same_module_agrees() -> None:
    assert verdict(lambda module: module).kind is Kind.AGREE


def test_wrong_values_are_a_mismatch_that_repeats() -> None:
    got = verdict(lambda module: lambda x: module(x) + 1)
    assert str(got) == "mismatch(values)"
    assert not got.nondeterministic


def test_a_result_that_is_wrong_another_way_each_time_is_nondeterministic_not_flaky() -> None:
    count = iter(range(1, 1000))
    got = verdict(lambda module: lambda x: module(x) + next(count))
    assert str(got) == "mismatch(values)"
    assert got.nondeterministic


def test_a_result_that_is_wrong_once_and_then_right_is_flaky() -> None:
    count = iter(range(1000))
    got = verdict(lambda module: lambda x: module(x) + (next(count) == 0))
    assert got.kind is Kind.FLAKY
    assert got.channels == (Channel.VALUES,)


def test_a_listed_exception_is_a_refusal_and_any_other_an_error_of_its_stage() -> None:
    assert str(verdict(raising(NotImplementedError("there is no such operator")))) == "refused(build)"
    assert str(verdict(raising(NotImplementedError("something else")))) == "error(build)"
    assert str(verdict(raising(ValueError("no such")))) == "error(build)"
    assert str(verdict(lambda module: lambda x: 1 // 0)) == "error(run)"


def test_a_refusal_of_one_stage_is_an_error_of_another() -> None:
    refusal = Refusal("ValueError", "no", stage="build")
    assert refusal.matches(ValueError("no"), "build")
    assert not refusal.matches(ValueError("no"), "run")


def test_a_program_that_script_refuses_is_refused_in_both_lanes() -> None:
    program = Program(SOURCE.replace("x[0] = 5", "x[()] = 5"), PROGRAM.calls)
    for name in ("torchscript-graph", "torchscript"):
        backend = backends.load(name)
        seen = judged(program, (backend, Lane.DIRECT), (backend, Lane.REWRITTEN))
        assert str(seen[name, "direct"]) == str(seen[name, "rewritten"]) == "refused(convert)"


def test_running_out_of_memory_is_neither() -> None:
    assert verdict(raising(MemoryError())).kind is Kind.OUT_OF_MEMORY
    text = (
        "[enforce fail at alloc_cpu.cpp:121] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"
    )
    assert verdict(raising(RuntimeError(text))).kind is Kind.OUT_OF_MEMORY


def test_what_eager_cannot_run_is_invalid_everywhere() -> None:
    broken = Program(SOURCE.replace("x[0]", "x[9]"), PROGRAM.calls)
    seen = judged(broken, (Odd(lambda module: module), Lane.DIRECT))
    assert {v.kind for v in seen.values()} == {Kind.INVALID}
    assert "index 9 is out of bounds" in seen["eager", "direct"].message
    unreadable = Program(
        "import torch\nimport nonsense_module\n\n\nclass M(torch.nn.Module):\n    pass\n", PROGRAM.calls
    )
    assert judged(unreadable)["eager", "direct"].kind is Kind.INVALID


def test_a_program_that_eager_gives_another_answer_each_time_is_invalid() -> None:
    restless = Program("import time\n" + SOURCE.replace("x + 1", "x + time.perf_counter_ns() % 65521"), PROGRAM.calls)
    assert verdict(lambda module: module, restless).kind is Kind.INVALID


def test_the_generator_is_seeded_before_each_call() -> None:
    random = Program(SOURCE.replace("x + 1", "x + torch.rand(2)"), PROGRAM.calls)
    assert verdict(lambda module: module, random).kind is Kind.AGREE
    assert verdict(lambda module: lambda x: module(x) + torch.rand(2), random).kind is Kind.MISMATCH


def test_buffers_and_the_second_call_are_seen() -> None:
    source = SOURCE.replace(
        "    def forward", '    def __init__(self):\n        super().__init__()\n        self.register_buffer("n", torch.zeros(2))\n\n'
        "    def forward"
    ).replace("x[0] = 5", "self.n.add_(x)")  # fmt: skip
    program = Program(source, PROGRAM.calls)
    assert verdict(lambda module: module, program).kind is Kind.AGREE

    def frozen(module: Any) -> Callable[..., Any]:
        def call(x: torch.Tensor) -> Any:
            out = module(x)
            module.n.zero_()
            return out

        return call

    assert verdict(frozen, program).channels == (Channel.BUFFERS,)


def test_an_output_that_is_handed_out_twice_shows_when_the_caller_writes_into_it() -> None:
    def wrap(module: Any) -> Callable[..., Any]:
        kept: dict[int, torch.Tensor] = {}
        return lambda x: kept.setdefault(0, torch.zeros(2))

    fresh = Program(SOURCE.replace("x[0] = 5", "pass").replace("x + 1", "torch.zeros(2)"), PROGRAM.calls)
    assert verdict(wrap, fresh).channels == (Channel.AGAIN,)
    single = fresh.with_calls(fresh.calls[0])
    assert verdict(wrap, single).channels == (Channel.AGAIN,)


def test_a_fault_of_export_is_not_the_compiler_s_that_starts_from_it() -> None:
    source = SOURCE.replace("x[0] = 5", "y = torch.nn.functional.dropout(x, 0.5, False)").replace(
        "return x + 1", "y += 1\n        return x + 1"
    )
    seen = judged(
        Program(source, PROGRAM.calls),
        (backends.load("export"), Lane.DIRECT),
        (backends.load("aot-eager"), Lane.DIRECT),
    )
    assert str(seen["export", "direct"]).startswith("mismatch(")
    assert seen["aot-eager", "direct"].origin == "export"


def test_a_fault_of_torchscript_in_a_rewritten_lane_is_not_the_pass_s() -> None:
    source = SOURCE.replace("x[0] = 5", "torch._foreach_add_([x], 1)").replace("x + 1", "x")
    program = Program(source, PROGRAM.calls)
    graph = backends.load("torchscript-graph")
    seen = judged(program, (graph, Lane.DIRECT), (graph, Lane.REWRITTEN))
    assert str(seen["torchscript-graph", "direct"]) == "mismatch(values, inputs)"
    assert seen["torchscript-graph", "rewritten"].origin == "torchscript"


def test_the_telling_line_of_a_long_message_is_kept() -> None:
    long = RuntimeError("The following operation failed in the TorchScript interpreter.\nTraceback of TorchScript:\n"
                        "  File x\n    y\nRuntimeError: shapes differ\n")  # fmt: skip
    assert one_line(long) == "RuntimeError: shapes differ"
    assert one_line(ValueError("\n\n  first\nsecond")) == "ValueError: first"
    assert one_line(KeyError()) == "KeyError: "


def test_random_parameters_are_the_same_in_each_instance() -> None:
    source = SOURCE.replace(
        "    def forward",
        "    def __init__(self):\n        super().__init__()\n        self.lin = torch.nn.Linear(2, 2)\n\n    def forward",
    ).replace("x + 1", "self.lin(x) + OFFSET")
    source = source.replace("class M", "OFFSET = torch.rand(2)\n\n\nclass M", 1)
    program = Program(source, PROGRAM.calls, exact=False)
    assert verdict(lambda module: module, program).kind is Kind.AGREE
