"""Whatever a user gets wrong is one clear line on the error stream and exit status 2, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.commands import ran

GOOD = """import torch


class Net(torch.nn.Module):
    def forward(self, x):
        x[0] = 7
        return x


def inputs():
    return (torch.arange(3.0),)
"""
ENTRY = """# Writes.
#
# inplace-fuzz: 1
{row}

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x[0] = 7
        return x


def inputs():
    return (torch.tensor([1.0, 2.0, 3.0]),)
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with one file of each kind that a user could name."""
    directory = tmp_path_factory.mktemp("bad")
    texts = {
        "good.py": GOOD,
        "bad.py": GOOD.replace("x[0] = 7", "x[7] = 7"),
        "raises.py": GOOD.replace("x[0] = 7", "raise ValueError('no')"),
        "no_inputs.py": GOOD.partition("def inputs")[0],
        "broken.py": "class Net(:\n",
        "row.py": ENTRY.format(row="# torchscript   direct"),
        "verdict.py": ENTRY.format(row="# torchscript   direct   torch 2.13.0   well"),
        "newer.py": ENTRY.format(row="").replace("inplace-fuzz: 1", "inplace-fuzz: 99"),
        "no_class.py": "x = 1\n",
        "fine.py": ENTRY.format(row="# torchscript-graph   direct   torch 2.13.0   agree"),
        "file": "",
        "text.sqlite": "this is no database, and long enough to be taken for one" * 50,
    }
    for name, text in texts.items():
        (directory / name).write_text(text)
    (directory / "binary.py").write_bytes(b"\xff\xfe\x00\x80" * 20)
    corpus = directory / "corpus"
    corpus.mkdir()
    (corpus / "broken-00000000.py").write_text(texts["broken.py"])
    return directory


_ABSENT = "tests.e2e.absent:ABSENT"
_SHORT = ("run", "--time", "1s", "--backends", "torchscript-graph", "--no-save")
CASES = {
    # what the user got wrong: (the command, words that the line must hold)
    "unknown backend": (("run", "--backends", "tmv"), ("no backend 'tmv'", "torchscript")),
    "unknown backend in check": (("check", "good.py:Net", "--backends", "tmv"), ("no backend 'tmv'",)),
    "no backend": (("run", "--backends", ","), ("at least one backend",)),
    "backend not installed": (("run", "--backends", _ABSENT, "--time", "1s"), ("absent is not installed",)),
    "backend not installed in check": (("check", "good.py:Net", "--backends", _ABSENT), ("absent is not installed",)),
    "backend that cannot be imported": (("run", "--backends", "no.where:X", "--time", "1s"), ("no.where:X",)),
    "no time": (("run", "--time", "0"), ("'0'", "60s")),
    "no time with a unit": (("run", "--time", "0s"), ("'0s'", "60s")),
    "time in words": (("run", "--time", "soon"), ("'soon'", "60s")),
    "no examples": (("run", "--examples", "0"), ("--examples",)),
    "shard": (("run", "--shard", "3/2"), ("3/2", "2/4")),
    "workers": (("run", "--workers", "0"), ("--workers",)),
    "lane": (("run", "--lane", "fast"), ("'fast'", "direct")),
    "lane that the backends lack": (
        ("check", "good.py:Net", "--backends", "torchscript", "--lane", "legalised"),
        ("inplace-fuzz backends",),
    ),
    "mix": ((*_SHORT, "--mix", "everything"), ("everything",)),
    "corpus in a file": (("run", "--time", "1s", "--corpus", "file/corpus"), ("file/corpus", "--corpus")),
    "corpus is a file": (("run", "--time", "1s", "--corpus", "file"), ("file", "--corpus")),
    "store in a file": ((*_SHORT, "--store", "file/s.sqlite"), ("file/s.sqlite", "--store")),
    "store is no database": ((*_SHORT, "--store", "text.sqlite"), ("text.sqlite", "--store")),
    "no store to report": (("report", "--store", "none.sqlite"), ("none.sqlite", "--store")),
    "no store to merge": (("merge", "none.sqlite", "--store", "new.sqlite"), ("none.sqlite",)),
    "no corpus to list": (("corpus", "list", "--corpus", "nowhere"), ("nowhere", "--corpus")),
    "broken corpus": (("corpus", "list", "--corpus", "corpus"), ("broken-00000000.py", "line 1")),
    "entry is not Python": (("replay", "broken.py"), ("broken.py", "line 1")),
    "entry is binary": (("replay", "binary.py"), ("binary.py", "UTF-8")),
    "entry has a short row": (("replay", "row.py"), ("row.py", "verdict")),
    "entry has no such verdict": (("replay", "verdict.py"), ("verdict.py", "'well'", "agree")),
    "entry of a later format": (("replay", "newer.py"), ("newer.py", "99", "upgrade")),
    "entry without a class": (("replay", "no_class.py"), ("no_class.py", "class")),
    "entry that is not there": (("replay", "none.py"), ("none.py",)),
    "entry is a directory": (("replay", "corpus"), ("corpus",)),
    "show what is not there": (("show", "none.py"), ("none.py",)),
    "show what is binary": (("show", "binary.py"), ("binary.py", "UTF-8")),
    "check what is not there": (("check", "none.py:Net"), ("none.py", "FILE.py:Class")),
    "check what is binary": (("check", "binary.py:Net"), ("binary.py", "UTF-8")),
    "check what is not Python": (("check", "broken.py:Net"), ("broken.py", "line 1")),
    "check without such a class": (("check", "good.py:Nat"), ("'Nat'", "Net")),
    "check without inputs": (("check", "no_inputs.py:Net"), ("inputs()", "--input")),
    "check with an input that is none": (("check", "good.py:Net", "--input", "f33[2]"), ("f33",)),
    "eager cannot run it": (("check", "bad.py:Net", "--backends", "torchscript"), ("eager", "index 7")),
    "eager raises": (("check", "raises.py:Net", "--backends", "torchscript"), ("eager", "ValueError: no")),
    "rewrite what is not there": (("rewrite", "none.py:Net"), ("none.py",)),
    "shrink without a fault": (("shrink", "fine.py"), ("fine.py", "--backend")),
    "shrink what is well": (("shrink", "fine.py", "--backend", "torchscript-graph"), ("no fault",)),
    "shrink for no backend": (("shrink", "fine.py", "--backend", "tmv"), ("no backend 'tmv'",)),
    "no such case": (("conformance", "--case", "slice_hole"), ("'slice_hole'", "--save")),
    "no such family": (("conformance", "--family", "slices"), ("'slices'", "slice")),
    "conformance of what is not installed": (("conformance", "--backends", _ABSENT), ("absent is not installed",)),
    "conformance in a lane that is not there": (
        ("conformance", "--backends", "torchscript", "--lane", "legalised"),
        ("inplace-fuzz backends",),
    ),
    "report into a file": (("report", "--store", "none.sqlite", "--out", "file/report"), ("none.sqlite",)),
    "no such command": (("ran",), ("'ran'",)),
}


@pytest.mark.parametrize("what", CASES)
def test_a_mistake_is_one_clear_line(here: Path, what: str) -> None:
    arguments, words = CASES[what]
    done = ran(here, *arguments, seconds=60)
    said = done.stdout + done.stderr
    assert done.returncode == 2, said
    assert "Traceback" not in said, said
    lines = [line for line in done.stderr.splitlines() if line.startswith(("inplace-fuzz:", "Error:"))]
    assert len(lines) == 1, said
    rest = [line for line in done.stderr.splitlines() if line and line != lines[0]]
    assert all(line.startswith(("Usage:", "Try ")) for line in rest), said
    for word in words:
        assert word in lines[0], said


def test_a_good_module_agrees(here: Path) -> None:
    done = ran(here, "check", "good.py:Net", "--backends", "torchscript,torchscript-graph")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("agree") == 4


def test_a_module_that_a_compiler_gets_wrong_is_shown(here: Path) -> None:
    done = ran(here, "check", "good.py:Net", "--backends", "tests.planted.naive:DEAD_WRITES")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "mismatch(values, inputs)" in done.stdout
    assert "x[0] = 7" in done.stdout
