"""One file per compiler. This table is all that the rest of the package knows of them.

Other packages add backends through the entry point group `inplace_fuzz.backends`; a `module:ATTRIBUTE` name works too,
and `cmd:COMMAND` for what has no adapter.
"""

from __future__ import annotations

import importlib
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from inplace_fuzz.backends import commandline
from inplace_fuzz.backends.requirements import BadRequirements, read_requirements
from inplace_fuzz.core.backend import Backend, Requirements, Unavailable, base_name

ENTRY_POINT_GROUP = "inplace_fuzz.backends"

# name: where its object is. The order is the order of tables and reports.
BUILTIN = {
    "torchscript-graph": "inplace_fuzz.backends.torchscript:GRAPH",
    "torchscript": "inplace_fuzz.backends.torchscript:SCRIPT",
    "torchscript-trace": "inplace_fuzz.backends.torchscript:TRACE",
    "torchscript-legacy": "inplace_fuzz.backends.torchscript:LEGACY",
    "torchscript-frozen": "inplace_fuzz.backends.torchscript:FROZEN",
    "export": "inplace_fuzz.backends.export:EXPORT",
    "export-strict": "inplace_fuzz.backends.export:STRICT",
    "export-dynamic": "inplace_fuzz.backends.export:DYNAMIC",
    "aot-eager": "inplace_fuzz.backends.compile:AOT_EAGER",
    "aot-eager-dynamic": "inplace_fuzz.backends.compile:AOT_EAGER_DYNAMIC",
    "inductor": "inplace_fuzz.backends.compile:INDUCTOR",
    "inductor-dynamic": "inplace_fuzz.backends.compile:INDUCTOR_DYNAMIC",
    "tvm": "inplace_fuzz.backends.tvm:TVM",
    "tvm-state": "inplace_fuzz.backends.tvm:STATE",
    "onnxruntime": "inplace_fuzz.backends.onnxruntime:ONNXRUNTIME",
    "onnxruntime-unoptimized": "inplace_fuzz.backends.onnxruntime:UNOPTIMISED",
    "onnxruntime-torchscript": "inplace_fuzz.backends.onnxruntime_torchscript:SCRIPT",
    "onnxruntime-torchscript-trace": "inplace_fuzz.backends.onnxruntime_torchscript:TRACE",
    "openvino": "inplace_fuzz.backends.openvino:EXPORTED",
    "openvino-script": "inplace_fuzz.backends.openvino:SCRIPT",
    "openvino-trace": "inplace_fuzz.backends.openvino:TRACE",
    "executorch": "inplace_fuzz.backends.executorch:EXECUTORCH",
    "executorch-xnnpack": "inplace_fuzz.backends.executorch:XNNPACK",
    "iree": "inplace_fuzz.backends.iree:IREE",
    "pnnx": "inplace_fuzz.backends.pnnx:PNNX",
    "torch-tensorrt": "inplace_fuzz.backends.torch_tensorrt:RUN",
    "torch-tensorrt-lower": "inplace_fuzz.backends.torch_tensorrt:LOWER",
    "torch-tensorrt-build": "inplace_fuzz.backends.torch_tensorrt:BUILD",
    "torch-tensorrt-torchscript": "inplace_fuzz.backends.torch_tensorrt:TORCHSCRIPT",
}
# What a run without --backends uses: everything here that is installed and compiles in well under a second.
DEFAULT = ("torchscript-graph", "torchscript", "torchscript-trace", "export", "tvm")


class UnknownBackend(ValueError):
    """No backend has this name; the message lists those that there are."""


@cache
def _plugins() -> dict[str, EntryPoint]:
    """What other packages add. Looking takes milliseconds, and what is installed does not change under a process."""
    return {e.name: e for e in entry_points(group=ENTRY_POINT_GROUP) if e.name not in BUILTIN}


def names() -> tuple[str, ...]:
    """Every backend name that can be asked for, installed or not."""
    return (*BUILTIN, *sorted(_plugins()))


def resolve(text: str) -> str:
    """A backend as a user types it, by the name that everything else knows it by. Raises UnknownBackend.

    They are the same but for a command: `cmd:./my-compiler {program} {inputs} {outputs}` is `cmd:my-compiler`.
    """
    if not commandline.is_command(text):
        check_name(text)
        return text
    try:
        return commandline.register(text)
    except commandline.BadCommand as error:
        raise UnknownBackend(str(error)) from None


def resolve_all(text: str) -> tuple[str, ...]:
    """A comma-separated list of backends as `resolve` has them. Raises UnknownBackend."""
    found: dict[str, str] = {}
    for typed in commandline.split(text):
        name = resolve(typed)
        if found.setdefault(name, typed) != typed:
            raise UnknownBackend(f"two commands are called {name}; give one another name: cmd:other=COMMAND")
    return tuple(found)


def check_name(name: str) -> None:
    """Raises UnknownBackend for a name that `load` could not find, without importing anything."""
    if commandline.is_command(name):
        return
    if name != (base := base_name(name)):
        if name.endswith("@"):
            raise UnknownBackend(f"{name!r} names no version; write for example {name}1.2.0")
        check_name(base)
    elif ":" not in name and name not in BUILTIN and name not in _plugins():
        raise UnknownBackend(f"there is no backend {name!r}; choose from {', '.join(names())}")


def requirements(name: str) -> Requirements | None:
    """What pip installs for a backend, or None where its adapter does not say. Imports no adapter and no torch."""
    check_name(name)
    if commandline.is_command(name):
        return None
    base = base_name(name)
    place = BUILTIN.get(base, base) if base in BUILTIN or ":" in base else _plugins()[base].value
    try:
        return read_requirements(place.partition(":")[0])
    except BadRequirements as error:
        raise UnknownBackend(f"the backend {base!r} cannot be used: {error}") from None


def load(name: str) -> Backend:
    """The backend of this name. Importing its adapter does not import its compiler. Raises UnknownBackend.

    Raises Unavailable for a command that nobody has typed.
    """
    check_name(name)
    if commandline.is_command(name):
        from inplace_fuzz.backends.command import CommandBackend

        return CommandBackend(commandline.find(name))
    if name in BUILTIN or ":" in name:
        module, _, attribute = BUILTIN.get(name, name).partition(":")
        try:
            return cast("Backend", getattr(importlib.import_module(module), attribute))
        except (ImportError, AttributeError) as error:
            raise UnknownBackend(f"the backend {name!r} cannot be loaded: {error}") from error
    (entry,) = [e for e in entry_points(group=ENTRY_POINT_GROUP) if e.name == name][:1]
    return cast("Backend", entry.load())


def version_or_reason(name: str) -> tuple[str, str]:
    """`(version, "")` of a backend that can run here, or `("", reason)`."""
    try:
        return load(name).version(), ""
    except Unavailable as error:
        return "", str(error)
    except ImportError as error:
        return "", f"importing it failed: {error}"


__all__ = [
    "BUILTIN",
    "DEFAULT",
    "UnknownBackend",
    "check_name",
    "load",
    "names",
    "requirements",
    "resolve",
    "resolve_all",
    "version_or_reason",
]
