"""The live display: a table on a terminal, heartbeat lines elsewhere, findings as they come."""

import io
import time
from collections import Counter

import pytest
from rich.console import Console

from inplace_fuzz.campaign.run import Progress
from inplace_fuzz.report import PlainListener, RichListener, choose
from tests.report.stores import FAILS, LONG, SNAPSHOT, VALUES, finding


@pytest.fixture
def progress():
    progress = Progress(started=time.monotonic() - 75, explored=60.0, shrunk=12.0, programs=4001)
    progress.versions = {"torchscript": "torch 2.13.0", "tvm": "apache-tvm 0.27.0"}
    progress.unavailable = {"inductor": "no C++ compiler"}
    progress.tallies["torchscript", "direct"] = Counter({"agree": 4000, "mismatch(strides)": 1})
    progress.tallies["tvm", "direct"] = Counter({"agree": 60, "error(convert)": 19, "error(build)": 1})
    progress.tallies["tvm", "rewritten"] = Counter({"agree": 79, "refused(convert)": 1})
    progress.waiting = 2
    progress.known = Counter({"a.py": 3})
    return progress


@pytest.fixture
def found():
    shrunk = finding("tvm", "direct", VALUES, LONG)
    shrunk.minimal, shrunk.minimal_verdict, shrunk.entry = SNAPSHOT, VALUES, "corpus/snapshot-1.py"
    return shrunk


def test_heartbeat_has_everything_in_one_line(progress):
    stream = io.StringIO()
    listener = PlainListener(stream, every=0.0)
    listener.on_progress(progress)
    assert stream.getvalue() == (
        "1:15  4001 programs  66.7/s  explored for 1:00  shrunk for 0:12  "
        "0 new findings, 2 to shrink, known ones met 3 times  "
        "torchscript: agree 4000, mismatch 1;  tvm: agree 139, error 20, refused 1\n"
    )


def test_heartbeat_says_what_is_being_shrunk(progress):
    stream = io.StringIO()
    progress.phase = "shrinking tvm/direct error(convert)"
    PlainListener(stream, every=0.0).on_progress(progress)
    assert "shrunk for 0:12  shrinking tvm/direct error(convert)  0 new findings" in stream.getvalue()


def test_heartbeats_keep_their_distance_and_the_last_totals_are_said_once(progress):
    stream = io.StringIO()
    with PlainListener(stream, every=60.0) as listener:
        listener.on_start(progress)
        for _ in range(1000):
            listener.on_progress(progress)
        listener.close()
    lines = stream.getvalue().splitlines()
    assert lines[:2] == [
        "backends  torchscript (torch 2.13.0), tvm (apache-tvm 0.27.0)",
        "not here  inductor: no C++ compiler",
    ]
    assert [line[:18] for line in lines[2:]] == ["1:15  4001 program"]


def test_a_finding_is_printed_with_its_minimal_program_and_how_to_replay_it(found):
    stream = io.StringIO()
    PlainListener(stream).on_found(found, "apache-tvm 0.27.0")
    text = stream.getvalue()
    assert "FOUND  mismatch(values)  tvm 0.27.0  direct lane         2 statements, shrunk from 4" in text
    assert "        x.zero_()\n" in text
    assert "re-run    inplace-fuzz replay corpus/snapshot-1.py" in text


def test_a_finding_that_was_not_shrunk_says_so():
    stream = io.StringIO()
    PlainListener(stream).on_found(finding("tvm", "direct", FAILS, LONG), "apache-tvm 0.27.0")
    assert "not shrunk: there was no time left" in stream.getvalue()


def test_rich_table_lists_each_backend_and_lane_and_findings_stand_above(progress, found):
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=120, color_system=None)
    with RichListener(console) as listener:
        listener.on_start(progress)
        listener.on_found(found, "apache-tvm 0.27.0")
        listener.on_progress(progress)
    text = stream.getvalue()
    assert "mismatch" in text
    assert text.index("FOUND") < text.rindex("tvm          direct")
    assert "\x1b[?25h" in text  # the cursor is given back
    last = text[text.rindex("backend") :]
    assert [line.split()[:3] for line in last.splitlines()[1:4]] == [
        ["torchscript", "direct", "4000"],
        ["tvm", "direct", "60"],
        ["rewritten", "79", "·"],
    ]


def test_closing_twice_or_unstarted_is_harmless():
    listener = RichListener(Console(file=io.StringIO()))
    listener.close()
    listener.close()


def test_choose_takes_lines_where_there_is_no_terminal():
    assert isinstance(choose(io.StringIO()), PlainListener)


def test_choose_takes_the_table_on_a_terminal(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    assert isinstance(choose(stream), RichListener)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(choose(stream), PlainListener)


def test_the_first_heartbeats_say_no_more_than_is_known():
    progress = Progress(started=time.monotonic() - 6, explored=1.0, programs=3)
    progress.known = Counter({"a.py": 1})
    stream = io.StringIO()
    PlainListener(stream, every=0.0).on_progress(progress)
    assert stream.getvalue() == "0:06  3 programs  0 new findings, a known one met once\n"
