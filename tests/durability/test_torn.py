"""What a power cut leaves half-written: the store holds all that was committed before, a corpus file is whole or named."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inplace_fuzz import corpus
from inplace_fuzz.campaign.store import Store, StoreError
from inplace_fuzz.core import ProgramError
from tests.campaign.test_store import finding

_PLACES = 20  # at which something is cut


def as_killed(path: Path, count: int) -> None:
    """A store as a killed campaign leaves it, its last commits in the log beside it."""
    with Store(path) as store:
        store.begin(1, {})
        for n in range(count):
            store.add(finding(n))
        for end in ("", "-wal"):
            shutil.copyfile(f"{path}{end}", f"{path}{end}.copy")
    for end in ("", "-wal"):
        Path(f"{path}{end}.copy").rename(f"{path}{end}")


def programs(count: int) -> list[str]:
    return [finding(n).program.digest for n in range(count)]


def written_on(whole: Path, log: bytes, path: Path) -> list[str]:
    """The programs in a copy of the store with this log beside it, once another run has been begun in it."""
    shutil.copyfile(whole, path)
    Path(f"{path}-wal").write_bytes(log)
    with Store(path) as store:
        store.begin(2, {})
        kept = [f.program.digest for f in store.findings()]
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return kept


def test_a_write_torn_after_the_last_commit_costs_nothing(tmp_path: Path) -> None:
    whole = tmp_path / "whole.sqlite"
    as_killed(whole, 12)
    log = Path(f"{whole}-wal").read_bytes()
    rng = random.Random(5)
    for number in range(_PLACES):
        torn = bytearray(log[32 : 32 + rng.randrange(1, len(log) // 2)])  # frames of this very log, out of place
        torn[rng.randrange(len(torn))] ^= 255
        assert written_on(whole, log + torn, tmp_path / f"{number}.sqlite") == programs(12)


def test_a_log_cut_anywhere_leaves_the_findings_before_the_cut(tmp_path: Path) -> None:
    whole = tmp_path / "whole.sqlite"
    as_killed(whole, 12)
    log = Path(f"{whole}-wal").read_bytes()
    rng = random.Random(6)
    for number in range(_PLACES):
        kept = written_on(whole, log[: rng.randrange(len(log))], tmp_path / f"{number}.sqlite")
        assert kept == programs(12)[: len(kept)]


def test_a_damaged_store_is_one_line(tmp_path: Path) -> None:
    """Never a traceback, whichever of its bytes are wrong."""
    whole = tmp_path / "whole.sqlite"
    with Store(whole) as store:
        store.begin(1, {})
        for n in range(30):
            store.add(finding(n))
    data = whole.read_bytes()
    rng = random.Random(7)
    complaints = []
    for number in range(_PLACES):
        path = tmp_path / f"{number}.sqlite"
        damaged = bytearray(data)
        for _ in range(rng.choice((1, 8, 64))):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        path.write_bytes(damaged[: rng.choice((len(damaged), rng.randrange(len(damaged))))])
        try:
            with Store(path) as store:
                list(store.findings())
                store.begin(1, {})
                store.add(finding(100))
        except StoreError as error:
            complaints.append(str(error))
    assert complaints
    assert not [said for said in complaints if "\n" in said or "--store" not in said]


ENTRY = """# Writes.
#
# inplace-fuzz: 1
# torchscript   direct   torch 2.13.0   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x[0] = 7
        return x


def inputs():
    return (torch.tensor([1.0, 2.0, 3.0]),)
"""


def test_a_corpus_file_cut_anywhere_is_read_or_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.py"
    complaints = []
    for length in range(0, len(ENTRY), 3):
        path.write_text(ENTRY[:length])
        try:
            corpus.read_entry(path)
        except (corpus.CorpusError, ProgramError) as error:
            complaints.append(str(error))
    assert complaints
    assert not [said for said in complaints if "cut.py" not in said]


@pytest.mark.parametrize("there", [False, True], ids=["a new file", "an old one"])
def test_a_file_that_cannot_be_written_whole_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    path = tmp_path / "entry.py"
    if there:
        path.write_text("as it was")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("inplace_fuzz.corpus.os.fsync", full)
    with pytest.raises(corpus.CorpusError, match="free some space"):
        corpus.write_atomically(path, "half of it")
    assert [p.name for p in tmp_path.iterdir()] == ["entry.py"] * there
    assert not there or path.read_text() == "as it was"
