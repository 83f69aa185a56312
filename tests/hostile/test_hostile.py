"""Nothing of a stranger's file is run unless it keeps to the allowlist: every one is refused, in one line, at its line.

What the project itself writes, draws and tests with is all let in, so that the allowlist is not simply empty.
"""

from __future__ import annotations

import json
import re
import shlex
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from inplace_fuzz import ProgramError, corpus
from inplace_fuzz.api import load_program
from inplace_fuzz.cli import cli
from inplace_fuzz.conformance import CASES
from inplace_fuzz.core import Program, render
from inplace_fuzz.core.intake import nesting
from inplace_fuzz.core.vetting import vet
from inplace_fuzz.generate import CONTROL_FLOW, DEFAULT, ROUNDING, SHARED_INPUTS, draw_many
from tests.hostile.texts import CANARY, FILES, HOSTILE, ODD, text

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "corpus").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def typed(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments, prog_name="inplace-fuzz", catch_exceptions=False)


def refusal(done: Result) -> str:
    """The one line that it said."""
    assert done.exit_code == 2, done.output
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.output
    assert lines[0].startswith("inplace-fuzz: ")
    assert not done.stdout
    return lines[0]


# ------------------------------------------------------------------------------------------------------------- refused
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_refused_at_its_line(here: Path, name: str) -> None:
    hostile = HOSTILE[name]
    path = here / "corpus" / "file.py"
    path.write_text(hostile.source, encoding="utf-8")
    started = time.monotonic()
    said = refusal(typed("show", "corpus/file.py"))
    assert time.monotonic() - started < 10
    assert f"corpus/file.py line {hostile.line} " in said
    assert hostile.word in said
    answer = "nested" in said or "f-string of" in said or "--trust" in said
    assert answer, said
    assert not list(here.rglob(CANARY))


@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_refused(here: Path, name: str) -> None:
    make, word = FILES[name]
    make(here / "corpus" / "file.py")
    for command in (("show", "corpus/file.py"), ("replay",)):
        said = refusal(typed(*command))
        assert "corpus/file.py" in said
        assert word in said


@pytest.mark.parametrize("name", ODD)
def test_an_odd_file_is_read_or_refused(here: Path, name: str) -> None:
    path = here / "corpus" / "file.py"
    path.write_text(ODD[name])
    try:
        vet(ODD[name], name=path.name)
        entry = corpus.read_entry(path)
    except (ProgramError, corpus.CorpusError) as error:
        assert "file.py" in str(error)  # noqa: PT017 - it may well be read
        return
    if entry.program is not None:
        assert Program.from_json(json.loads(json.dumps(entry.program.to_json()))) == entry.program
    for row in entry.expectations:
        assert isinstance(row.covers("torch 2.13.0"), bool)
    assert typed("corpus", "list").exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_showing_an_odd_file_is_no_traceback(here: Path, name: str) -> None:
    (here / "corpus" / "file.py").write_text(ODD[name])
    done = typed("show", "corpus/file.py")
    assert done.exit_code == 0 or refusal(done)


def test_a_name_that_cannot_be_shown_is_refused(here: Path) -> None:
    (here / "corpus" / "x\n\x1b[2Jy.py").write_text(text())
    assert r"'corpus/x\n\x1b[2Jy.py'" in refusal(typed("replay"))


def test_a_name_that_a_shell_would_run_is_quoted_where_it_is_to_be_typed(here: Path) -> None:
    name = f"x;touch {CANARY};$(touch {CANARY}).py"
    (here / "corpus" / name).write_text(text())
    said = refusal(typed("issue", f"corpus/{name}"))
    (command,) = re.findall(r"`inplace-fuzz corpus add (.*)` writes down", said)
    assert shlex.split(command) == [f"corpus/{name}"]


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) + len(FILES) >= 100
    for name, hostile in HOSTILE.items():
        with pytest.raises(ProgramError):
            vet(hostile.source, name=name)


COMMANDS = {
    "replay": ("corpus/file.py",),
    "show": ("corpus/file.py",),
    "rewrite": ("corpus/file.py",),
    "check": ("corpus/file.py",),
    "shrink": ("corpus/file.py", "--backend", "torchscript-graph"),
    "bisect": ("corpus/file.py", "--backend", "tvm"),
    "corpus update": ("corpus/file.py",),
    "corpus add": ("corpus/file.py",),
    "issue": ("corpus/file.py",),
    "export": ("corpus/file.py",),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_runs_a_file_refuses_it(here: Path, command: str) -> None:
    (here / "corpus" / "file.py").write_text(HOSTILE["open"].source)
    said = refusal(typed(*command.split(), *COMMANDS[command]))
    assert "line 11" in said
    assert "--trust" in said
    assert not list(here.rglob(CANARY))


def test_the_list_of_commands_is_whole() -> None:
    """Every command that takes a program file has `--trust`, and stands above."""
    found = set()
    for path, command in all_commands(cli):
        arguments = {p.name for p in command.params if isinstance(p, click.Argument)}
        if arguments & {"target", "targets", "path", "paths"}:
            found.add(path)
            assert "trust" in {p.name for p in command.params}, path
    assert found == set(COMMANDS)


def all_commands(group: click.Group, prefix: str = "") -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    for name, command in group.commands.items():
        path = f"{prefix} {name}".strip()
        found += all_commands(command, path) if isinstance(command, click.Group) else [(path, command)]
    return found


def test_replay_runs_nothing_where_one_file_is_hostile(here: Path) -> None:
    (here / "corpus" / "a.py").write_text(text())
    (here / "corpus" / "b.py").write_text(HOSTILE["open"].source)
    assert "b.py line 11" in refusal(typed("replay"))


def test_listing_needs_no_trust(here: Path) -> None:
    (here / "corpus" / "file.py").write_text(HOSTILE["open"].source)
    done = typed("corpus", "list")
    assert done.exit_code == 0
    assert "torchscript-graph" in done.stdout


def test_code_that_a_table_names_is_not_imported(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "evil.py").write_text(f"open({str(here / CANARY)!r}, 'w')\n")
    monkeypatch.syspath_prepend(str(here))
    source = text().replace(
        "# torchscript-graph   direct   torch 2.13.0   agree", "# evil:X   direct   x 1   mismatch(values)   known"
    )
    (here / "corpus" / "file.py").write_text(source)
    done = typed("replay")
    assert done.exit_code == 0, done.output
    assert "evil:X/direct  unavailable: the file names code to be imported; --trust imports it" in done.stdout
    assert "names code to be imported, evil:X; --trust" in refusal(typed("shrink", "corpus/file.py"))
    assert not (here / CANARY).exists()


@pytest.mark.parametrize("row", ['tvm")or(1   direct   x 1   agree', "a/b   direct   x 1   agree"])
def test_a_backend_that_is_no_name_is_refused(here: Path, row: str) -> None:
    (here / "corpus" / "file.py").write_text(text().replace("torchscript-graph   direct   torch 2.13.0   agree", row))
    assert "no name of a backend" in refusal(typed("replay"))


# ------------------------------------------------------------------------------------------------------------ trusted
@pytest.mark.parametrize("name", ["open", "default argument", "torch.save"])
def test_trust_runs_it(here: Path, name: str) -> None:
    """With `--trust` the same files do what they are made for, so the refusals above are what stops them."""
    canary = here / CANARY
    source = HOSTILE[name].source.replace(f"'{CANARY}'", repr(str(canary)))
    path = here / "corpus" / "file.py"
    path.write_text(source)
    with pytest.raises(ProgramError, match="--trust"):
        load_program(path)
    done = typed("check", "corpus/file.py", "--trust", "--backends", "torchscript-graph", "--lane", "direct")
    assert "torchscript-graph  direct" in done.stdout, done.output
    assert canary.exists()


def test_a_class_that_is_named_is_the_users_own(here: Path) -> None:
    source = text(top="import math\nimport os\n\nimport torch", body="x[0] = math.floor(len(os.sep))")
    (here / "mine.py").write_text(source.replace("class M", "class Net"))
    done = typed("check", "mine.py:Net", "--backends", "torchscript-trace", "--lane", "direct")
    assert done.exit_code == 0, done.output
    assert "agree" in done.stdout


# --------------------------------------------------------------------------------------------------------------- let in
def test_the_projects_own_corpus_is_let_in() -> None:
    paths = corpus.files(ROOT / "corpus")
    assert len(paths) > 20
    for path in paths:
        vet(path.read_text(), name=path.name)
        assert load_program(path).calls is not None


def test_every_conformance_case_is_let_in() -> None:
    refused = {}
    for case in CASES:
        try:
            vet(case.source, name=case.name)
        except ProgramError as error:
            refused[case.name] = str(error)
    assert not refused
    assert len(CASES) > 700


def drawn_are_let_in(count: int) -> None:
    seen = 0
    for mix in (DEFAULT, CONTROL_FLOW, SHARED_INPUTS, ROUNDING):

        def look(program: object) -> None:
            nonlocal seen
            seen += 1
            vet(render(program), name=f"program {seen}")  # type: ignore[arg-type]

        draw_many(4242, count // 4, look, features=mix, rounding=mix is ROUNDING)
    assert seen >= count // 4 * 4


def test_drawn_programs_are_let_in() -> None:
    drawn_are_let_in(200)


@pytest.mark.slow
def test_thousands_of_drawn_programs_are_let_in() -> None:
    drawn_are_let_in(20_000)


ORDINARY = """import math
from typing import Dict, List, Optional, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

SIZE = 3


def helper(x: Tensor, times: int = 2) -> Tensor:
    \"\"\"It's a helper, with "quotes" and {braces}.\"\"\"
    return x.mul_(times)


class Part(nn.Module):
    __constants__ = ["scale"]
    cache: Dict[str, Tensor]

    def __init__(self, size: int = SIZE):
        super().__init__()
        self.scale = 2
        self.lin = nn.Linear(size, size)
        self.weight = nn.Parameter(torch.rand(size))
        self.register_buffer("state", torch.zeros(size), persistent=False)

    @torch.no_grad()
    def step(self, x: Tensor, flag: Optional[bool] = None) -> Tuple[Tensor, List[Tensor]]:
        self.state.copy_(x[0])
        self.state += 1
        out: List[Tensor] = []
        for k, row in enumerate(x.unbind(0)):
            if flag or k % 2 == 0:
                row[...] = self.lin(row) * self.scale
            elif not flag:
                continue
            out.append(row)
        return x, out


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, input, index, mask):
        v = input.t()[1:, None]
        v[:, 0] += F.pad(v.reshape(-1), (0, 1))[: v.numel()].view_as(v[:, 0]) @ torch.eye(v.shape[-1])
        torch._foreach_add_([input], 1)
        torch.ops.aten.add_.Tensor(input, 1)
        input.index_put_((index,), torch.tensor(math.sqrt(4.0)), accumulate=True)
        input[mask] = -1
        with torch.no_grad():
            rows = [helper(r) for r in input]
        k = 0
        while k < 2:
            k += 1
        assert k == 2, "two rounds"
        if k > 2:
            raise ValueError("never")
        x, out = self.part.step(input)
        del k
        return {"x": x, "rows": torch.stack(rows), "y": (out, *rows), "n": self.part.state, "d": x.dtype == torch.float32}


def inputs():
    x = torch.arange(9.0).reshape(3, 3)
    return x, torch.tensor([0, 2]), torch.tensor([True, False, True])


if __name__ == "__main__":
    import sys

    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend=sys.argv[1])
"""


def test_ordinary_programs_are_let_in() -> None:
    vet(ORDINARY, name="ordinary")
    nesting(ORDINARY, name="ordinary")
