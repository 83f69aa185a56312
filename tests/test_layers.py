"""Who may import whom: the rooms that do not know each other, and the processes that never see torch."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from inplace_fuzz.backends import BUILTIN

PACKAGE = Path(__file__).parent.parent / "inplace_fuzz"
ORDER = {
    "core": set(),
    "generate": {"core"},
    "rewrite": {"core"},
    "backends": {"core"},
    "judge": {"core"},
    "execute": {"core", "generate", "rewrite", "backends", "judge"},
    "shrink": {"core", "execute"},
    "conformance": {"core", "rewrite", "backends", "execute"},
    "campaign": {"core", "backends", "judge", "execute", "shrink", "corpus"},
    "report": {"core", "backends", "judge", "execute", "shrink", "campaign", "corpus"},
}


def imported(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{a.name}" for a in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level > 1:
            pytest.fail(f"{path}: imports of other rooms are written in full")
        rooms |= {n.split(".")[1] for n in names if n.startswith("inplace_fuzz.")}
    return rooms


@pytest.mark.parametrize("room", ORDER)
def test_imports_go_one_way(room: str) -> None:
    for path in (PACKAGE / room).rglob("*.py"):
        others = imported(path) - {room}
        assert others <= ORDER[room], f"{path.relative_to(PACKAGE)} imports {sorted(others - ORDER[room])}"


@pytest.mark.parametrize(
    "module",
    [
        "inplace_fuzz",
        "inplace_fuzz.core",
        "inplace_fuzz.corpus",
        "inplace_fuzz.judge",
        "inplace_fuzz.backends",
        "inplace_fuzz.shrink",
        "inplace_fuzz.campaign.run",
        "inplace_fuzz.conformance.score",
        "inplace_fuzz.commands.conformance",
        "inplace_fuzz.execute.engine",
        "inplace_fuzz.execute.drawing",
        "inplace_fuzz.cli",
        "inplace_fuzz.pytest_plugin",
        "inplace_fuzz.report.live",
    ],
)
def test_the_supervisor_never_imports_torch(module: str) -> None:
    code = f"import {module}, sys; assert 'torch' not in sys.modules and 'tvm' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_worker_side_code_needs_the_standard_library_torch_and_its_compiler_alone() -> None:
    allowed = set(sys.stdlib_module_names) | {"torch", "inplace_fuzz"}
    compilers = {
        "tvm.py": {"tvm"},
        "onnxruntime.py": {"onnxruntime"},
        "openvino.py": {"openvino"},
        "executorch.py": {"executorch"},
        "iree.py": {"iree", "numpy"},
        "pnnx.py": {"pnnx"},
        "torch_tensorrt.py": {"torch_tensorrt", "tensorrt"},
        "command.py": {"numpy"},  # it runs where we run ourselves
    }
    for room in ("rewrite", "backends", "judge", "core"):
        for path in (PACKAGE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = []
                if isinstance(node, ast.Import):
                    names = [a.name for a in node.names]
                elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                    names = [node.module]
                strangers = {n.split(".")[0] for n in names} - allowed - compilers.get(path.name, set())
                assert not strangers, f"{path.relative_to(PACKAGE)} imports {sorted(strangers)}"


def worker_modules() -> set[Path]:
    """Every file of ours that a worker can import, from the process that forks workers on. Generators stay at home."""
    seen = {PACKAGE / "__init__.py"}  # imports on demand alone
    waiting = ["inplace_fuzz.execute.zygote", "inplace_fuzz.execute.warmth", "inplace_fuzz.execute.operations"]
    waiting += [target.partition(":")[0] for target in BUILTIN.values()]
    while waiting:
        name = waiting.pop()
        stem = PACKAGE.parent.joinpath(*name.split("."))
        path = next((p for p in (stem.with_suffix(".py"), stem / "__init__.py") if p.is_file()), None)
        if path is None or path in seen:
            continue
        seen.add(path)
        waiting.append(name.rpartition(".")[0])
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                waiting += [a.name for a in node.names if a.name.startswith("inplace_fuzz.")]
            elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("inplace_fuzz"):
                waiting += [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
    return seen


def test_what_a_worker_imports_needs_the_standard_library_torch_and_a_compiler_alone() -> None:
    """Workers run in environments that hold nothing else; tests/execute/test_environments.py runs some that do."""
    allowed = set(sys.stdlib_module_names) | {"torch", "inplace_fuzz"}
    modules = worker_modules()
    assert len(modules) > 30
    assert not {p.parent.name for p in modules} & {"campaign", "shrink", "report", "plugin", "commands", "generate"}
    for path in modules - set((PACKAGE / "backends").glob("*.py")):
        names = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {a.name for a in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module)
        strangers = {n.split(".")[0] for n in names} - allowed
        assert not strangers, f"{path.relative_to(PACKAGE)} imports {sorted(strangers)}"


def test_nothing_is_pickled() -> None:
    """Neither between processes nor on disk: whoever reads a pickle runs what is in it."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            named: list[str] = []
            if isinstance(node, ast.Import):
                named = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                named = [node.module or ""]
            assert not {name.partition(".")[0] for name in named} & {"pickle", "marshal", "shelve", "dill"}, path
            loads = isinstance(node, ast.Attribute) and ast.unparse(node) in {"torch.load", "torch.save", "jit.load"}
            assert not loads, f"{path} line {getattr(node, 'lineno', 0)}"
