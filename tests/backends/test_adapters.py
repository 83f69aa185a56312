"""The registry, and each adapter on programs whose verdicts are known."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from inplace_fuzz import backends
from inplace_fuzz.backends.torchscript import function_source
from inplace_fuzz.core import Backend, Kind, Lane, Program, TensorSpec
from inplace_fuzz.core.materialize import load_module, make_call
from tests.execute.test_evaluate import judged

TORCHSCRIPT = ("torchscript-graph", "torchscript", "torchscript-legacy", "torchscript-frozen", "torchscript-trace")
HEAD = "import torch\n\n\nclass M(torch.nn.Module):\n"
INIT = "    def __init__(self):\n        super().__init__()\n        self.register_buffer('buf', torch.zeros([2]))\n\n"
X = TensorSpec((2,), "float32", (1.0, 2.0))


def program(body: str, *, init: str = "", parameters: str = "x", inputs: tuple[object, ...] = (X,)) -> Program:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return Program(f"{HEAD}{init}    def forward(self, {parameters}):\n{lines}", (inputs, inputs))


@pytest.mark.parametrize("name", backends.names())
def test_every_backend_has_what_the_protocol_asks_for(name: str) -> None:
    backend = backends.load(name)
    assert isinstance(backend, Backend)
    assert backend.name == name
    assert backend.channels or name == "torch-tensorrt-build"  # which makes engines and cannot run them
    assert Lane.DIRECT in backend.lanes
    assert backend.per_fork > 0
    assert backend.form in {"fx", "script", "trace", "graph"}
    assert all(r.pattern and r.exception for r in backend.refusals)


def test_an_unknown_backend_is_answered_with_those_that_there_are() -> None:
    with pytest.raises(backends.UnknownBackend, match=r"no backend 'tmv'; choose from .*tvm"):
        backends.load("tmv")
    with pytest.raises(backends.UnknownBackend, match="cannot be loaded"):
        backends.load("no_such_module:BACKEND")


@pytest.mark.parametrize(
    "name",
    [
        *TORCHSCRIPT,
        *("export", "export-strict", "export-dynamic", "aot-eager", "aot-eager-dynamic", "tvm"),
    ],
)
def test_a_write_through_a_view_agrees_in_every_lane(name: str) -> None:
    if not backends.version_or_reason(name)[0]:
        pytest.skip(backends.version_or_reason(name)[1])
    backend = backends.load(name)
    given = program("v = x[1:]\nv.add_(1)\ny = torch.zeros([2])\ny[0] = x[1]\nreturn x * 2, y")
    for where, verdict in judged(given, *((backend, lane) for lane in backend.lanes)).items():
        assert verdict.kind is Kind.AGREE, (where, str(verdict), verdict.message)


@pytest.mark.parametrize("name", [*TORCHSCRIPT, "export", "export-dynamic", "export-strict"])
def test_buffers_move_as_eager_s_do_in_every_lane(name: str) -> None:
    backend = backends.load(name)
    given = program("self.buf[0].add_(x[0])\nreturn self.buf * 1", init=INIT)
    for where, verdict in judged(given, *((backend, lane) for lane in backend.lanes)).items():
        assert verdict.kind is Kind.AGREE, (where, str(verdict), verdict.message)


def test_known_faults_of_released_compilers_show() -> None:
    foreach = program("torch._foreach_mul_([x], 3)\nreturn x")
    graph = backends.load("torchscript-graph")
    assert judged(foreach, (graph, Lane.DIRECT))["torchscript-graph", "direct"].kind is Kind.MISMATCH


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (program("return x"), "def forward(x):\n    return x\n"),
        (program("return x", parameters="x, n: int = 3"), "def forward(x, n: int = 3):\n    return x\n"),
        (program("self.buf[0] = 1\nreturn x", init=INIT), "def forward(buf, x):\n    buf[0] = 1\n    return x\n"),
        (program("return x", init=INIT), "def forward(x):\n    return x\n"),
    ],
)
def test_forward_becomes_a_plain_function(given: Program, expected: str) -> None:
    assert function_source(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        program("self.buf = x\nreturn x", init=INIT),
        program("buf = x\nreturn self.buf + buf", init=INIT),
        program("return self.helper(x)", init=INIT),
        program("return self.buf", init=INIT.replace("self.register_buffer", "self.n = 3; self.register_buffer")),
        Program(
            "import torch\nN = 3\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x\n", ((X,),)
        ),
    ],
)
def test_what_a_function_cannot_say_is_left_to_the_class(given: Program) -> None:
    assert function_source(given) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["inductor"])
def test_slow_compilers_agree_too(name: str) -> None:
    version, reason = backends.version_or_reason(name)
    if not version:
        pytest.skip(reason)
    backend = backends.load(name)
    given = program("x[1:].add_(1)\nreturn x * 2")
    for verdict in judged(given, *((backend, lane) for lane in backend.lanes)).values():
        assert verdict.kind is Kind.AGREE, verdict.message


def compiled(name: str, given: Program) -> Any:
    backend = backends.load(name)
    return backend.compile(load_module(given), make_call(given.calls[0]), lambda _stage: None)


def test_each_torchscript_executor_is_the_one_that_the_backend_names() -> None:
    given = program("x[0] = 1\nreturn x + 1 + x")
    ran = {}
    for name in ("torchscript", "torchscript-legacy"):
        compiled(name, given).call(torch.ones(2))
        ran[name] = str(torch.jit.last_executed_optimized_graph())
    assert "prim::profile" in ran["torchscript"]  # its first run looks at what comes
    assert "prim::profile" not in ran["torchscript-legacy"]


def test_a_frozen_module_holds_what_it_only_reads_as_constants() -> None:
    given = program("y = self.buf + 1\ny[0] = x[0]\nreturn y", init=INIT)
    graph = str(compiled("torchscript-frozen", given).call.graph)
    assert 'GetAttr[name="buf"]' not in graph
    assert "GetAttr" in str(compiled("torchscript", given).call.graph)


def test_sizes_are_left_open_where_the_backend_says_so() -> None:
    given = program("x[0] = 1\nreturn x + 1")
    taken = {name: compiled(name, given).call for name in ("export", "export-dynamic")}
    with pytest.raises(AssertionError, match="Guard failed"):
        taken["export"](torch.ones(5))
    assert taken["export-dynamic"](torch.ones(5)).shape == (5,)


@pytest.mark.parametrize(
    ("message", "refused"),
    [
        ("Failed to load method forward, error: 0x:14", True),
        ("Input 0 for method forward should be contiguous or channels-last.", True),
        ("method->execute() failed with error 0x12", False),
    ],
)
def test_executorch_refuses_what_its_runtime_says_that_it_does_not_take(message: str, refused: bool) -> None:
    error = RuntimeError(message)
    assert any(r.matches(error, "run") for r in backends.load("executorch").refusals) is refused


def test_executorch_is_given_the_strides_that_the_program_was_exported_with() -> None:
    from inplace_fuzz.backends.executorch import _given

    base = torch.arange(7.0)
    for given in (base[:6].view(2, 3), base[:6].view(3, 2).t(), base.as_strided((3, 2), (1, 4)), base[:1].expand(2, 2)):
        assert _given(given).stride() == given.stride()
        assert torch.equal(_given(given), given)
    assert _given(base).data_ptr() != base.data_ptr()
    assert _given(2).item() == 2


def test_a_lost_operand_of_pnnx_has_one_message_whatever_it_is_called() -> None:
    from inplace_fuzz.backends.pnnx import _told

    told = {_told(f"name '{word}' is not defined") for word in ("v_22", "v_out", "v_key")}
    assert len(told) == 1
    assert _told("name 'inf' is not defined") == "name 'inf' is not defined"


DENSE = (
    "tvm",
    "onnxruntime",
    "onnxruntime-torchscript",
    "onnxruntime-torchscript-trace",
    "openvino",
    "openvino-script",
)


@pytest.mark.parametrize("name", [*DENSE, "openvino-trace", "executorch", "iree", "pnnx"])
def test_a_layout_that_a_compiler_is_not_given_is_no_fault_of_it(name: str) -> None:
    from inplace_fuzz.backends.exported import refuse_other_layout

    read = [torch.ops.aten.as_strided.default]
    base = torch.arange(6.0)
    for given in (base.view(2, 3).t(), base[1:], base[::2], base[:1].expand(2)):
        with pytest.raises(NotImplementedError, match="dense copies") as caught:
            refuse_other_layout(read, (given,))
        assert any(r.matches(caught.value, "export") for r in backends.load(name).refusals)
        refuse_other_layout([torch.ops.aten.add.Tensor], (given,))
    refuse_other_layout(read, (base.view(2, 3), 1))


def test_what_a_module_runs_shows_whether_it_looks_at_storages() -> None:
    from inplace_fuzz.backends.exported import LayoutNotGiven, flattened

    class Look(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.as_strided((2,), (1,), 0) + 1

    class Ordinary(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.diagonal() + x.unfold(0, 1, 1).sum() + x[0].expand(2, 2).flatten()[:2]

    transposed = torch.arange(4.0).view(2, 2).t()
    for module in (Look(), torch.jit.script(Look()), torch.jit.trace(Look(), (transposed,))):
        with pytest.raises(LayoutNotGiven):
            flattened(module, (transposed,))
        assert flattened(module, (transposed.contiguous(),)).outputs == 1
    assert flattened(Ordinary(), (transposed,)).outputs == 1


def test_tvm_is_right_about_as_strided_where_our_rule_has_found_the_elements() -> None:
    if not backends.version_or_reason("tvm")[0]:
        pytest.skip(backends.version_or_reason("tvm")[1])
    tvm = backends.load("tvm")
    transposed = TensorSpec((3, 2), "float32", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), strides=(1, 3))
    given = program("return x.as_strided((3,), (1,), 0) + 1", inputs=(transposed,))
    kinds = {lane: judged(given, (tvm, lane))["tvm", lane].kind for lane in tvm.lanes}
    assert kinds == {Lane.DIRECT: Kind.REFUSED, Lane.LEGALISED: Kind.AGREE, Lane.REWRITTEN: Kind.AGREE}
