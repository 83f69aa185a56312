"""A compiler reached by a command: what `cmd:…` runs. docs/backends.md says what a command is given and gives back.

The command is started once for each call, in the directory where it was typed, with the worker's limits. Its deaths are
the worker's: killed by a signal, the worker ends by the same one, so that a crash is confirmed and shrunk as any other.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch.utils import _pytree as pytree

from inplace_fuzz.backends.commandline import VARIABLE, Command
from inplace_fuzz.backends.export import EXPORT_REFUSALS
from inplace_fuzz.backends.exported import LAYOUT_REFUSAL, dense, flattened
from inplace_fuzz.backends.torchscript import SCRIPT_REFUSALS, quiet
from inplace_fuzz.core.backend import Compiled, Refusal
from inplace_fuzz.core.verdict import OUTPUT_CHANNELS, Channel, Lane

REFUSED = 3  # the exit status that means "not supported"
_HEARD = 1 << 16  # bytes of what a command says that are kept
_DEADLY = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGKILL, signal.SIGSEGV, signal.SIGTRAP)
_RAW = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}
# By what a command takes: the suffix of the file, the form that the rewritten lane hands over, where it starts from.
_FORMS = {
    "program": (".pt", "script", "torchscript", (Lane.DIRECT, Lane.REWRITTEN), SCRIPT_REFUSALS),
    "exported": (".pt2", "fx", "export", (Lane.DIRECT, Lane.LEGALISED, Lane.REWRITTEN), EXPORT_REFUSALS),
    "source": (".py", "source", "", (Lane.DIRECT,), ()),
}


class CommandRefused(RuntimeError):
    """The command ended with `REFUSED`, or its inputs cannot be put into files."""


class CommandFailed(RuntimeError):
    """The command ended with another status, or without the outputs that it owes."""


@dataclass(frozen=True)
class CommandBackend:
    command: Command
    per_fork: int = 32

    @property
    def name(self) -> str:
        return self.command.name

    @property
    def channels(self) -> frozenset[Channel]:
        return OUTPUT_CHANNELS | ({Channel.INPUTS} if self.command.returns_inputs else set())

    @property
    def lanes(self) -> tuple[Lane, ...]:
        return _FORMS[self.command.form][3]

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        return (Refusal("CommandRefused", r"."), LAYOUT_REFUSAL, *_FORMS[self.command.form][4])

    @property
    def form(self) -> str:
        return _FORMS[self.command.form][1]

    @property
    def stateless(self) -> bool:
        return self.form == "fx"

    @property
    def starts_from(self) -> str:
        return _FORMS[self.command.form][2]

    def version(self) -> str:
        return self.command.version()

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        signature = flattened(module, example)
        enter("convert")
        program = _written(module, example, self.command.form)
        suffix = _FORMS[self.command.form][0]

        def call(*args: Any) -> Any:
            leaves = pytree.tree_leaves(args)
            _refuse_shared([t for t in leaves if isinstance(t, torch.Tensor)])
            given = {f"arg_{k}": leaf for k, leaf in enumerate(leaves) if leaf is not None}
            outputs, after = _run(self.command, program, suffix, given)
            for name, value in after.items():
                _write_back(name, given, value)
            return signature.result([outputs[k] for k in sorted(outputs, key=_number)])

        return Compiled(call)


def _written(module: Any, example: tuple[Any, ...], form: str) -> bytes:
    """The program's file."""
    file = io.BytesIO()
    if form == "source":
        return "".join(linecache.getlines(type(module).forward.__code__.co_filename)).encode()
    if form == "exported":
        torch.export.save(torch.export.export(module, example), cast("Any", file))
        return file.getvalue()
    with quiet():
        scripted = module if isinstance(module, torch.jit.ScriptModule) else torch.jit.script(module)
        torch.jit.save(scripted, cast("Any", file))
    return file.getvalue()


def _refuse_shared(tensors: list[torch.Tensor]) -> None:
    """Files hold values: what shares memory there would be written by a program in one place, and here in two."""
    storages = [t.untyped_storage().data_ptr() for t in tensors if t.numel()]
    if len(set(storages)) < len(storages):
        raise CommandRefused("inputs that share memory cannot be given in a file")
    for tensor in tensors:
        held = tensor.untyped_storage().nbytes() // tensor.element_size()
        places = torch.arange(held).as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
        if places.unique().numel() < tensor.numel():
            raise CommandRefused("an input that overlaps itself cannot be given in a file")


def _run(
    command: Command, program: bytes, suffix: str, given: Mapping[str, Any]
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Starts the command once. Returns its outputs by name, and its inputs after the call where it gives them."""
    with tempfile.TemporaryDirectory() as directory:
        paths = {
            command.form: f"{directory}/program{suffix}",
            "inputs": f"{directory}/inputs.npz",
            "outputs": f"{directory}/outputs.npz",
            "inputs_after": f"{directory}/inputs_after.npz",
        }
        Path(paths[command.form]).write_bytes(program)
        np.savez(paths["inputs"], **dict(_array(name, value) for name, value in given.items()))
        status, said = _started(command.words(**paths), command.directory, directory)
        if status == 0:
            outputs = _read(paths["outputs"], "out", "outputs")
            after = _read(paths["inputs_after"], "arg", "inputs_after") if command.returns_inputs else {}
            return outputs, after
    if status == REFUSED:
        raise CommandRefused(said or "the command says that this is not supported")
    _die_as(status, said)
    raise CommandFailed(f"exit status {status}: {said or 'the command said nothing'}")


def _started(words: list[str], where: str, directory: str) -> tuple[int, str]:
    """Exit status, negative for a signal, and the last line that was said, without our temporary paths."""
    environment = {k: v for k, v in os.environ.items() if k not in {VARIABLE, "PYTHONPATH"}}
    with tempfile.TemporaryFile() as file:
        try:
            done = subprocess.run(  # noqa: S603  what a user typed, and no shell
                words, cwd=where, env=environment, stdin=subprocess.DEVNULL, stdout=file, stderr=file, check=False
            )
        except OSError as error:
            raise CommandFailed(f"{words[0]} cannot be started: {error.strerror}") from None
        file.seek(max(0, file.tell() - _HEARD))
        said = file.read().decode(errors="replace")
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return done.returncode, (lines[-1] if lines else "").replace(f"{directory}/", "")[:300]


def _die_as(status: int, said: str) -> None:
    """Ends this worker as the command ended, where that was by a signal; shells report one as 128 and its number."""
    number = -status if status < 0 else status - 128
    if status > 0 and number not in _DEADLY:
        return
    sys.stderr.write(f"{said}\n")
    sys.stderr.flush()
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


# ------------------------------------------------------------------------------------------------------------ tensors
def _array(name: str, value: Any) -> tuple[str, Any]:
    """A value as NumPy has it. A dtype that it lacks goes as unsigned integers of its size, and is named."""
    if not isinstance(value, torch.Tensor):
        return name, np.asarray(value)
    tensor = dense(value).resolve_conj().resolve_neg()
    try:
        return name, tensor.numpy()
    except TypeError:
        raw = tensor.view(_RAW[tensor.element_size()])
        return f"{name}.{str(tensor.dtype).removeprefix('torch.')}", raw.numpy()


def _read(path: str, prefix: str, what: str) -> dict[str, torch.Tensor]:
    """The tensors of an npz file by name. Raises CommandFailed for a file that is not as it should be."""
    found = {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            for key in arrays.files:
                name, _, dtype = key.partition(".")
                if not name.startswith(f"{prefix}_") or not name[len(prefix) + 1 :].isdigit():
                    raise CommandFailed(
                        f"{{{what}}} has an array {key!r}; its names are {prefix}_0, {prefix}_1 and so on"
                    )
                tensor = torch.from_numpy(np.array(arrays[key]))
                found[name] = tensor.view(getattr(torch, dtype)) if dtype else tensor
    except FileNotFoundError:
        raise CommandFailed(f"the command ended well and wrote no {{{what}}}") from None
    except (OSError, ValueError, TypeError, AttributeError, RuntimeError, zipfile.BadZipFile) as error:
        if isinstance(error, CommandFailed):
            raise
        raise CommandFailed(f"{{{what}}} is no npz file of arrays: {error}") from None
    return found


def _write_back(name: str, given: Mapping[str, Any], value: torch.Tensor) -> None:
    tensor = given.get(name)
    if not isinstance(tensor, torch.Tensor):
        raise CommandFailed(f"{{inputs_after}} has {name}, and the program no such tensor")
    if (tensor.shape, tensor.dtype) != (value.shape, value.dtype):
        raise CommandFailed(
            f"{{inputs_after}} has {name} as {value.dtype} of shape {tuple(value.shape)}, "
            f"and the input is {tensor.dtype} of shape {tuple(tensor.shape)}"
        )
    with torch.no_grad():
        tensor.copy_(value)


def _number(name: str) -> int:
    return int(name.rpartition("_")[2])
