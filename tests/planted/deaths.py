"""Backends that die, each in its own way, and one that is well. Every one is an ordinary `Backend` object.

They run eager's own module, and go wrong when they are called; names like `tests.planted.deaths:SEGFAULT` load them.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from inplace_fuzz.core import ALL_CHANNELS, Channel, Compiled, Lane, Refusal


@dataclass(frozen=True)
class Deadly:
    """Does `deed` in the run stage, and then what eager does, if it gets that far."""

    name: str
    deed: Callable[[], None]
    channels: frozenset[Channel] = ALL_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT,)
    refusals: tuple[Refusal, ...] = ()
    form: str = "module"
    per_fork: int = 64

    def version(self) -> str:
        return "planted 1"

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        enter("build")

        def call(*args: Any) -> Any:
            self.deed()
            return module(*args)

        return Compiled(call, lambda: dict(module.named_buffers()))


def nothing() -> None:
    """Well behaved."""


def segfault() -> None:
    ctypes.string_at(0)


def hang() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


def blow_up() -> None:
    kept = []
    while True:
        kept.append(bytearray(64 << 20))


def blow_up_natively() -> None:
    """Asks torch's allocator for more than there is; it raises a RuntimeError."""
    import torch

    torch.empty(1 << 45, dtype=torch.uint8)


def family_blow_up() -> None:
    """Each child stays below the limit of one process; together they are far above it."""
    for _ in range(12):
        if os.fork() == 0:
            kept = bytearray(os.urandom(1 << 20) * 200)
            time.sleep(60)
            os._exit(len(kept) & 1)
    time.sleep(60)


def leave_a_daemon() -> None:
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True, env={})


def leave_a_deep_daemon() -> None:
    """Forks twice, with a session between, as daemons do, so that its parent is gone; waits until it is there."""
    read, write = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.write(write, b"x")
            time.sleep(600)
        os._exit(0)
    os.read(read, 1)


def print_for_ever() -> None:
    while True:
        os.write(1, b"so it goes. " * 1000)


def scribble() -> None:
    """Writes into every descriptor that it can find, as a runaway logger would."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.write(int(name), b'{"at": [0, 0], "verdict": {"kind": "agree"}}\n' * 10)
            except OSError:
                continue


def leave() -> None:
    os._exit(0)


def exit_politely() -> None:
    sys.exit(0)


def overflow() -> None:
    """Native recursion as deep as its input, as parsers do it: libc's own, on a million brackets."""
    room = ctypes.create_string_buffer(4096)
    ctypes.CDLL(None).regcomp(room, b"(" * (1 << 20) + b")" * (1 << 20), 1)


def kill_the_parent() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def stop_the_parent() -> None:
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(60)


def die_at_first() -> None:
    """Dies once; the file that it leaves outside its directory keeps it alive the next time."""
    witness = Path(os.environ["PLANTED_WITNESS"])
    if not witness.exists():
        witness.touch()
        os.abort()


class DiesAt:
    """Runs eager's module, and dies at the first function of torch's that `deadly` names."""

    def __init__(self, name: str, deadly: frozenset[str]) -> None:
        self.name = name
        self.deadly = deadly
        self.channels: frozenset[Channel] = ALL_CHANNELS
        self.lanes: tuple[Lane, ...] = (Lane.DIRECT,)
        self.refusals: tuple[Refusal, ...] = ()
        self.form = "module"
        self.per_fork = 64

    def version(self) -> str:
        return "planted 1"

    def compile(self, module: Any, example: tuple[Any, ...], enter: Callable[[str], None]) -> Compiled:
        from torch.overrides import TorchFunctionMode

        deadly = self.deadly

        class Watching(TorchFunctionMode):
            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if getattr(func, "__name__", "") in deadly:
                    segfault()
                return func(*args, **(kwargs or {}))

        def call(*args: Any) -> Any:
            with Watching():
                return module(*args)

        enter("build")
        return Compiled(call, lambda: dict(module.named_buffers()))


GOOD = Deadly("planted-good", nothing)
SEGFAULT = Deadly("planted-segfault", segfault)
ABORT = Deadly("planted-abort", os.abort)
HANG = Deadly("planted-hang", hang)
MEMORY = Deadly("planted-memory", blow_up)
NATIVE_MEMORY = Deadly("planted-native-memory", blow_up_natively)
FAMILY_MEMORY = Deadly("planted-family-memory", family_blow_up)
DAEMON = Deadly("planted-daemon", leave_a_daemon)
DEEP_DAEMON = Deadly("planted-deep-daemon", leave_a_deep_daemon)
OUTPUT = Deadly("planted-output", print_for_ever)
GARBAGE = Deadly("planted-garbage", scribble)
EXIT = Deadly("planted-exit", leave)
POLITE_EXIT = Deadly("planted-polite-exit", exit_politely)
OVERFLOW = Deadly("planted-overflow", overflow)
PARENT_KILLER = Deadly("planted-parent-killer", kill_the_parent)
PARENT_STOPPER = Deadly("planted-parent-stopper", stop_the_parent)
FLAKY = Deadly("planted-flaky", die_at_first)
SEGFAULT_AT_SETITEM = DiesAt("planted-segfault-at-setitem", frozenset({"__setitem__"}))
