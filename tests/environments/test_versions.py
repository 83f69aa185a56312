"""Two versions of one compiler: columns of their own, one as the baseline of the other, and the search between them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from inplace_fuzz.campaign.bisect import BisectError, Boundary, Tried, search
from inplace_fuzz.corpus import read_entry
from inplace_fuzz.execute.environments import installed
from tests.environments.conftest import ROOT, Command
from tests.environments.local_index import PLANTED

RELEASES = tuple("abcdefghij")
ENTRY = f"""# One is added to the output.
#
# inplace-fuzz: 1
# {PLANTED}   direct   planted-compiler 1.3   mismatch(values)   known   https://tracker/7
# torchscript   direct   torch 2.13.0   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x[0] = 7
        return x * 1


def inputs():
    return (torch.tensor([1.0, 2.0]),)
"""


@pytest.mark.parametrize("first", range(len(RELEASES)))
@pytest.mark.parametrize("silent", ["", "a", "j", "e", "def", "abcd", "ghij", "acegi"])
def test_the_first_bad_release_is_found_whatever_says_nothing(first: int, silent: str) -> None:
    asked: dict[str, Tried] = {}

    def ask(release: str) -> Tried:
        bad = None if release in silent else RELEASES.index(release) >= first
        return asked.setdefault(release, Tried(bad, "mismatch(values)" if bad else "agree"))

    speaking = [r for r in RELEASES if r not in silent]
    good = [r for r in speaking if RELEASES.index(r) < first]
    bad = [r for r in speaking if RELEASES.index(r) >= first]
    if not bad:
        with pytest.raises(BisectError, match="does not have the fault, but gives agree; name a release"):
            search(RELEASES, ask)
        return
    found = search(RELEASES, ask)
    assert (found.good, found.bad) == (good[-1] if good else "", bad[0])
    assert set(found.between) == (
        set(RELEASES[RELEASES.index(good[-1]) + 1 : RELEASES.index(bad[0])]) if good else set()
    )
    assert len(set(asked) - set(silent)) <= 7


def test_the_ends_can_be_given_and_are_checked() -> None:
    asked: list[str] = []

    def ask(release: str) -> Tried:
        asked.append(release)
        return Tried("d" <= release <= "f", "agree")

    assert search(RELEASES, ask, good="b", bad="f") == Boundary("c", "d", ())
    assert not set(asked) & set("aghij")
    with pytest.raises(BisectError, match="j does not have the fault"):
        search(RELEASES, ask)
    with pytest.raises(BisectError, match="e gives agree, so it is no good end"):
        search(RELEASES, ask, good="e", bad="f")


def test_bisecting_writes_the_boundary_into_the_entry_and_goes_on_where_it_was(
    command: Command, tmp_path: Path
) -> None:
    path = tmp_path / "entry.py"
    path.write_text(ENTRY)
    before = [e.name for e in installed()]
    ran = command("bisect", "entry.py", "--trust")
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert lines[0] == "planted-compiler: 5 releases from 1.0 to 2.0"
    assert [line for line in lines if not line.startswith(" ")][1:-2] == ["2.0", "1.3", "1.2", "1.0", "1.1"]
    said = [re.sub(r"\d+ s", "1 s", line.strip()) for line in lines if re.match(r"    (bad|good|says)", line)]
    assert said[0].startswith("says nothing: planted-compiler==2.0 planted-runtime==2.0 cannot be had: pip says Cannot")
    assert [line.partition(" (")[0] for line in said[1:]] == ["bad: mismatch(values)"] * 2 + ["good: agree"] * 2
    assert lines[-2:] == ["first bad: planted-compiler 1.2; 1.1 gives agree", "wrote entry.py"]
    assert [(x.backend, x.versions, x.verdict, x.status, x.note) for x in read_entry(path).expectations] == [
        (PLANTED, "planted-compiler >=1.2,<=1.3", "mismatch(values)", "known", "https://tracker/7"),
        (PLANTED, "planted-compiler >=1.0,<=1.1", "agree", "", ""),
        ("torchscript", "torch 2.13.0", "agree", "", ""),
    ]
    assert [e.name for e in installed()] == before  # those that were made for it are gone again
    text = path.read_text()
    again = command("bisect", "entry.py", "--trust", "--bad", "1.3")
    assert again.stdout.splitlines()[1:] == [
        f"going on where .inplace-fuzz/bisect/entry-{PLANTED.replace(':', '.')}-direct.json ends: 4 releases are known",
        "first bad: planted-compiler 1.2; 1.1 gives agree",
        "wrote entry.py",
    ]
    assert path.read_text() == text


def test_replaying_goes_to_the_environments_whose_versions_the_rows_speak_of(command: Command, tmp_path: Path) -> None:
    rows = "\n".join(
        f"# {PLANTED}   direct   planted-compiler {version}   {verdict}"
        for version, verdict in (("1.1", "agree"), ("1.2", "mismatch(values)   known"), ("1.0", "agree"))
    )
    (tmp_path / "entry.py").write_text(re.sub(r"# planted.*\n# torch.*", rows, ENTRY))
    ran = command("replay", "entry.py", "--trust")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        f"entry.py  {PLANTED}@1.1/direct  agree  as expected",
        f"entry.py  {PLANTED}@1.2/direct  mismatch(values)  as expected",
        f"entry.py  {PLANTED}/direct  mismatch(values)  (recorded for planted-compiler 1.0; this is planted-compiler 1.2)",
    ]
    one = command("replay", "entry.py", "--backends", f"{PLANTED}@1.1")
    assert [line.split("  ")[1:3] for line in one.stdout.splitlines()] == [[f"{PLANTED}@1.1/direct", "agree"]] * 3


def test_a_campaign_has_a_column_for_each_version_and_rows_for_both(command: Command, tmp_path: Path) -> None:
    columns = f"{PLANTED}@1.1,{PLANTED}@1.2"
    ran = command("run", "--examples", "12", "--seed", "3", "--backends", columns, "--report", "out")
    assert ran.returncode == 0, ran.stderr
    assert "FOUND  mismatch(values)" in ran.stdout
    entries = [read_entry(path) for path in (tmp_path / "corpus").glob("*.py")]
    assert entries
    for entry in entries:
        assert [(x.backend, x.versions, x.verdict) for x in entry.expectations] == [
            (PLANTED, "planted-compiler 1.2", "mismatch(values)"),
            (PLANTED, "planted-compiler 1.1", "agree"),
        ]
    report = (tmp_path / "out" / "report.md").read_text()
    assert f"{PLANTED}@1.1" in report
    assert f"{PLANTED}@1.2" in report


def test_a_baseline_keeps_only_what_it_gets_right(command: Command, tmp_path: Path) -> None:
    def found(backend: str, baseline: str) -> int:
        ran = command(
            "run", "--examples", "8", "--seed", "3", "--no-save", "--store", f"{backend}.sqlite",
            "--backends", f"{PLANTED}@{backend}", "--baseline", f"{PLANTED}@{baseline}",
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.count("FOUND")

    assert found("1.2", "1.1") > 0
    (tmp_path / "index").mkdir()
    assert command("env", "create", f"{PLANTED}==1.3").returncode == 0
    try:
        assert found("1.3", "1.2") == 0
    finally:
        command("env", "remove", f"{PLANTED}==1.3")


def test_backends_says_in_which_environment_each_is(command: Command) -> None:
    ran = command("backends", "--backends", f"{PLANTED},torchscript")
    assert f"{PLANTED}  planted-compiler 1.2  (in the environment {PLANTED}@1.2)" in ran.stdout
    assert "torchscript" in ran.stdout
    everything = command("backends").stdout
    assert re.search(rf"(?m)^{PLANTED}@1\.1 +planted-compiler 1\.1  \(in the environment {PLANTED}@1\.1\)", everything)
    assert f"{PLANTED}@1.2 " not in everything  # it is what the bare name is


# Where the package is installed, pytest has loaded its plugin already and takes it no second time.
_INSTALLED = any(e.value == "inplace_fuzz.pytest_plugin" for e in entry_points(group="pytest11"))
_PLUGIN = () if _INSTALLED else ("-p", "inplace_fuzz.pytest_plugin")


def test_the_plugin_replays_in_environments_and_gates_against_a_baseline(index: Path, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\ninplace_fuzz_corpus = corpus\ninplace_fuzz_trust = true\n")
    (tmp_path / "corpus").mkdir()
    row = f"# {PLANTED}   direct   planted-compiler 1.1   agree"
    (tmp_path / "corpus" / "entry.py").write_text(re.sub(r"# planted.*\n# torch.*", row, ENTRY))

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pytest", *_PLUGIN, "-p", "no:cacheprovider", *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(index)])},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    replayed = run()
    assert "1 passed" in replayed.stdout, replayed.stdout
    gated = run(
        "--fuzz",
        "--fuzz-examples=6",
        "--fuzz-seed=3",
        f"--fuzz-backends={PLANTED}@1.2",
        f"--fuzz-baseline={PLANTED}@1.1",
    )
    assert "1 failed" in gated.stdout, gated.stdout
    assert "FOUND  mismatch(values)  planted_adapter:BACKEND (planted-compiler 1.2)  direct lane" in gated.stdout
    assert f"--fuzz-baseline={PLANTED}@1.1 --fuzz-seed=3" in gated.stdout
    wrong = run("--fuzz", "--fuzz-examples=6", f"--fuzz-backends={PLANTED}@1.2", f"--fuzz-baseline={PLANTED}@")
    assert f"ERROR: --fuzz-baseline: '{PLANTED}@' names no version" in wrong.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("run", "--backends", f"{PLANTED}@1.2", "--baseline", f"{PLANTED}@1.2"),
            "no other version of planted_adapter",
        ),
        (("run", "--backends", "torchscript", "--baseline", f"{PLANTED}@1.2"), "no other version of planted_adapter"),
        (
            ("run", "--backends", f"{PLANTED}@1.2", "--baseline", f"{PLANTED}@1.0"),
            "env create planted_adapter:BACKEND==1.0",
        ),
        (
            ("run", "--backends", f"{PLANTED}@1.0", "--time", "1s"),
            "`inplace-fuzz env create planted_adapter:BACKEND==1.0`",
        ),
        (("check", "net.py:M", "--backends", f"{PLANTED}@"), f"'{PLANTED}@' names no version"),
        (("env", "create", "tvm==0.26 0"), "'tvm==0.26 0' is no backend and version; write for example tvm==0.26.0"),
        (("env", "create", "tmv"), "there is no backend 'tmv'"),
        (("env", "create", "tests.planted.deaths:GOOD"), "has no REQUIREMENTS; add them beside it (docs/backends.md)"),
        (("env", "remove", "tvm"), "there is no environment tvm; there are: planted_adapter:BACKEND@1.1"),
        (
            ("bisect", "bare.py"),
            "bare.py records no known fault; say whose is meant, for example --backend tvm",
        ),
        (("bisect", "entry.py", "--backend", f"{PLANTED}@1.1"), f"name the backend alone, --backend {PLANTED}"),
        (
            ("bisect", "entry.py", "--trust", "--bad", "7"),
            "the index has no planted-compiler 7; it has 1.0, 1.1, 1.2, 1.3, 2.0",
        ),
        (("bisect", "entry.py", "--trust", "--bad", "1.1"), "1.1 does not have the fault, but gives agree"),
        (("bisect", "entry.py", "--lane", "rewritten", "--backend", PLANTED, "--bad", "1.2"), "has no rewritten lane"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_is_one_clear_line(command: Command, tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    (tmp_path / "entry.py").write_text(ENTRY)
    (tmp_path / "bare.py").write_text(re.sub(r"(?m)^#.*\n", "", ENTRY))
    (tmp_path / "net.py").write_text(re.sub(r"(?m)^#.*\n", "", ENTRY))
    ran = command(*arguments)
    assert ran.returncode == 2, ran.stdout
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
