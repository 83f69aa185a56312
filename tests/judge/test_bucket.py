"""Messages lose their values and keep what says which check failed."""

from __future__ import annotations

import pytest

from inplace_fuzz.core import Channel, Kind, Verdict
from inplace_fuzz.judge import bucket, normalise_message


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (
            "ValueError: IndexPut requires the number of index tensors (1) to match the data tensor dimensions (2)",
            "ValueError: IndexPut requires the number of index tensors (2) to match the data tensor dimensions (4)",
        ),
        (
            "RuntimeError: shape '[2, 3]' is invalid for input of size 4",
            "RuntimeError: shape '[1]' is invalid for input of size 9",
        ),
        ("E: at 0x7f00aa in /usr/lib/x/y.py:12", "E: at 0x1234 in /home/me/z/y.py:99"),
        ("E: <inplace_fuzz_program_12> failed", "E: <inplace_fuzz_program_3> failed"),
        ("E: lv12 is not a tensor", "E: lv3 is not a tensor"),
        ("E: expand(CPUByteType{[1, 1]}, size=[])", "E: expand(CPUBFloat16Type{[1, 3, 4]}, size=[3, 4])"),
    ],
)
def test_values_do_not_split_a_bucket(one: str, two: str) -> None:
    assert normalise_message(one) == normalise_message(two)


def test_different_checks_are_different_buckets() -> None:
    left = Verdict(Kind.ERROR, stage="convert", message="ValueError: cannot broadcast")
    right = Verdict(Kind.ERROR, stage="convert", message="TypeError: Unsupported dtype")
    assert bucket("tvm", "direct", left) != bucket("tvm", "direct", right)
    assert bucket("tvm", "direct", left) != bucket("tvm", "rewritten", left)


def test_a_mismatch_is_told_apart_by_its_channels() -> None:
    left = Verdict(Kind.MISMATCH, (Channel.VALUES,))
    right = Verdict(Kind.MISMATCH, (Channel.VALUES, Channel.INPUTS))
    assert bucket("tvm", "direct", left) != bucket("tvm", "direct", right)
    assert str(bucket("tvm", "direct", left)) == "tvm/direct | mismatch(values)"


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(Kind.AGREE),
        Verdict(Kind.MISMATCH, (Channel.VALUES, Channel.INPUTS)),
        Verdict(Kind.ERROR, stage="convert"),
        Verdict(Kind.CRASH, signal="SIGSEGV"),
        Verdict(Kind.TIMEOUT, stage="build"),
        Verdict(Kind.OUT_OF_MEMORY),
        Verdict(Kind.REFUSED, stage="export"),
    ],
)
def test_short_forms_parse_back(verdict: Verdict) -> None:
    assert Verdict.parse(str(verdict)) == verdict
    assert Verdict.from_json(verdict.to_json()) == verdict


@pytest.mark.parametrize("text", ["fine", "mismatch(colour)", "", "agree)("])
def test_a_word_that_is_no_verdict_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Verdict.parse(text)
