"""A report says everything that the store holds, in four files, and nothing that it does not."""

import csv
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from inplace_fuzz.campaign.store import Store, StoreError
from inplace_fuzz.report import write_report
from inplace_fuzz.report.causes import ERRORS, SILENT, root_causes
from inplace_fuzz.report.frames import read_frames
from inplace_fuzz.report.tables import content, lane_rows, percent
from tests.report.stores import FAILS, VERSIONS, write_store


@pytest.fixture
def written(tmp_path):
    store = write_store(tmp_path / "campaign.sqlite", tmp_path / "corpus")
    report = write_report(store, tmp_path / "out", corpus=tmp_path / "corpus")
    return {path.name: path.read_text() for path in report.paths}, report


def test_headline_says_what_a_reader_with_ten_seconds_needs(written):
    assert (
        written[1].headline
        == "2 new root causes, 1 of them a silent wrong value; 1 finding to shrink; 1 known one met again."
    )


def test_silent_wrong_values_come_first_with_program_difference_versions_and_file(written):
    markdown = written[0]["report.md"]
    sections = re.findall(r"^## (.*)", markdown, re.MULTILINE)
    findings = sections[sections.index(SILENT) :]
    assert findings[:4] == [SILENT, "Other silent differences", "Crashes, hangs and memory", ERRORS]
    block = markdown[markdown.index(f"## {SILENT}") : markdown.index("## Other silent")]
    assert "New: mismatch(values), tvm direct, legalised, rewritten" in block
    assert "    y = x.clone()\n    x.zero_()\n    return y" in block
    assert "tvm    [[0, 0], [0, 0]]" in block
    assert VERSIONS["tvm"] in block
    assert re.search(r"\(\.\./corpus/snapshot-then-zero-[0-9a-f]{8}\.py\)", block)


def test_a_known_cause_that_was_only_explained_shows_the_corpus_files_program(tmp_path):
    store = write_store(tmp_path / "c.sqlite", tmp_path / "corpus", with_new=False)
    with Store(store) as opened:
        opened._db.execute("DELETE FROM finding WHERE state='known'")
    (cause,) = root_causes(read_frames(store), tmp_path / "corpus")
    assert (cause.new, cause.met, cause.shrunk) == (False, 1, True)
    assert "x[0] = 7" in cause.program_text  # of the file, not `x[1] = 3`, which was met
    assert FAILS.message in cause.says


def test_agreement_leaves_out_what_eager_cannot_run_and_counts_refusals_against(tmp_path):
    rows = lane_rows(read_frames(write_store(tmp_path / "c.sqlite", tmp_path / "corpus")))
    (direct,) = [r for r in rows if (r.backend, r.lane) == ("tvm", "direct")]
    assert direct.counts == {"agree": 60, "mismatch": 5, "error": 20, "refused": 15, "invalid": 3}
    assert direct.agreement == pytest.approx(0.60)


@pytest.mark.parametrize(("share", "text"), [(1.0, "100.0 %"), (0.99999, "99.9 %"), (0.5, "50.0 %"), (None, "-")])
def test_percent_never_claims_a_hundred_that_it_is_not(share, text):
    assert percent(share) == text


def test_lift_table_gives_each_lane_and_the_gain(written):
    assert "| tvm | 60.0 % | 100.0 % | 99.0 % | +39.0 |" in written[0]["report.md"]


def test_unpromised_channels_and_unavailable_backends_are_named(written):
    markdown = written[0]["report.md"]
    assert "- **tvm**: strides, inputs, buffers, alias, again" in markdown
    assert "- **torchscript**: nothing" in markdown
    assert "- **inductor**: no C++ compiler; `apt-get install g++` brings one" in markdown


def test_runs_csv_has_a_row_for_each_run_backend_lane_and_verdict(written):
    rows = list(csv.DictReader(written[0]["runs.csv"].splitlines()))
    assert len(rows) == 10
    row = next(r for r in rows if r["verdict"] == str(FAILS))
    assert (row["run"], row["seed"], row["backend"], row["lane"], row["programs"]) == ("1", "17", "tvm", "direct", "20")
    assert (row["version"], row["kind"], row["run_programs"]) == (VERSIONS["tvm"], "error", "4001")


class _Page(HTMLParser):
    """Collects what a page would fetch, and checks that its tags close in order."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr", "use", "path"})

    def __init__(self):
        super().__init__()
        self.fetched, self.open, self.unbalanced = [], [], []

    def handle_starttag(self, tag, attrs):
        self.fetched += [v for k, v in attrs if k in ("src", "xlink:href") and not v.startswith("#")]
        self.fetched += [tag] if tag in ("script", "link", "iframe") else []
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if tag not in self.VOID and (not self.open or self.open.pop() != tag):
            self.unbalanced.append(tag)


def test_html_is_one_offline_file_with_three_plots_and_escaped_text(written):
    html = written[0]["report.html"]
    page = _Page()
    page.feed(html)
    assert page.fetched == []
    assert page.unbalanced == []
    assert html.count("<svg") == 3
    assert "http" not in re.sub(r'"http://www\.w3\.org/[^"]*"', "", html)
    assert "match &lt;b&gt; &amp; 2" in html
    assert "<b>" not in html


def test_junit_fails_new_causes_counts_known_ones_and_skips_the_unavailable(written):
    suite = ET.fromstring(written[0]["junit.xml"]).find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "4", "1")
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    failure = cases["tvm/direct"].find("failure")
    assert failure.get("message") == "1 new: mismatch(values)"
    assert failure.text.startswith("FOUND  mismatch(values)")
    properties = {p.get("name"): p.get("value") for p in cases["tvm/direct"].iter("property")}
    assert [v for k, v in properties.items() if k.startswith("known select-write-")] == ["2"]
    assert "g++" in cases["inductor"].find("skipped").get("message")


def test_junit_of_a_run_with_nothing_new_is_green(tmp_path):
    store = write_store(tmp_path / "c.sqlite", tmp_path / "corpus", with_new=False)
    report = write_report(store, tmp_path / "out", corpus=tmp_path / "corpus")
    assert ET.parse(tmp_path / "out" / "junit.xml").getroot().get("failures") == "0"
    assert report.headline == "0 new root causes; 1 known one met again."


def test_an_empty_run_still_has_a_report(tmp_path):
    with Store(tmp_path / "c.sqlite") as store:
        store.begin(1, {"seconds": 1.0})
        store.set_version("tvm", "", "TVM is not installed; `pip install apache-tvm` brings it", ())
    report = write_report(tmp_path / "c.sqlite", tmp_path / "out", corpus=tmp_path / "nowhere")
    assert report.headline == "0 new root causes."
    assert "pip install apache-tvm" in (tmp_path / "out" / "report.html").read_text()
    assert "not every run: one is still going, or was killed" in (tmp_path / "out" / "report.md").read_text()


def test_control_characters_in_a_compilers_message_do_not_break_the_xml(tmp_path):
    store = write_store(tmp_path / "c.sqlite", tmp_path / "corpus")
    with Store(store, read_only=True) as opened:
        text = opened.rows("SELECT id, verdict FROM finding WHERE state='found' AND verdict LIKE '%SIGSEGV%'")[0]
    with Store(store) as opened:
        opened._db.execute(
            "UPDATE finding SET minimal_verdict=? WHERE id=?",
            (text["verdict"].replace("killed", "\\u001bkilled"), text["id"]),
        )
    write_report(store, tmp_path / "out", corpus=tmp_path / "corpus")
    assert (
        "\ufffdkilled"
        in ET.parse(tmp_path / "out" / "junit.xml").getroot().find(".//testcase[@name='tvm/rewritten']/failure").text
    )


def test_only_the_runs_that_were_asked_for(tmp_path):
    path = write_store(tmp_path / "c.sqlite", tmp_path / "corpus")
    with Store(path) as store:
        store.begin(99, {"seconds": 1.0})
        store.set_version("tvm", "apache-tvm 0.28.0", "", ("values",))
    frames = read_frames(path, [2])
    said = content(frames, tmp_path / "corpus")
    assert dict(said.ran)["seed"] == "99"
    assert said.causes == []


@pytest.mark.parametrize(
    ("runs", "message"), [([7], r"holds no run 7 \(runs there: 1\)"), (None, "there is no campaign store")]
)
def test_errors_say_what_to_do(tmp_path, runs, message):
    path = tmp_path / "c.sqlite"
    if runs:
        write_store(path, tmp_path / "corpus")
    with pytest.raises(StoreError, match=message):
        write_report(path, tmp_path / "out", corpus=tmp_path / "corpus", runs=runs)
