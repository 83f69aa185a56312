"""Places that may not be written, have no room, or are somebody else's too: the corpus, the store, TMPDIR."""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inplace_fuzz import corpus
from inplace_fuzz.campaign.store import Store
from inplace_fuzz.cli import cli
from tests.campaign.test_store import finding
from tests.durability.campaigns import BACKEND, PLACES, Kept, Running
from tests.durability.test_disk import Disk, assert_one_line, disk  # noqa: F401 - a fixture
from tests.e2e.commands import announced, ran

# Root may write everywhere, so that a campaign of root's gives that up first.
UNPRIVILEGED = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()
_SHORT = ("run", "--backends", BACKEND, "--seed", "7", "--examples", "4")


@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[Path]:
    """A directory that may be read, and not written."""
    path = tmp_path / "frozen"
    path.mkdir(mode=0o555)
    yield path
    path.chmod(0o755)


# ------------------------------------------------------------------------------------------------------ not to be written
@pytest.mark.parametrize("what", ["corpus", "store"])
@pytest.mark.usefixtures("frozen")
def test_a_place_that_may_not_be_written_is_one_line(tmp_path: Path, what: str) -> None:
    here = {"corpus": "corpus", "store": "store.sqlite", what: f"frozen/{what}"}
    done = ran(tmp_path, *_SHORT, "--corpus", here["corpus"], "--store", here["store"], prefix=UNPRIVILEGED)
    assert done.returncode == 2, done.stdout + done.stderr
    assert_one_line(done.stderr, f"frozen/{what}", f"--{what}")
    assert not done.stdout


@pytest.mark.slow
def test_a_corpus_that_may_not_be_written_is_learnt_from_with_no_save(tmp_path: Path, frozen: Path) -> None:
    places = ("--corpus", "frozen", "--store", "store.sqlite")
    done = ran(tmp_path, *_SHORT, *places, "--no-save", prefix=UNPRIVILEGED)
    assert done.returncode == 0, done.stdout + done.stderr
    with Store(tmp_path / "store.sqlite", read_only=True) as store:
        assert [f for f in store.findings() if f.minimal is not None]
    assert not list(frozen.iterdir())


@pytest.mark.slow
def test_a_corpus_that_may_not_be_written_any_more(tmp_path: Path) -> None:
    """What could not be saved waits in the store, and the next campaign saves it."""
    kept = Kept(tmp_path)
    running = Running(tmp_path, seed=3, examples=40, prefix=UNPRIVILEGED)
    assert running.wait_for_findings(1), running.text
    kept.corpus.chmod(0o555)
    try:
        assert running.end() == 2, running.text
        assert_one_line(running.text, "corpus/", "--corpus")
        kept.take(running.text)
        with Store(kept.store, read_only=True) as store:
            assert list(store.findings(state="new"))
    finally:
        kept.corpus.chmod(0o755)
    before = len(kept.announced)
    kept.resume(seed=4)
    assert len(kept.announced) > before
    kept.assert_replays()


# ------------------------------------------------------------------------------------------------------------ no room
@pytest.mark.slow
@pytest.mark.parametrize("lacking", ["room", "files"])
def test_a_temporary_directory_without(lacking: str, disk: Disk, tmp_path: Path) -> None:  # noqa: F811
    """That no byte can be written there stops nothing. Where no file can be made, the campaign may go on in those that
    it has, or say so in one line."""
    temporary = tmp_path / "temporary"
    disk.path.rename(temporary)
    disk.path = temporary
    if not disk.mount("size=2m,nr_inodes=400"):
        pytest.skip(f"no small file system can be mounted here: {disk.refused}")
    kept = Kept(tmp_path)
    running = Running(tmp_path, seed=3, examples=40)
    assert running.wait_for_findings(1), running.text
    if lacking == "room":
        disk.fill()
    else:
        disk.use_up_names()
    status = running.end()
    kept.take(running.text)
    kept.assert_no_process(running.process.pid)
    if status:
        assert (lacking, status) == ("files", 2), running.text
        assert_one_line(running.text, "TMPDIR", "No space left")
    disk.free()
    kept.assert_no_file()
    kept.resume(seed=4)
    kept.assert_replays()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device", f"{tempfile.gettempdir()}/x/job"), ("/x/job", "TMPDIR")),
        (FileNotFoundError(2, "No usable temporary directory found in ['/nowhere']"), ("/nowhere", "TMPDIR")),
        (OSError(28, "No space left on device", "/elsewhere/x"), ("/elsewhere/x",)),
    ],
)
def test_no_temporary_file_is_one_line(
    error: OSError, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(**_: object) -> None:
        raise error

    monkeypatch.setattr("inplace_fuzz.execute.engine.SessionDirectory", full)
    with pytest.raises(SystemExit) as ended:
        cli.main(["backends"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert_one_line(said, *words)
    assert ("TMPDIR" in said) == ("TMPDIR" in words)


# ------------------------------------------------------------------------------------------------------ half a write
def test_half_a_write_is_removed_by_the_next_campaign_and_one_that_goes_on_is_not(tmp_path: Path) -> None:
    left = tmp_path / ".inplace-fuzz-killed.tmp"
    left.write_text("half of an ent")
    mine = tmp_path / ".mine.tmp"
    mine.write_text("somebody's")
    handle, going_on = corpus._half_written(tmp_path)
    assert not corpus.files(tmp_path)
    corpus.check_writable(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted([mine, Path(going_on)])
    os.close(handle)
    corpus.check_writable(tmp_path)
    assert list(tmp_path.iterdir()) == [mine]


# ------------------------------------------------------------------------------------------------------- two at once
@pytest.mark.slow
@pytest.mark.parametrize("seeds", [(11, 12), (13, 13)], ids=["other programs", "the same programs"])
def test_two_campaigns_at_once_with_one_store_and_one_corpus(tmp_path: Path, seeds: tuple[int, int]) -> None:
    kept = Kept(tmp_path)
    both = [Running(tmp_path, seed=seed, examples=24, places=PLACES) for seed in seeds]
    for running in both:
        assert running.end() == 0, running.text
        kept.assert_no_process(running.process.pid)
        found = announced(running.text)
        assert found
        assert len(set(found)) == len(found), running.text
        kept.announced += [path for path in found if path not in kept.announced]  # both may find the same thing
        assert "Traceback" not in running.text
    kept.assert_on_disk()
    kept.assert_no_file()
    files = corpus.files(kept.corpus)
    assert sorted(tmp_path / path for path in kept.announced) == files
    digests = [path.stem.rpartition("-")[2] for path in files]
    assert len(set(digests)) == len(digests)
    with Store(kept.store, read_only=True) as store:
        runs = store.rows("SELECT seed, programs, ended FROM run")
    assert sorted(row["seed"] for row in runs) == sorted(seeds)
    assert all(row["programs"] == 24 and row["ended"] for row in runs)
    kept.assert_replays()


def test_a_store_waits_for_another_writer(tmp_path: Path) -> None:
    """A second campaign's write waits for the first one's to end, and then does its work."""
    path = tmp_path / "store.sqlite"
    with Store(path) as first, Store(path) as second:
        first.begin(1, {})
        second.begin(2, {})
        waited: list[float] = []

        def write() -> None:
            started = time.monotonic()
            with Store(path) as other:
                other.begin(3, {})
                other.add(finding(2))
            waited.append(time.monotonic() - started)

        with first._db.transaction():
            thread = threading.Thread(target=write)
            thread.start()
            time.sleep(0.5)
            assert not waited
        thread.join(30)
        assert waited[0] > 0.3
        second.add(finding(1))
        assert len(list(first.findings())) == 2
