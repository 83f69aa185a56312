"""Torch-TensorRT: what each stage needs, and how its failures are told apart. With the library, see test_contract.py."""

from __future__ import annotations

import logging

import pytest
import torch

from inplace_fuzz.backends import torch_tensorrt
from inplace_fuzz.backends.torch_tensorrt import BUILD, LOWER, RUN, TORCHSCRIPT, GpuNeeded, TensorRTError, _told
from inplace_fuzz.core import Kind, Unavailable
from tests.backends.test_adapters import program
from tests.execute.test_evaluate import judged

LOG = logging.getLogger("torch_tensorrt [TensorRT Conversion Context]")


@pytest.fixture
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def install(monkeypatch: pytest.MonkeyPatch, *distributions: str) -> None:
    def version(distribution: str, name: str) -> str:
        if distribution in distributions:
            return f"{distribution} 2.14.0"
        raise Unavailable(f"{distribution} is not installed; `inplace-fuzz env create {name}` brings it")

    monkeypatch.setattr(torch_tensorrt, "installed_version", version)


@pytest.mark.usefixtures("no_gpu")
def test_running_needs_a_gpu_and_the_stages_before_it_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "torch-tensorrt-rtx")
    assert LOWER.version() == BUILD.version() == "torch-tensorrt-rtx 2.14.0"
    for backend in (RUN, TORCHSCRIPT):
        with pytest.raises(Unavailable, match=r"NVIDIA GPU.*torch-tensorrt-lower"):
            backend.version()


@pytest.mark.usefixtures("no_gpu")
def test_the_plain_library_is_preferred_and_builds_on_a_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "torch-tensorrt", "torch-tensorrt-rtx")
    assert LOWER.version() == "torch-tensorrt 2.14.0"
    with pytest.raises(Unavailable, match="TensorRT builds on a GPU alone"):
        BUILD.version()


def test_what_is_not_installed_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch)
    with pytest.raises(Unavailable, match="env create torch-tensorrt-lower"):
        LOWER.version()


def fail(error: Exception, *logged: str) -> None:
    with _told():
        for line in logged:
            LOG.error(line)
        raise error


def test_a_failure_says_what_was_logged() -> None:
    with pytest.raises(TensorRTError, match=r"Shape Error\n.*no shape"):
        fail(RuntimeError("no shape"), "cudaError 35", "Error Code 4: Shape Error")


@pytest.mark.usefixtures("no_gpu")
def test_a_failure_for_want_of_a_gpu_is_no_fault() -> None:
    with pytest.raises(GpuNeeded) as raised:
        fail(RuntimeError("no engine"), "Error Code 1: Cuda Runtime (cudaError 35)")
    assert any(refusal.matches(raised.value, "build") for refusal in BUILD.refusals)


def test_other_failures_are_themselves() -> None:
    with pytest.raises(NotImplementedError):
        fail(NotImplementedError("nonzero"), "Error Code 4")
    with pytest.raises(RuntimeError, match="nothing logged"):
        fail(RuntimeError("nothing logged"))


@pytest.mark.slow
def test_an_engine_is_built_and_what_was_lowered_runs() -> None:
    for backend in (LOWER, BUILD):
        try:
            backend.version()
        except Unavailable as reason:
            pytest.skip(f"unavailable: {reason}")
    given = program("x.masked_fill_(x > 1, 0.0)\nreturn x, [x + 1]")
    results = judged(given, (LOWER, "direct"), (BUILD, "direct"))
    assert {verdict.kind for verdict in results.values()} == {Kind.AGREE}
