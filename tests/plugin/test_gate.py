"""`pytest --fuzz` from outside: real campaigns over planted backends, in directories of their own."""

import re
import xml.etree.ElementTree as ET

import pytest

from tests.plugin.runs import ABSENT, RIGHT, WRONG, interrupt_after, run

pytestmark = pytest.mark.xdist_group("plugin-gate")  # its tests share a directory
BOTH = f"--fuzz-backends={RIGHT},{WRONG}"


@pytest.fixture(scope="module")
def red(tmp_path_factory):
    """An empty directory where a gate has found something: `(directory, exit status, output)`."""
    directory = tmp_path_factory.mktemp("empty")
    (directory / "look.py").write_text(
        "import sys\n\ndef pytest_sessionfinish():\n    print('torch imported:', 'torch' in sys.modules)\n"
    )
    arguments = [
        "--fuzz",
        BOTH,
        "--fuzz-examples",
        "4",
        "--fuzz-seed",
        "3",
        "--fuzz-report",
        "out",
        "--junitxml",
        "j.xml",
    ]
    return directory, *run(directory, *arguments, "-p", "look", "-vv", PYTHONSAFEPATH="")


def test_a_new_finding_fails_its_item_with_the_finding_and_nothing_else(red):
    _, status, said = red
    assert status == 1, said
    assert re.search(rf"{WRONG}/direct FAILED", said)
    assert re.search(rf"{RIGHT}/direct PASSED", said)
    failure = said[said.index("= FAILURES =") : said.index("= inplace-fuzz =")]
    assert "FOUND  mismatch(inputs)" in failure
    assert "re-run    inplace-fuzz replay corpus/" in failure
    assert "Traceback" not in failure
    assert "gate.py" not in failure
    assert re.search(rf"FAILED inplace-fuzz::{WRONG}/direct - \d+ new finding", said)


def test_progress_shows_although_output_is_captured(red):
    said = red[2]
    assert "backends  planted_backends:RIGHT (right 1.0)" in said
    assert re.search(r"^\d:\d\d  4 programs", said, re.MULTILINE)
    assert "again with  pytest --fuzz --fuzz-examples=4" in said
    assert "seed 3" in said


def test_torch_is_never_imported_in_the_pytest_process(red):
    assert "torch imported: False" in red[2]


def test_the_finding_is_kept_and_the_report_written(red):
    directory, _, said = red
    assert list((directory / "corpus").glob("*.py"))
    names = {p.name for p in (directory / "out").iterdir()}
    assert {"report.html", "report.md", "runs.csv", "junit.xml", "campaign.sqlite"} <= names
    assert f"report  {directory / 'out' / 'report.html'}" in said


def test_pytests_own_junit_has_the_finding_and_the_numbers(red):
    suite = ET.parse(red[0] / "j.xml").getroot().find("testsuite")
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    failure = cases[f"{WRONG}/direct"].find("failure")
    assert "new finding" in failure.get("message")
    assert failure.text.startswith("FOUND")
    assert {p.get("name"): p.get("value") for p in cases[f"{RIGHT}/direct"].iter("property")} == {"agree": "4"}


def test_one_campaign_under_xdist_with_warnings_as_errors_and_no_cache(tmp_path):
    """And in a project with tests of its own, which run only when they are named."""
    (tmp_path / "test_theirs.py").write_text("def test_theirs():\n    raise AssertionError\n")
    arguments = ["--fuzz", BOTH, "--fuzz-time", "2s", "-n", "2", "-W", "error", "-p", "no:cacheprovider", "-k", "RIGHT"]
    status, said = run(tmp_path, *arguments, CI="1")
    assert status == 0, said
    assert "2 workers" in said
    assert "1 passed, 1 deselected" in said
    assert len(re.findall(r"^\d+ programs? in ", said, re.MULTILINE)) == 1
    assert "WRONG/direct:" not in said  # deselected, so not run
    assert not (tmp_path / ".pytest_cache").exists()


def test_ctrl_c_ends_with_what_was_found(tmp_path):
    arguments = ["--fuzz", f"--fuzz-backends={RIGHT}", "--fuzz-time", "5m"]
    status, said = interrupt_after(tmp_path, "programs", *arguments)
    assert status == 2, said
    assert "1 skipped" in said
    assert "interrupted: this is what was found until then" in said
    assert "Traceback" not in said


def test_collecting_names_each_backend_and_lane_and_runs_nothing(tmp_path):
    (tmp_path / "test_theirs.py").write_text("def test_theirs():\n    pass\n")
    arguments = ["--fuzz", "--collect-only", "-q", "--fuzz-backends=torchscript,tvm"]
    status, said = run(tmp_path, *arguments, "test_theirs.py")
    lines = [line for line in said.splitlines() if "::" in line]
    lanes = [f"inplace-fuzz::torchscript/{lane}" for lane in ("direct", "rewritten")]
    lanes += [f"inplace-fuzz::tvm/{lane}" for lane in ("direct", "legalised", "rewritten")]
    assert (status, lines) == (0, ["test_theirs.py::test_theirs", *lanes]), said
    assert not (tmp_path / "corpus").exists()


def test_a_backend_that_was_asked_for_and_is_not_here_is_one_line_with_what_to_install(tmp_path):
    status, said = run(tmp_path, "--fuzz", f"--fuzz-backends={ABSENT}")
    assert status == 4
    assert (
        f"ERROR: --fuzz-backends: {ABSENT} cannot run here: ABSENT is not installed; `pip install absent` brings it"
        in said
    )
    assert "Traceback" not in said


def test_a_default_backend_that_is_not_here_is_skipped_with_the_reason(tmp_path):
    (tmp_path / "defaults.py").write_text(f"import inplace_fuzz.backends as b\n\nb.DEFAULT = ({RIGHT!r}, {ABSENT!r})\n")
    status, said = run(tmp_path, "--fuzz", "-k", "ABSENT", "-p", "defaults", "-rs", PYTHONSAFEPATH="")
    assert status == 0, said
    assert "1 skipped, 1 deselected" in said
    assert "= inplace-fuzz =" not in said  # nothing was left to run, so nothing ran
    assert "ABSENT is not installed; `pip install absent` brings it" in said


def test_a_store_that_cannot_be_used_is_one_line(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "campaign.sqlite").write_text("this is no database, and it is longer than a header is")
    status, said = run(tmp_path, "--fuzz", f"--fuzz-backends={RIGHT}", "--fuzz-report=out")
    assert status == 1
    assert f"FAILED inplace-fuzz::{RIGHT}/direct - the campaign store" in said
    assert "name another with --fuzz-report" in said
    assert "Traceback" not in said
