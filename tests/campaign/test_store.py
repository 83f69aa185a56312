"""The store keeps what it was given, through kills and merges."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from inplace_fuzz.campaign.store import Finding, Store, StoreError
from inplace_fuzz.campaign.sweep_state import SweepState
from inplace_fuzz.core import Channel, Kind, Program, TensorSpec, Verdict

SOURCE = "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x\n"


def finding(n: int = 1) -> Finding:
    program = Program(SOURCE, ((TensorSpec((1,), "float32", (float(n),)),),))
    return Finding("tvm", "direct", "tvm/direct | mismatch(values)", Verdict(Kind.MISMATCH, (Channel.VALUES,)), program)


def test_findings_read_back(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.begin(3, {"seconds": 1})
        one = finding()
        store.add(one)
        assert one.id
        one.state, one.minimal, one.minimal_verdict, one.entry = "found", one.program, one.verdict, "corpus/a.py"
        store.update(one)
        again = finding()
        store.add(again)
        assert not again.id, "it would be taken for the one before"
        store.add(finding(2))
    with Store(tmp_path / "s.sqlite", read_only=True) as store:
        found = list(store.findings())
        assert [f.state for f in found] == ["found", "new"]
        assert found[0] == one
        assert [f.state for f in store.findings(state="new")] == ["new"]


def test_totals_are_replaced_not_added(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        store.begin(3, {})
        for n in (5, 9):
            store.progress(
                {("tvm", "direct", "agree"): (n, 1.5)},
                {("writes", "add_"): n},
                {("tvm", "direct", "refused(convert)", "no such operator"): n},
                programs=n,
                draw_seconds=0,
                explore_seconds=1,
                shrink_seconds=0,
            )
        assert store.rows("SELECT programs, seconds FROM tally") == [{"programs": 9, "seconds": 1.5}]
        assert store.rows("SELECT message, programs FROM refusal") == [{"message": "no such operator", "programs": 9}]


def test_merging_twice_adds_once(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with Store(tmp_path / name) as store:
            store.begin(ord(name), {})
            store.set_version("tvm", "apache-tvm 1", "", ("values",))
            store.add(finding(ord(name)))
    with Store(tmp_path / "all") as store:
        assert [store.merge(tmp_path / n) for n in ("a", "b", "a")] == [1, 1, 0]
        assert len(list(store.findings())) == 2
        assert len(store.rows("SELECT * FROM version")) == 2


def test_what_was_committed_survives_kill_9(tmp_path: Path) -> None:
    code = (
        "import sys, os; from pathlib import Path\n"
        "from inplace_fuzz.campaign.store import Store\n"
        "from tests.campaign.test_store import finding\n"
        "store = Store(Path(sys.argv[1])); store.begin(1, {})\n"
        "for n in range(10000):\n"
        "    store.add(finding(n)); print(n, flush=True)\n"
    )
    root = Path(__file__).parent.parent.parent
    environment = os.environ | {"PYTHONPATH": str(root)}
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "s.sqlite")], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdout is not None
    announced = -1
    for line in process.stdout:
        announced = int(line)
        if announced == 50:
            process.send_signal(signal.SIGKILL)
            break
    announced = max([announced, *(int(line) for line in process.stdout if line.strip().isdigit())])
    process.wait()
    with Store(tmp_path / "s.sqlite") as store:
        assert len(list(store.findings())) >= announced + 1


def test_a_store_that_cannot_be_used_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="run a campaign first"):
        Store(tmp_path / "none", read_only=True)
    (tmp_path / "text").write_text("this is no database, and long enough for sqlite to say so" * 20)
    with pytest.raises(StoreError, match="--store"):
        Store(tmp_path / "text")
    with pytest.raises(StoreError, match="--store"):
        Store(tmp_path / "text" / "below")
    with Store(tmp_path / "newer") as store:
        store._db.execute("PRAGMA user_version=99")
    with pytest.raises(StoreError, match="newer"):
        Store(tmp_path / "newer")


def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        other.execute("CREATE TABLE music (title TEXT)")
        other.commit()
    before = (tmp_path / "other").read_bytes()
    for read_only in (False, True):
        with pytest.raises(
            StoreError, match="another program's database and no campaign store; name another with --store"
        ):
            Store(tmp_path / "other", read_only=read_only)
    with SweepState(tmp_path / "sweep"):
        pass
    with pytest.raises(StoreError, match="no campaign store"):
        Store(tmp_path / "sweep", read_only=True)
    assert (tmp_path / "other").read_bytes() == before


def test_a_store_without_anything_in_it_is_not_read(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "empty").close()
    with pytest.raises(StoreError, match="is an empty campaign store"):
        Store(tmp_path / "empty", read_only=True)
