"""Torch-TensorRT, stage by stage: lowered, converted and built without a GPU, and run where there is one.

`torch-tensorrt-lower` runs what the decompositions and lowering passes make of a program, on the CPU.
`torch-tensorrt-build` converts each part that TensorRT is to run into a network, and builds an engine from it for the
compute capability that TARGET names: it says whether there is an engine, and nothing of values.
`torch-tensorrt` and `torch-tensorrt-torchscript` are the two front ends whole, and need a GPU.

The library asks for a GPU's properties when it is imported and while it lowers. Where there is none, they are answered
for TARGET. Building without a GPU is a feature of TensorRT-RTX; the plain TensorRT is taken where that is installed.
A module keeps buffers, but not what a program writes into them or into its inputs: only outputs are promised.
"""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from torch.utils import _pytree as pytree

from inplace_fuzz.backends.export import EXPORT_REFUSALS
from inplace_fuzz.backends.exported import Signature
from inplace_fuzz.backends.torchscript import SCRIPT_REFUSALS, quiet
from inplace_fuzz.core.backend import Compiled, Refusal, Requirements, Unavailable, installed_version
from inplace_fuzz.core.verdict import OUTPUT_CHANNELS, Channel, Lane

REQUIREMENTS = Requirements("torch-tensorrt-rtx", torch=">=2.14,<2.15", cuda=True)
# The GPU that engines are built for where there is none, as TensorRT-RTX and torch.cuda name its kind.
TARGET = (8, 6)

_REFUSALS = (
    Refusal("UnsupportedOperatorException", r"."),
    Refusal("NotImplementedError", r"."),
    Refusal("GpuNeeded", r".", "it runs part of the program while it builds"),
    Refusal("TypeError", r"does not have a TensorRT equivalent|Provided .* dtype|Unsupported.*dtype", "a dtype"),
)


class TensorRTError(RuntimeError):
    """What TensorRT logged when it failed; its exceptions do not say."""


class GpuNeeded(RuntimeError):
    """TensorRT wanted to run something on a GPU while it made an engine, and there is none."""


@dataclass(frozen=True)
class TorchTensorRT:
    """`stage` is how far it goes: `lower`, `build` or `run`."""

    name: str
    stage: str
    channels: frozenset[Channel] = OUTPUT_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT, Lane.LEGALISED, Lane.REWRITTEN)
    refusals: tuple[Refusal, ...] = (*EXPORT_REFUSALS, *_REFUSALS)
    form: str = "fx"
    stateless: bool = True
    per_fork: int = 16

    def version(self) -> str:
        if self.stage == "run":
            return _version_on_gpu(self.name)
        found = _version(self.name)
        if self.stage == "build" and "rtx" not in found and not torch.cuda.is_available():
            raise Unavailable("TensorRT builds on a GPU alone, and there is none here; TensorRT-RTX needs none")
        return found

    def warm(self) -> None:
        """Imports it, which takes seconds."""
        with _target():
            _library()

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("import")
        with _target():
            library = _library()
        if self.stage == "run":
            return _run(library, module, example, enter)
        enter("export")
        exported = torch.export.export(module, example)
        signature = Signature.of(exported)
        enter("lower")
        with _target():
            # A dry run does everything but the engines, prints what it would do, and gives the partitioned module.
            with contextlib.redirect_stdout(io.StringIO()):
                lowered = library.dynamo.compile(exported, arg_inputs=list(example), min_block_size=1, dryrun=True)
            if self.stage == "build":
                parts = [child for name, child in lowered.named_children() if "_run_on_acc" in name]
                with _told():
                    sizes = [_engine_bytes(part, enter) for part in parts]
                made = f"{len(parts)} engines of {sum(sizes)} bytes for compute capability {TARGET[0]}.{TARGET[1]}"
                return Compiled(module, remark=f"{made}; not run")
        return Compiled(lambda *args: signature.result(pytree.tree_leaves(lowered(*args))))


@dataclass(frozen=True)
class TorchScriptFrontEnd:
    name: str = "torch-tensorrt-torchscript"
    channels: frozenset[Channel] = OUTPUT_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT,)
    refusals: tuple[Refusal, ...] = (*SCRIPT_REFUSALS, *_REFUSALS)
    form: str = "script"
    starts_from: str = "torchscript"
    per_fork: int = 16

    def version(self) -> str:
        return _version_on_gpu(self.name)

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("import")
        library = _library()
        enter("script")
        with quiet():
            scripted = module if isinstance(module, torch.jit.ScriptModule) else torch.jit.script(module)
        enter("build")
        inputs = [library.Input(tuple(t.shape), dtype=t.dtype) for t in pytree.tree_leaves(example)]
        options = {"min_block_size": 1, "require_full_compilation": False, "enabled_precisions": {torch.float32}}
        compiled = library.ts.compile(scripted.cuda().eval(), inputs=inputs, **options)
        return Compiled(_through_gpu(compiled))


def _version(name: str) -> str:
    try:
        return installed_version("torch-tensorrt", name)
    except Unavailable:
        return installed_version(REQUIREMENTS.distribution, name)


def _version_on_gpu(name: str) -> str:
    found = _version(name)
    if not torch.cuda.is_available():
        raise Unavailable(
            "engines run on an NVIDIA GPU, and there is none here; "
            "torch-tensorrt-lower and torch-tensorrt-build need none"
        )
    return found


def _library() -> Any:
    import torch_tensorrt

    logging.getLogger("torch_tensorrt").setLevel(logging.CRITICAL)
    return torch_tensorrt


@contextlib.contextmanager
def _target() -> Iterator[None]:
    """Answers for TARGET what is asked of a GPU, where there is none; what would be moved there stays."""
    if torch.cuda.is_available():
        yield
        return
    major, minor = TARGET
    gigabytes = 8 << 30
    properties = SimpleNamespace(name="target", major=major, minor=minor, total_memory=gigabytes, uuid="0")
    answers = {
        "current_device": 0,
        "device_count": 1,
        "get_device_capability": TARGET,
        "get_device_properties": properties,
        "mem_get_info": (gigabytes, gigabytes),
        "empty_cache": None,
        "synchronize": None,
    }
    with contextlib.ExitStack() as stack:
        for query, answer in answers.items():
            stack.enter_context(mock.patch.object(torch.cuda, query, return_value=answer))
        import torch_tensorrt.dynamo._compiler as compiler
        import torch_tensorrt.dynamo.lowering._decompositions as decompositions

        for place in (compiler, decompositions):
            stack.enter_context(mock.patch.object(place, "to_torch_device", return_value=torch.device("cpu")))
        yield


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Raises a failure of TensorRT with what it logged."""
    lines: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("torch_tensorrt [TensorRT Conversion Context]")
    log.propagate = False
    log.addHandler(handler)
    try:
        yield
    except RuntimeError as error:
        if type(error) is not RuntimeError or not lines:
            raise
        own = [line for line in lines if "cudaError" not in line]
        if not own and not torch.cuda.is_available():
            raise GpuNeeded(lines[0]) from error
        raise TensorRTError("\n".join([*own[:1], str(error)])) from error
    finally:
        log.removeHandler(handler)


def _engine_bytes(part: Any, enter: Callable[[str], None]) -> int:
    """Makes a network of one part, and an engine of it. Returns the engine's size."""
    import tensorrt
    from torch_tensorrt.dynamo import CompilationSettings, partitioning
    from torch_tensorrt.dynamo.conversion import TRTInterpreter
    from torch_tensorrt.dynamo.conversion._conversion import infer_module_output_dtypes

    enter("convert")
    settings = CompilationSettings(min_block_size=1)
    inputs = partitioning.construct_submodule_inputs(part)
    interpreter = TRTInterpreter(part, inputs, infer_module_output_dtypes(part), compilation_settings=settings)
    interpreter._construct_trt_network_def()  # noqa: SLF001 - `run` would go on to load the engine, on a GPU
    enter("build")
    config = interpreter._populate_trt_builder_config()  # noqa: SLF001
    if hasattr(config, "num_compute_capabilities"):
        config.num_compute_capabilities = 1
        config.set_compute_capability(getattr(tensorrt.ComputeCapability, "SM{}{}".format(*TARGET)), 0)
    engine = interpreter.builder.build_serialized_network(interpreter.ctx.net, config)
    if engine is None:
        raise RuntimeError("build_serialized_network gave no engine")
    return int(engine.nbytes)


def _run(library: Any, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
    """The front end whole: engines that are loaded and run."""
    enter("export")
    given = _moved(example, "cuda")
    exported = torch.export.export(module.cuda(), given)
    signature = Signature.of(exported)
    enter("build")
    with _told():
        compiled = library.dynamo.compile(exported, arg_inputs=list(given), min_block_size=1)
    through = _through_gpu(compiled)
    return Compiled(lambda *args: signature.result(pytree.tree_leaves(through(*args))))


def _through_gpu(compiled: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: _moved(compiled(*_moved(args, "cuda")), "cpu")


def _moved(values: Any, device: str) -> Any:
    return pytree.tree_map(lambda v: v.to(device) if isinstance(v, torch.Tensor) else v, values)


LOWER = TorchTensorRT("torch-tensorrt-lower", "lower")
BUILD = TorchTensorRT("torch-tensorrt-build", "build", channels=frozenset())
RUN = TorchTensorRT("torch-tensorrt", "run")
TORCHSCRIPT = TorchScriptFrontEnd()
