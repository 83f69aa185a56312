"""What a corpus entry becomes for other people really shows the fault, with nothing of this tool in it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inplace_fuzz import corpus
from inplace_fuzz.backends import BUILTIN, version_or_reason
from inplace_fuzz.backends.recipes import RECIPES
from inplace_fuzz.core import Kind, Program, ProgramError, TensorSpec, Verdict
from inplace_fuzz.report.reproduce import chosen, report, script, suite_test

CORPUS = Path(__file__).parents[2] / "corpus"
ENTRIES = [corpus.read_entry(path) for path in corpus.files(CORPUS)]
TOLD = [
    pytest.param(entry, fault, id=f"{entry.path.stem}-{fault.backend}")
    for entry in ENTRIES
    for fault in {
        RECIPES[x.backend].body: x
        for x in entry.expectations
        if x.is_fault and x.lane == "direct" and x.backend in RECIPES
    }.values()
    if entry.program is not None
]


# Their scripts need a process of their own: one leaves torch's old executor on, and what inductor imports to find a C++
# compiler (setuptools) refuses a process that has imported distutils.
ALONE = {"torchscript-legacy", "inductor", "inductor-dynamic"}


def test_every_backend_has_a_recipe() -> None:
    assert set(RECIPES) == set(BUILTIN)


def loaded(text: str, directory: Path) -> dict[str, Any]:
    """The script as a module; TorchScript wants the source of what it compiles to be in a file."""
    path = directory / "reproducer.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(f"reproducer_{len(sys.modules)}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return vars(module)


def told_here(text: str, directory: Path) -> Kind:
    """What the script shows, in this process."""
    names = loaded(text, directory)
    eager = names["seen"](names["M"]().eval())
    try:
        other = names["seen"](names["compiled"](names["M"]().eval(), names["inputs"]()))
    except Exception:  # noqa: BLE001  whatever a compiler raises
        return Kind.ERROR
    return Kind.MISMATCH if repr(eager) != repr(other) else Kind.AGREE


def told_alone(text: str, backend: str, directory: Path) -> Kind:
    """What the script prints when it is run as a program."""
    path = directory / "reproducer.py"
    path.write_text(text)
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(directory / "inductor")}
    command = [sys.executable, path]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, env=environment)
    assert done.stdout.startswith("eager"), done.stderr
    if done.returncode < 0:
        return Kind.CRASH
    if done.returncode:
        assert done.returncode == 1, done.stderr
        return Kind.ERROR
    eager, name, other = done.stdout.partition(f"\n{backend} ")
    assert name, done.stdout
    return Kind.MISMATCH if eager.removeprefix("eager").strip() != other.strip() else Kind.AGREE


@pytest.mark.parametrize(("entry", "fault"), TOLD)
def test_the_script_shows_the_difference(entry: corpus.Entry, fault: corpus.Expectation, tmp_path: Path) -> None:
    text = script(entry.program, fault)
    assert "inplace_fuzz" not in text
    version, why = version_or_reason(fault.backend)
    if not version or not fault.covers(version):
        pytest.skip(why or f"this is {version}")
    kind = Verdict.parse(fault.verdict).kind
    alone = kind is Kind.CRASH or fault.backend in ALONE
    assert (told_alone(text, fault.backend, tmp_path) if alone else told_here(text, tmp_path)) is kind


@pytest.mark.parametrize(
    ("backend", "file"), [("tvm", "add-from-itself-d987ee80"), ("torchscript", "foreach-add-ecf276b6")]
)
def test_the_test_fails_today_and_passes_once_the_compiler_is_right(backend: str, file: str, tmp_path: Path) -> None:
    entry = corpus.read_entry(CORPUS / f"{file}.py")
    text = suite_test(entry.program, chosen(entry, backend))
    assert "inplace_fuzz" not in text
    (tmp_path / "test_today.py").write_text(text)
    mended = text.replace("def compiled(module, example):\n", "def compiled(module, example):\n    return module\n\n")
    (tmp_path / "test_mended.py").write_text(mended)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:inplace_fuzz", str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "FAILED test_today.py" in done.stdout


@pytest.mark.parametrize("backend", RECIPES)
def test_a_report_has_the_headings_of_its_tracker(backend: str) -> None:
    program = Program(
        "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        x |= 1\n        return x\n",
        ((TensorSpec((2,), "int64", (0, 1)),),),
        title="Updates x in place: it gives wrong values.",
    )
    fault = corpus.Expectation(
        backend, "direct", "thing 1.0", "mismatch(values)", "known", "agrees with bitwise-method"
    )
    path = CORPUS / "x.py"
    entry = corpus.take_apart(path, corpus.render_entry(program, [fault], ["output", "    eager  [1]"]))
    text = report(entry, program, fault, "Python 3, Linux")
    headings = [line[4:] for line in text.splitlines() if line.startswith("### ")]
    assert headings == [heading for heading, _ in RECIPES[backend].sections]
    assert "thing 1.0" in text
    assert "    eager  [1]" in text
    assert "`x |= y` is written as `x.bitwise_or_(y)`" in text
    compile(script(program, fault), "x", "exec")
    compile(suite_test(program, fault), "x", "exec")


def test_what_cannot_be_told_is_one_line() -> None:
    entry = corpus.read_entry(CORPUS / "select-write-8f540ac1.py")
    with pytest.raises(ProgramError, match="holds no known fault of tvm yet; `inplace-fuzz corpus add"):
        chosen(entry, "tvm")
    row = corpus.Expectation("tvm", "rewritten", "apache-tvm 1", "error(build)", "known")
    only = corpus.Entry(entry.path, "", entry.parsed, entry.program, (row,))
    with pytest.raises(ProgramError, match="only in tvm/rewritten"):
        chosen(only, None)
