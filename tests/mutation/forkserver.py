"""Runs the pass's tests on mutants without importing torch for each: a warm process forks once per mutant.

    python tests/mutation/forkserver.py serve SOCKET     in the root of the tree whose files are mutated
    python tests/mutation/forkserver.py test SOCKET      exits 0 when all tests pass, 1 when one fails: a mutant killed

The warm process knows torch and pytest and nothing of ours, so a fork reads `inplace_fuzz` as it stands on disk then.
"""

from __future__ import annotations

import importlib
import os
import resource
import select
import socket
import sys
from pathlib import Path
from typing import NoReturn

# What kills soonest comes first: pytest stops at the first failure.
TESTS = (
    "test_rows.py", "test_api.py", "test_repeats.py", "test_conformance.py", "test_drawn.py", "test_drawn_fx.py",
    "test_faithful.py", "test_pass_docs.py", "test_census.py",
)  # fmt: skip
CPU_SECONDS = 120
MEMORY_BYTES = 4 << 30


def serve(path: str) -> None:
    """Until the socket's file is removed: one connection, one fork, one byte back with its exit status."""
    warm_up()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(1)
    print("ready", flush=True)
    while Path(path).exists():
        if select.select([listener], [], [], 1.0)[0]:
            with listener.accept()[0] as connection:
                connection.sendall(bytes([run(connection)]))


def warm_up() -> None:
    """What every test imports anyway."""
    for name in ("torch", "torch.export", "torch.fx", "torch._dynamo", "pytest", "hypothesis.strategies", "tests"):
        importlib.import_module(name)
    assert not any(name.startswith("inplace_fuzz") for name in sys.modules)


def run(connection: socket.socket) -> int:
    pid = os.fork()
    if pid == 0:
        check()
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return min(os.waitstatus_to_exitcode(status) & 0xFF, 255)
        if select.select([connection], [], [], 0.05)[0]:  # whoever asked is gone
            os.kill(pid, 9)


def check() -> NoReturn:
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES,) * 2)
    sys.dont_write_bytecode = True
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    files = [f"tests/rewrite/{name}" for name in TESTS]
    status = 1
    try:
        status = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "inplace_fuzz.pytest_plugin", *files]))
    finally:
        os._exit(status)


def test(path: str) -> int:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        answer = connection.recv(1)
    return answer[0] if answer else 1


if __name__ == "__main__":
    action, where = sys.argv[1:]
    sys.path.insert(0, os.getcwd())
    sys.exit(serve(where) if action == "serve" else test(where))
