"""Which findings are the same, and how a finding reads."""

from __future__ import annotations

from pathlib import Path

from inplace_fuzz import corpus
from inplace_fuzz.campaign.causes import Causes, cause_of
from inplace_fuzz.campaign.text import difference_lines, entry_title, finding_lines
from inplace_fuzz.core import Channel, Difference, Kind, Program, TensorSpec, Verdict

HEAD = "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n"
X = TensorSpec((2,), "float32", (1.0, 2.0))
WRONG = Verdict(Kind.MISMATCH, (Channel.VALUES,))


def program(*lines: str, shape: tuple[int, ...] = (2,)) -> Program:
    spec = TensorSpec(shape, "float32", tuple(float(k + 1) for k in range(shape[0])))
    return Program(HEAD + "".join(f"        {line}\n" for line in lines), ((spec,),))


def error(message: str) -> Verdict:
    return Verdict(Kind.ERROR, stage="convert", message=message)


def test_an_error_is_one_cause_whatever_its_values() -> None:
    one, two = program("x[0] = 1", "return x"), program("x[1:].mul_(2)", "return x")
    left = cause_of("tvm", "direct", error("ValueError: (1) of (2)"), one)
    assert left == cause_of("tvm", "direct", error("ValueError: (3) of (4)"), two)
    assert left != cause_of("tvm", "direct", error("ValueError: other"), one)


def test_a_mismatch_is_one_cause_whatever_its_names_and_numbers() -> None:
    one = program("x[0] = 1", "return x")
    two = program("x[1] = 5", "return x", shape=(4,))
    other = program("x[1:] = 5", "return x")
    assert cause_of("tvm", "direct", WRONG, one) == cause_of("tvm", "direct", WRONG, two)
    assert cause_of("tvm", "direct", WRONG, one) != cause_of("tvm", "direct", WRONG, other)


def test_a_finding_that_holds_a_known_cause_is_explained_and_another_is_not() -> None:
    causes = Causes()
    causes.learn("tvm", "direct", WRONG, program("x[0] = 1", "return x"), "a.py")
    assert causes.explanation("tvm", "direct", WRONG, program("x[0] = 1", "x.mul_(2)", "return x"))
    assert not causes.explanation("tvm", "direct", WRONG, program("x.mul_(2)", "return x"))
    assert not causes.explanation("tvm", "rewritten", WRONG, program("x[0] = 1", "return x"))


def test_a_fault_that_shows_with_every_write_is_one_family() -> None:
    causes = Causes()
    for k, write in enumerate(("mul_(2)", "neg_()", "add_(1)")):
        minimal = program(f"x.{write}", "return x")
        assert not causes.family("tvm", "direct", WRONG, minimal)
        causes.learn("tvm", "direct", WRONG, minimal, f"{k}.py")
    assert causes.family("tvm", "direct", WRONG, program("x.zero_()", "return x")) == "0.py"
    assert not causes.family("tvm", "direct", WRONG, program("x[1:].zero_()", "return x"))


def test_the_corpus_is_what_is_known(tmp_path: Path) -> None:
    row = corpus.Expectation("tvm", "direct", "apache-tvm 1", "error(convert)", "known", "", "ValueError: (1)")
    path = corpus.write_entry(tmp_path, program("x[0] = 1", "return x"), [row])
    causes = Causes()
    causes.learn_corpus([corpus.read_entry(path)])
    cause = causes.explanation("tvm", "direct", error("ValueError: (7)"), program("return x + 1"))
    assert causes.known(cause) == path.name


def test_a_title_says_what_goes_wrong() -> None:
    given = program("x[0] = 1", "return x")
    assert entry_title(given, "tvm", WRONG).endswith(": tvm gives wrong values.")
    assert entry_title(given, "tvm", error("E: no")).endswith(": tvm fails to import it.")
    assert entry_title(given, "tvm", Verdict(Kind.CRASH, signal="SIGSEGV")).endswith(": tvm ends in crash(SIGSEGV).")


def test_carets_stand_under_what_differs() -> None:
    lines = difference_lines(Difference("output 0", "[[1, 0], [2, 0]]", "[[1, 0], [3, 0]]", 1, 4), "tvm")
    assert lines == [
        "output 0, 1 of 4 elements differ",
        "    eager  [[1, 0], [2, 0]]",
        "    tvm    [[1, 0], [3, 0]]",
        "                     ^",
    ]


def test_a_finding_reads_like_a_bug_report() -> None:
    verdict = Verdict(Kind.MISMATCH, (Channel.VALUES,), differences=(Difference("output", "[1, 2]", "[1, 3]", 1, 2),))
    text = "\n".join(
        finding_lines(
            program("x[0] = 1", "return x"),
            "tvm",
            "direct",
            "apache-tvm 0.27.0.post1",
            verdict,
            original=program("x[0] = 1", "x[1] = 2", "return x"),
            path="corpus/a.py",
        )
    )
    assert text.startswith(
        "FOUND  mismatch(values)  tvm 0.27.0.post1  direct lane         1 statement, shrunk from 2\n"
    )
    assert "    def forward(self, x):                x: f32[2] = [1, 2]\n        x[0] = 1\n        return x\n" in text
    assert "re-run    inplace-fuzz replay corpus/a.py" in text


def test_what_one_respelling_cures_is_one_cause() -> None:
    causes = Causes()
    causes.learn(
        "tvm", "direct", WRONG, program("x |= 1", "return x"), "or.py", ["bitwise-method", "of a later version"]
    )
    alias = Verdict(Kind.MISMATCH, (Channel.INPUTS, Channel.ALIAS))
    assert causes.respellings("tvm@0.26.0", "direct", alias) == {"bitwise-method": "or.py"}
    assert not causes.respellings("tvm", "rewritten", WRONG)
    assert not causes.respellings("tvm", "direct", error("ValueError"))
    assert not causes.respellings("tvm", "direct", Verdict(Kind.MISMATCH, (Channel.VALUES,), origin="pass"))


def test_a_corpus_file_says_which_respellings_agree(tmp_path: Path) -> None:
    note = "origin: export; agrees with bitwise-method, no-alpha; seen by hand"
    row = corpus.Expectation("tvm", "direct", "apache-tvm 1", "mismatch(values)", "known", note)
    path = corpus.write_entry(tmp_path, program("x |= 1", "return x"), [row])
    entry = corpus.read_entry(path)
    assert entry.expectations[0].cures == ("bitwise-method", "no-alpha")
    causes = Causes()
    causes.learn_corpus([entry])
    assert causes.respellings("tvm", "direct", WRONG) == dict.fromkeys(("bitwise-method", "no-alpha"), path.name)
    fresh = corpus.Expectation("tvm", "direct", "apache-tvm 1", "mismatch(values)", "known", "agrees with no-alpha")
    assert "agrees with no-alpha; seen by hand" in corpus.updated(entry, [fresh])


def test_a_finding_shows_what_agrees() -> None:
    lines = finding_lines(program("x |= 1", "return x"), "tvm", "direct", "1", WRONG, cures=["bitwise-method"])
    assert "    agrees    where `x |= 1` is written `x.bitwise_or_(1)`" in lines
