"""Corpus files: write, read, refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from inplace_fuzz import corpus
from inplace_fuzz.core import Program, TensorSpec

SOURCE = "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        x[0] = 1\n        return x\n"
PROGRAM = Program(SOURCE, ((TensorSpec((2,), "float32", (1.0, 2.0)),),), title="Writes 1 into x[0].")
ROWS = (
    corpus.Expectation("torchscript", "direct", "torch 2.13.0", "agree"),
    corpus.Expectation(
        "tvm", "direct", "apache-tvm >=0.26,<0.28", "mismatch(values, shape)", "known", "https://x.example"
    ),
    corpus.Expectation(
        "tvm", "legalised", "apache-tvm 0.27.0.post1", "error(convert)", "known", "", "ValueError: no: (2)"
    ),
)


def test_an_entry_reads_back_as_it_was_written(tmp_path: Path) -> None:
    path = corpus.write_entry(tmp_path, PROGRAM, ROWS, ["output 0", "    eager  [1]"])
    entry = corpus.read_entry(path)
    assert entry.program == PROGRAM
    assert entry.title == PROGRAM.title
    assert sorted(entry.expectations, key=str) == sorted(ROWS, key=str)
    assert path.stem.endswith(PROGRAM.digest)
    text = path.read_text()
    assert "# output 0\n#     eager  [1]\n" in text
    assert 'show_difference(M, inputs, backend="tvm")' in text
    compile(text, str(path), "exec")


def test_updating_keeps_what_it_does_not_replace(tmp_path: Path) -> None:
    path = corpus.write_entry(tmp_path, PROGRAM, ROWS, ["output 0"])
    fresh = corpus.Expectation("torchscript", "direct", "torch 2.13.0", "mismatch(values)", "known")
    path.write_text(corpus.updated(corpus.read_entry(path), [fresh]))
    entry = corpus.read_entry(path)
    assert {(x.key, x.verdict) for x in entry.expectations} == {
        ("torchscript/direct", "mismatch(values)"),
        ("tvm/direct", "mismatch(values, shape)"),
        ("tvm/legalised", "error(convert)"),
    }
    assert "# output 0\n" in path.read_text()
    assert [x.message for x in entry.expectations if x.message] == ["ValueError: no: (2)"]
    path.write_text(corpus.updated(entry, []))
    assert corpus.read_entry(path) == corpus.read_entry(path)


def test_updating_adds_no_row_that_a_range_speaks_for_already(tmp_path: Path) -> None:
    ranged = corpus.Expectation("tvm", "direct", "apache-tvm >=0.26,<0.28", "error(build)", "known")
    entry = corpus.read_entry(corpus.write_entry(tmp_path, PROGRAM, [ranged]))
    same, other = (
        corpus.Expectation("tvm", "direct", "apache-tvm 0.27.0", v, "known") for v in ("error(build)", "error(run)")
    )
    assert corpus.updated(entry, [same]).count("# tvm ") == 1
    assert corpus.updated(entry, [other]).count("# tvm ") == 2


@pytest.mark.parametrize(
    ("versions", "installed", "covered"),
    [
        ("torch 2.13.0", "torch 2.13.0", True),
        ("torch 2.13.0", "torch 2.14.0", False),
        ("apache-tvm >=0.26,<0.28", "apache-tvm 0.27.0.post1", True),
        ("apache-tvm >=0.26,<0.28", "apache-tvm 0.28.0", False),
        ("apache-tvm >=0.26", "torch 2.13.0", False),
        ("odd one", "odd one", True),
    ],
)
def test_an_expectation_speaks_of_its_versions_alone(versions: str, installed: str, covered: bool) -> None:
    assert corpus.Expectation("b", "direct", versions, "agree").covers(installed) is covered


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def (:", "not Python"),
        ("x = 1\n", "class M"),
        (f"# inplace-fuzz: 99\n\n{SOURCE}\n\ndef inputs():\n    return ()\n", "upgrade inplace-fuzz"),
        (f"# inplace-fuzz: 1\n# tvm direct\n\n{SOURCE}\n\ndef inputs():\n    return ()\n", "two spaces"),
        (
            f"# inplace-fuzz: 1\n# tvm  direct  tvm 1  fine\n\n{SOURCE}\n\ndef inputs():\n    return ()\n",
            "not a verdict",
        ),
        (f"# inplace-fuzz: 1\n# tvm  side  tvm 1  agree\n\n{SOURCE}\n\ndef inputs():\n    return ()\n", "'side'"),
    ],
)
def test_a_malformed_file_is_refused_with_its_name(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(corpus.CorpusError, match=says) as caught:
        corpus.read_entry(path)
    assert "bad.py" in str(caught.value)


def test_what_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(corpus.CorpusError, match="UTF-8"):
        corpus.read_entry(path)
    with pytest.raises(corpus.CorpusError, match="cannot be read"):
        corpus.read_entry(tmp_path / "none.py")
    with pytest.raises(corpus.CorpusError, match="no corpus directory"):
        corpus.files(tmp_path / "none")


def test_an_unwritable_directory_is_refused_before_anything_is_found(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(corpus.CorpusError, match="--corpus"):
        corpus.check_writable(tmp_path / "file" / "corpus")
    with pytest.raises(corpus.CorpusError, match="--corpus"):
        corpus.write_entry(tmp_path / "file" / "corpus", PROGRAM, ROWS)


def test_versions_that_say_different_things_keep_what_each_said(tmp_path: Path) -> None:
    def row(version: str, message: str, lane: str = "direct") -> corpus.Expectation:
        return corpus.Expectation("a:B", lane, f"tvm {version}", "error(run)", "known", "", message)

    rows = [
        row("1", "in a word"),
        row(">=2,<3", "in others: two"),
        row("1", "same", "legalised"),
        row("2", "same", "legalised"),
    ]
    path = corpus.write_entry(tmp_path, PROGRAM, rows)
    assert [line for line in path.read_text().splitlines() if " says: " in line] == [
        "# a:B/direct in tvm 1 says: in a word",
        "# a:B/direct in tvm >=2,<3 says: in others: two",
        "# a:B/legalised says: same",
    ]
    entry = corpus.read_entry(path)
    assert sorted(entry.expectations, key=str) == sorted(rows, key=str)
    path.write_text(corpus.updated(entry, [row("4", "last")]))
    assert [x.message for x in corpus.read_entry(path).expectations if x.lane == "direct"] == [
        "in a word",
        "in others: two",
        "last",
    ]


def test_the_readme_lists_every_fault(tmp_path: Path) -> None:
    corpus.write_entry(tmp_path, PROGRAM, ROWS)
    text = corpus.render_readme(tmp_path)
    assert "## tvm/direct" in text
    assert "## tvm/legalised" in text
    assert "torchscript/direct" not in text
    assert "1 programs, 3 expectations, 2 faults" in text
