"""How a person calls each compiler, and what its tracker asks of a bug report. Text alone: nothing here is imported.

A recipe is the body of `compiled(module, example)`, which returns a callable with the module's own signature. It is the
short way that the compiler's own documentation shows, without what an adapter needs to judge thousands of programs.
The headings of trackers are those of the projects' own issue forms.
"""

from __future__ import annotations

from dataclasses import dataclass

# What stands under a heading: a part of the report (bug, reproduce, expected, actual, versions), or text as it is.
Sections = tuple[tuple[str, str], ...]

_PYTORCH: Sections = (("🐛 Describe the bug", "bug reproduce actual"), ("Versions", "versions"))
_TVM: Sections = (
    ("Expected behavior", "bug expected"), ("Actual behavior", "actual"), ("Environment", "versions"),
    ("Steps to reproduce", "reproduce"), ("Triage", "* frontend:pytorch\n* relax"),
)  # fmt: skip
_ONNXRUNTIME: Sections = (
    ("Describe the issue", "bug actual"), ("To reproduce", "reproduce"), ("Urgency", "None."), ("Platform", "versions"),
    ("ONNX Runtime API", "Python"), ("Execution Provider", "Default CPU"),
)  # fmt: skip
_OPENVINO: Sections = (
    ("OpenVINO Version", "versions"), ("Device used for inference", "CPU"), ("Framework", "PyTorch"),
    ("Issue description", "bug actual"), ("Step-by-step reproduction", "reproduce"),
)  # fmt: skip
_IREE: Sections = (
    ("What happened?", "bug actual"), ("Steps to reproduce your issue", "reproduce"),
    ("What component(s) does this issue relate to?", "Frontends"), ("Version information", "versions"),
)  # fmt: skip
_TENSORRT: Sections = (
    ("Bug Description", "bug actual"), ("To Reproduce", "reproduce"), ("Expected behavior", "expected"),
    ("Environment", "versions"),
)  # fmt: skip
_PNNX: Sections = (("context", "versions"), ("how to reproduce", "reproduce"), ("error log", "bug actual"))


@dataclass(frozen=True)
class Recipe:
    """`project` is whose tracker it is, `package` what a test of theirs must be able to import."""

    project: str
    package: str
    body: str
    sections: Sections


def _pytorch(body: str) -> Recipe:
    return Recipe("pytorch/pytorch", "torch", body, _PYTORCH)


def _exported(exported: str, before: str = "") -> Recipe:
    return _pytorch(f"{before}return {exported}.run_decompositions().module()\n")


def _ort(session: str, export: str) -> Recipe:
    body = f"""\
import io

import onnxruntime

file = io.BytesIO()
{export}
{session}
names = [i.name for i in session.get_inputs()]

def call(*args):
    leaves = dict(zip(INPUTS, torch.utils._pytree.tree_leaves(args)))
    taken = [leaves.get(n, a) for n, a in zip(names, leaves.values())]
    return [torch.from_numpy(r) for r in session.run(None, {{n: t.numpy() for n, t in zip(names, taken)}})]

return call
"""
    return Recipe("microsoft/onnxruntime", "onnxruntime", body, _ONNXRUNTIME)


_SESSION = 'session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])'
_PLAIN_SESSION = """\
options = onnxruntime.SessionOptions()
options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(file.getvalue(), options, providers=["CPUExecutionProvider"])"""
_DYNAMO = "torch.onnx.export(module, example, dynamo=True, verbose=False).save(file)"


def _openvino(source: str) -> Recipe:
    body = f"""\
import openvino

model = openvino.compile_model(openvino.convert_model({source}), "CPU", {{"INFERENCE_PRECISION_HINT": "f32"}})

def call(*args):
    results = model([a.numpy().copy() for a in args])
    return [torch.from_numpy(results[k].copy()) for k in range(len(model.outputs))]

return call
"""
    return Recipe("openvinotoolkit/openvino", "openvino", body, _OPENVINO)


def _executorch(lower: str) -> Recipe:
    body = f"""\
from executorch import exir
from executorch.runtime import Runtime

{lower}
program = Runtime.get().load_program(lowered.to_executorch().buffer)
method = program.load_method("forward")
return lambda *args, program=program: list(method.execute([a.clone() for a in args]))
"""
    return Recipe("pytorch/executorch", "executorch", body, _PYTORCH)


def _tensorrt(body: str) -> Recipe:
    return Recipe("pytorch/TensorRT", "torch_tensorrt", f"import torch_tensorrt\n\n{body}", _TENSORRT)


_ON_GPU = """\
example = tuple(a.cuda() for a in example)
compiled = {compiled}
return lambda *args: torch.utils._pytree.tree_map(lambda t: t.cpu(), compiled(*[a.cuda() for a in args]))
"""
_TENSORRT_RUN = _ON_GPU.format(
    compiled="torch_tensorrt.dynamo.compile(\n"
    "    torch.export.export(module.cuda(), example), arg_inputs=list(example), min_block_size=1\n)"
)
_TENSORRT_SCRIPT = _ON_GPU.format(
    compiled="torch_tensorrt.ts.compile(\n"
    "    torch.jit.script(module).cuda(), inputs=list(example), min_block_size=1, require_full_compilation=False\n)"
)
_TENSORRT_LOWER = """\
exported = torch.export.export(module, example)
return torch_tensorrt.dynamo.compile(exported, arg_inputs=list(example), min_block_size=1, dryrun=True)
"""
_TVM_BODY = """\
import tvm
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program

exported = torch.export.export(module, example)
imported = from_exported_program(exported)
machine = relax.VirtualMachine(tvm.compile(imported, target="llvm"), tvm.cpu())
# An input that nothing reads is no parameter any more.
names = [s.arg.name for s in exported.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
taken = [getattr(p, "name_hint", None) or p.name for p in imported["main"].params]

def call(*args):
    leaves = dict(zip(names, torch.utils._pytree.tree_leaves(args)))
    results = machine["main"](*[tvm.runtime.from_dlpack(leaves[name].clone()) for name in taken])
    results = [results] if hasattr(results, "__dlpack__") else list(results)
    return [torch.utils.dlpack.from_dlpack(result).clone() for result in results]

return call
"""
_TVM_RECIPE = Recipe("apache/tvm", "tvm", _TVM_BODY, _TVM)
_SCRIPT = _pytorch("return torch.jit.script(module)\n")

RECIPES = {
    "torchscript-graph": _SCRIPT,
    "torchscript": _SCRIPT,
    "torchscript-trace": _pytorch("return torch.jit.trace(module, example)\n"),
    "torchscript-legacy": _pytorch(
        "torch._C._jit_set_profiling_executor(False)\n"
        "torch._C._jit_set_profiling_mode(False)\n"
        "return torch.jit.script(module)\n"
    ),
    "torchscript-frozen": _pytorch(
        "return torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(module.eval())))\n"
    ),
    "export": _exported("torch.export.export(module, example)"),
    "export-strict": _exported("torch.export.export(module, example, strict=True)"),
    "export-dynamic": _exported(
        "torch.export.export(module, example, dynamic_shapes=shapes)",
        "def open_sizes(value):\n"
        "    tensor = isinstance(value, torch.Tensor)\n"
        "    return {k: torch.export.Dim.AUTO for k in range(value.dim())} if tensor else None\n\n"
        "shapes = torch.utils._pytree.tree_map(open_sizes, example)\n",
    ),
    "aot-eager": _pytorch('return torch.compile(module, backend="aot_eager", fullgraph=True)\n'),
    "aot-eager-dynamic": _pytorch('return torch.compile(module, backend="aot_eager", fullgraph=True, dynamic=True)\n'),
    "inductor": _pytorch("return torch.compile(module, fullgraph=True)\n"),
    "inductor-dynamic": _pytorch("return torch.compile(module, fullgraph=True, dynamic=True)\n"),
    "tvm": _TVM_RECIPE,
    "tvm-state": _TVM_RECIPE,
    "onnxruntime": _ort(_SESSION, _DYNAMO),
    "onnxruntime-unoptimized": _ort(_PLAIN_SESSION, _DYNAMO),
    "onnxruntime-torchscript": _ort(
        _SESSION, "torch.onnx.export(torch.jit.script(module), example, file, dynamo=False, input_names=INPUTS)"
    ),
    "onnxruntime-torchscript-trace": _ort(
        _SESSION, "torch.onnx.export(module, example, file, dynamo=False, input_names=INPUTS)"
    ),
    "openvino": _openvino("torch.export.export(module, example)"),
    "openvino-script": _openvino("torch.jit.script(module), example_input=example"),
    "openvino-trace": _openvino("module, example_input=example"),
    "executorch": _executorch("lowered = exir.to_edge(torch.export.export(module, example))"),
    "executorch-xnnpack": _executorch(
        "from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner\n\n"
        "exported = torch.export.export(module, example)\n"
        "lowered = exir.to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])"
    ),
    "iree": Recipe(
        "iree-org/iree",
        "iree.turbine",
        """\
import iree.runtime
from iree.turbine import aot

binary = aot.export(module, args=example).compile(save_to=None, target_backends=("llvm-cpu",))
context = iree.runtime.SystemContext(config=iree.runtime.Config("local-sync"))
context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, binary.map_memory()))
main = context.modules.module["main"]

def call(*args):
    results = main(*[a.numpy() for a in args])
    results = results if isinstance(results, (list, tuple)) else [results]
    return [torch.from_numpy(result.to_host().copy()) for result in results]

return call
""",
        _IREE,
    ),
    "torch-tensorrt": _tensorrt(_TENSORRT_RUN),
    "torch-tensorrt-build": _tensorrt(_TENSORRT_RUN),
    "torch-tensorrt-lower": _tensorrt(_TENSORRT_LOWER),
    "torch-tensorrt-torchscript": _tensorrt(_TENSORRT_SCRIPT),
    "pnnx": Recipe(
        "Tencent/ncnn",
        "pnnx",
        """\
import tempfile

import pnnx

return pnnx.export(module, tempfile.mkdtemp() + "/program.pt", example)
""",
        _PNNX,
    ),
}
