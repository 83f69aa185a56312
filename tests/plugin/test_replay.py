"""A corpus as ordinary tests: what holds passes, what does not says how to update, the rest is skipped and says why."""

import re

import pytest

from tests.plugin.runs import ABSENT, RIGHT, WRONG, run

pytestmark = pytest.mark.xdist_group("plugin-replay")  # its tests share a directory
PROGRAM = """
import torch


class M(torch.nn.Module):
    def forward(self, x):
        x[0] = 9
        return x + 0


def inputs():
    return ({inputs},)
"""


def write(directory, name, *rows, inputs="torch.tensor([1.0, 2.0])"):
    table = "".join(f"# {'   '.join(row)}\n" for row in rows)
    (directory / "corpus" / name).write_text(
        f"# It writes.\n#\n# inplace-fuzz: 1\n{table}{PROGRAM.format(inputs=inputs)}"
    )


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    directory = tmp_path_factory.mktemp("project")
    (directory / "corpus").mkdir()
    (directory / "pytest.ini").write_text("[pytest]\ninplace_fuzz_corpus = corpus\ninplace_fuzz_trust = true\n")
    write(
        directory,
        "holds.py",
        (RIGHT, "direct", "right 1.0", "agree"),
        (WRONG, "direct", "wrong 1.0", "mismatch(inputs)", "known"),
    )
    write(directory, "broke.py", (WRONG, "direct", "wrong 1.0", "agree"))
    write(
        directory, "gone.py", (RIGHT, "direct", "right >=0.9,<2", "mismatch(values)", "known", "https://example.org/7")
    )
    write(
        directory,
        "other.py",
        (RIGHT, "direct", "right 0.8", "mismatch(values)", "known"),
        (ABSENT, "direct", "absent 1", "agree"),
    )
    write(directory, "computed.py", (RIGHT, "direct", "right 1.0", "agree"), inputs="torch.ones(3).cumsum(0)")
    write(directory, "unsteady.py", (RIGHT, "direct", "right 1.0", "mismatch(values)", "known", "comes and goes"))
    write(directory, "malformed.py", (RIGHT, "direct", "agree"))
    (directory / "corpus" / "conftest.py").write_text("")
    (directory / "corpus" / "_notes.py").write_text("raise RuntimeError\n")
    return directory


@pytest.fixture(scope="module")
def replayed(project):
    return run(project, "corpus", "-v", "-rsf", "-p", "no:cacheprovider", "--continue-on-collection-errors")


def outcome(said, name):
    return {
        line.split()[0]: line.split()[1]
        for line in said.splitlines()
        if line.startswith("corpus/") and len(line.split()) > 1
    }[name]


def test_what_holds_passes(replayed):
    said = replayed[1]
    assert outcome(said, f"corpus/holds.py::{RIGHT}/direct") == "PASSED", said
    assert outcome(said, f"corpus/holds.py::{WRONG}/direct") == "PASSED"
    assert outcome(said, f"corpus/computed.py::{RIGHT}/direct") == "PASSED"
    assert outcome(said, f"corpus/unsteady.py::{RIGHT}/direct") == "PASSED"


def test_an_agreement_that_broke_shows_the_difference_and_how_to_update(replayed):
    status, said = replayed
    assert status == 1
    block = said[said.index("an agreement broke  (wrong 1.0)") :]
    assert "    expected  agree\n    came      mismatch(inputs)" in block
    assert "[9, 2]" in block
    assert "    accept    inplace-fuzz corpus update corpus/broke.py" in block
    assert f"FAILED corpus/broke.py::{WRONG}/direct - an agreement broke" in said


def test_a_known_fault_that_is_gone_fails_with_its_note(replayed):
    block = replayed[1][replayed[1].index("a known fault is gone  (right 1.0)") :]
    assert "    note      https://example.org/7" in block
    assert "    accept    inplace-fuzz corpus update corpus/gone.py" in block


def test_other_versions_and_absent_backends_are_skipped_where_the_table_says_so(replayed):
    said = replayed[1]
    assert (
        "SKIPPED [1] corpus/other.py: recorded for right 0.8; right 1.0 is installed, which `inplace-fuzz corpus"
        in said
    )
    assert "SKIPPED [1] corpus/other.py: ABSENT is not installed; `pip install absent` brings it" in said


def test_a_malformed_file_stops_no_other_under_continue_on_collection_errors(replayed):
    assert "ERROR collecting corpus/malformed.py" in replayed[1]


def test_a_malformed_file_is_one_clear_line(project):
    status, said = run(project, "corpus/malformed.py", "-q")
    assert status == 2
    assert "cannot read the table row" in said
    assert "Traceback" not in said


def test_files_are_not_imported_even_when_they_are_named(project):
    (project / "corpus" / "evil.py").write_text("# inplace-fuzz: 1\n\nimport torch\n\nraise RuntimeError\n")
    try:
        said = run(project, "corpus/evil.py", "-q", "--doctest-modules")[1]
    finally:
        (project / "corpus" / "evil.py").unlink()
    assert "RuntimeError" not in said.replace("raise RuntimeError", "")


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    """A project that has not said that it trusts its corpus."""
    directory = tmp_path_factory.mktemp("strangers")
    (directory / "corpus").mkdir()
    (directory / "pytest.ini").write_text("[pytest]\ninplace_fuzz_corpus = corpus\n")
    write(directory, "named.py", (RIGHT, "direct", "right 1.0", "agree"))
    touch = f"open({str(directory / 'canary')!r}, 'w')"
    write(
        directory,
        "opens.py",
        ("torchscript-graph", "direct", "torch >=1", "agree"),
        inputs=f"torch.ones(2) if {touch} else 0",
    )
    return directory


def test_what_is_not_on_the_allowlist_is_not_run(strangers):
    status, said = run(strangers, "-rs", "-q", "--continue-on-collection-errors")
    assert status == 1, said
    assert re.search(r"opens.py line \d+ has the name `open`", said), said
    assert "`inplace_fuzz_trust = true` in the pytest configuration runs the file all the same" in said
    assert "SKIPPED [1] corpus/named.py: the file names code to be imported" in said
    assert "Traceback" not in said
    assert not (strangers / "canary").exists()


def test_an_option_trusts_it_for_once(strangers):
    status, said = run(strangers, "-q", "--fuzz-trust")
    assert status == 0, said
    assert "2 passed" in said
    assert (strangers / "canary").exists()


def test_xdist_judges_each_item_once_wherever_it_lands(project):
    status, said = run(project, "corpus/holds.py", "corpus/computed.py", "-n", "2", "-q")
    assert (status, "3 passed" in said) == (0, True), said


def test_without_the_ini_setting_nothing_is_replayed(tmp_path):
    (tmp_path / "corpus").mkdir()
    write(tmp_path, "broke.py", (WRONG, "direct", "wrong 1.0", "agree"))
    assert run(tmp_path)[0] == 5  # no tests were collected
