"""The table of root causes in docs/compilers.md says nothing that the corpus does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "docs" / "compilers.md").read_text()
CAUSE = re.compile(r"^\| ([\w-]+), (\w+) \| (.+) \| ([^|]+) \| (yes|no) \| ([^|]+) \|$", re.MULTILINE)
CAUSES = CAUSE.findall(TEXT)


def rows(name: str) -> list[list[str]]:
    """Backend, lane, version, verdict and status of each row of a corpus file's table."""
    header = (ROOT / "corpus" / f"{name}.py").read_text().partition("\n\n")[0]
    return [re.split(r"\s{2,}", line[2:]) for line in header.splitlines() if re.search(r"\S {2,}\S+ {2,}\S", line)]


@pytest.mark.parametrize(("backend", "lane", "what", "verdicts", "silent", "files"), CAUSES, ids=lambda v: v[:40])
def test_a_root_cause_is_in_its_corpus_files(
    backend: str, lane: str, what: str, verdicts: str, silent: str, files: str
) -> None:
    known: set[str] = set()
    for name in files.split(", "):
        faults = [row for row in rows(name) if row[0] == backend and row[4:5] == ["known"]]
        assert faults, f"{name} has no fault of {backend}"
        lanes = {row[1] for row in faults}
        assert len(lanes) > 1 if lane == "every" else lane in lanes, f"{name} has {backend} in {lanes}"
        known |= {row[3] for row in faults}
    wanted = {said.strip() for said in re.findall(r"\w+\([\w, ]+\)", verdicts)}
    assert wanted <= known, f"{what}: the files have {known}"
    assert (silent == "yes") == all(said.startswith("mismatch") for said in wanted)


def test_the_page_counts_its_rows() -> None:
    said = re.search(r"^(\d+) root causes, (\d+) of them silent", TEXT, re.MULTILINE)
    assert said
    assert [int(number) for number in said.groups()] == [len(CAUSES), sum(row[4] == "yes" for row in CAUSES)]
