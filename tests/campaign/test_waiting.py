"""Which findings wait to be shrunk, in which order, and what they hold of memory."""

from __future__ import annotations

import pytest

from inplace_fuzz.campaign.causes import Causes
from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.campaign.waiting import Waiting
from inplace_fuzz.core import Kind, Program, TensorSpec, Verdict


def finding(state: str = "new", *, bucket: str = "wrong", filler: int = 0) -> Finding:
    lines = "        x = x + 1\n" * filler
    source = (
        "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n"
        + lines
        + "        return x.add_(1)\n"
    )
    program = Program(source, ((TensorSpec((2,), "float32", (1.0, 2.0)),),))
    return Finding("tvm", "direct", bucket, Verdict(Kind.MISMATCH, "values"), program, state)


@pytest.fixture
def waiting() -> Waiting:
    return Waiting(Causes())


def test_a_waiting_finding_does_not_keep_the_syntax_tree(waiting: Waiting) -> None:
    one = finding()
    assert one.program.tree
    before = one.program
    waiting.add(one)
    assert one.program == before
    assert not set(vars(one.program)) - set(Program.__dataclass_fields__)


def test_unexplained_findings_all_wait(waiting: Waiting) -> None:
    ones = [finding(filler=n % 3) for n in range(200)]
    for one in ones:
        waiting.add(one)
    assert waiting.next() in ones
    assert len(waiting.unexplained()) == 200


def test_few_explained_findings_of_a_bucket_wait(waiting: Waiting) -> None:
    for bucket in ("wrong", "other"):
        for _ in range(1000):
            waiting.add(finding("explained", bucket=bucket))
    taken = 0
    while (one := waiting.next()) is not None:
        waiting.remove(one)
        taken += 1
    assert taken == 2 * 64
    waiting.add(finding("explained"))
    assert waiting.next() is not None


def test_news_first_then_the_bucket_shrunk_least_then_the_smallest(waiting: Waiting) -> None:
    explained = finding("explained", bucket="b")
    small, large, other = finding(), finding(filler=2), finding(bucket="other", filler=4)
    for one in (explained, large, small, other):
        waiting.add(one)
    waiting.shrunk("wrong")
    order = []
    while (one := waiting.next()) is not None:
        waiting.remove(one)
        order.append(one)
    assert [id(one) for one in order] == [id(one) for one in (other, small, large, explained)]


def test_a_bucket_rests_after_repeats_but_its_news_do_not(waiting: Waiting) -> None:
    for one in (finding("explained"), finding()):
        waiting.add(one)
    for _ in range(4):
        waiting.repeated("wrong")
    waiting.repeated("wrong", again=False)
    waiting.next()
    for _ in range(4):
        waiting.repeated("wrong")
    news = waiting.next()
    assert news is not None
    assert news.state == "new"
    waiting.remove(news)
    assert waiting.next() is None
