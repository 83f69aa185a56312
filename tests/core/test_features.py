"""What the text of a program contains, its file-name stem and its sentence."""

import textwrap

import pytest

from inplace_fuzz.core import Channel, Kind, Program, Verdict, default_spec
from inplace_fuzz.core.features import Features, features, slug, title
from inplace_fuzz.core.kinds import Scope

SPECS = {"x": "f32[4,3]", "y": "f32[4,3]", "i": "i64[2]", "j": "i64[2]", "m": "bool[4]", "n": "i32[]"}


def program(body: str, *, init: str = "pass", calls: int = 1) -> Program:
    lines = textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8)
    source = (
        "import torch\n\n\ndef helper(v):\n    return v.add_(1)\n\n\nclass M(torch.nn.Module):\n"
        f"    def __init__(self):\n        super().__init__()\n        {init}\n\n"
        f"    def forward(self, {', '.join(SPECS)}):\n{lines}\n"
    )
    return Program(source, (tuple(default_spec(s) for s in SPECS.values()),) * calls)


# lines, group, words that are in it (and no others)
WORDS = [
    ("return x[1:], x[:, 0], x[::2], x[-1], x[None], x[..., 1]", "views",
     "slice full select step negative none ellipsis"),
    ("return x.t().view(-1)[0], x.T, x.expand(2, 4, 3), x.unsqueeze(0).squeeze()", "views",
     "transpose view select expand unsqueeze squeeze"),
    ("return torch.transpose(x, 0, 1).reshape(-1), x.chunk(2), x.diagonal()", "views",
     "transpose reshape split diagonal"),
    ("return x.view(torch.int32)", "views", "dtype_view"),
    ("x[i] = 1\nreturn x", "indices", "index_tensor"),
    ("x[m] = 1\nreturn x", "indices", "bool_mask"),
    ("x[x > 2] = 1\nreturn x", "indices", "bool_mask"),
    ("x[[0, 2]] = 1\nreturn x", "indices", "int_list"),
    ("x[i, 1:] = 1\nreturn x", "indices", "index_tensor mixed"),
    ("x[i, j] = 1\nreturn x", "indices", "index_tensor several"),
    ("v = torch.zeros([2, 2, 2])\nv[i, :, j] = 1\nreturn v", "indices", "index_tensor several separated mixed"),
    ("for k in range(2):\n    x[k] = 1\nreturn x", "indices", ""),
    ("x.index_put_((i, j), y[:2, 0], accumulate=True)\nreturn x", "indices", "index_tensor several"),
    ("x.index_put_((i,), y, True)\nreturn x", "writes", "index_put_ accumulate"),
    ("x[0] = 1\nx += 1\nx[1] *= 2\nx.copy_(y)\nx[0].fill_(2)\nreturn x", "writes", "setitem augmented copy_ fill_"),
    ("torch.add(x, y, out=x[0])\ntorch.relu_(x)\nreturn x.index_add(0, i, y)", "writes",
     "out= relu_ functional:index_add"),
    ("k = 0\nk += 1\nreturn x + k", "writes", ""),
    ("x[0] = 1\nv = torch.zeros(3)\nv[0] = 1\nw = y.clone()\nw.t().add_(1)\nreturn v", "targets",
     "input local:zeros local:clone"),
    ("v = x[1:]\nv.add_(1)\nw = y * 2\nw.add_(1)\nreturn v", "targets", "input local:op"),
    ("a, b = x.chunk(2)\na.add_(1)\nreturn x", "targets", "input"),
    ("if x.sum() > 0:\n    x[0] = 1\nfor k in range(2):\n    x[k] = 1\nhelper(x)\nreturn x", "control",
     "if loop helper"),
    ("v = x.clone()\nreturn {'a': x}, [v]", "returns", "tuple dict list"),
    ("v = x.clone()\nreturn x, v, x[0]", "returns", "tuple input local:clone view"),
    ("v = x.clone()\nx.zero_()\nreturn v", "patterns", "snapshot"),
    ("x[1:] = x[:-1]\nreturn x", "patterns", "self_read"),
    ("v = x[1:]\nv[0] = 1\nx.add_(1)\nreturn x", "patterns", "named_view two_writes"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "group", "words"), WORDS)
def test_words(body, group, words):
    assert getattr(features(program(body)), group) == tuple(sorted(words.split()))


def test_buffers_parameters_and_second_calls():
    buffer = 'self.register_buffer("buf", torch.zeros(3))'
    init = f"{buffer}; self.p = torch.nn.Parameter(torch.ones(2)); self.c = torch.ones(2)"
    found = features(program("self.buf.add_(1)\nself.p[0] = 1\nself.c += 1\nreturn self.buf", init=init, calls=2))
    assert found.targets == ("attribute", "buffer", "parameter")
    assert found.control == ("second_call",)
    assert found.returns == ("buffer",)


def test_words_are_sorted_and_grouped():
    found = features(program("x[0] = 1\nreturn x"))
    assert found.words() == ("returns:input", "targets:input", "views:select", "writes:setitem")
    assert found == Features(views=("select",), writes=("setitem",), targets=("input",), returns=("input",))


def test_scope_follows_views_and_dtypes():
    scope = Scope(program("v = x[1:].t()\nw = v.clone()\nz = v > 1\nreturn v"))
    for _ in scope.steps():
        pass
    v, w, z = (scope.names[n] for n in "vwz")
    assert (v.memory, v.origin, v.view) == ("x", "input", True)
    assert (w.origin, w.copied, w.view) == ("local:clone", "x", False)
    assert z.dtype == "bool"


SLUGS = [
    ("v = x.clone()\nv[0] = 9\nx.zero_()\nreturn v", "snapshot-then-zero"),
    ("v = torch.zeros([2, 2, 2])\nv[i, :, i] = y\nreturn v", "separated-indices"),
    ("x[0][1:].add_(1)\nreturn x", "slice-of-select-add"),
    ("v = x[1:]\nw = v[0]\nw.mul_(2)\nreturn x", "select-of-slice-mul"),
    ("x[m] = 1\nreturn x", "mask"),
    ("x.index_put_((i,), y, accumulate=True)\nreturn x", "index-accumulate"),
    ("x[1:] = x[:-1]\nreturn x", "slice-write-from-itself"),
    ("for k in range(2):\n    x[k] = 1\nreturn x", "select-write-in-loop"),
    ("x.t()[0] = 1\nreturn x", "select-of-t-write"),
    ("return x + 1", "no-write"),
]


@pytest.mark.parametrize(("body", "expected"), SLUGS)
def test_slug(body, expected):
    assert slug(program(body)) == expected


TITLES = [
    ("x[1:, 0].add_(y[0])\nreturn x", None, "Writes through x[1:, 0] with add_ and returns x."),
    ("v = x.clone()\nx.zero_()\nreturn v", None, "Zeroes x and returns v."),
    ("x[i] = y[:2]\nreturn x", Verdict(Kind.MISMATCH, (Channel.VALUES,)),
     "Writes y[:2] into x[i] and returns x: values differ."),
    ("x.copy_(y)\nreturn x", Verdict(Kind.CRASH, signal="SIGSEGV"),
     "Copies y into x and returns x: the process dies (SIGSEGV)."),
    ("x += 1\nreturn x", Verdict(Kind.ERROR, stage="convert"), "Updates x in place and returns x: fails in convert."),
    ("return x.index_put((i,), y)", Verdict(Kind.AGREE), "Returns x.index_put((i,), y), using index_put."),
]  # fmt: skip


@pytest.mark.parametrize(("body", "verdict", "expected"), TITLES)
def test_title(body, verdict, expected):
    assert title(program(body), verdict) == expected


def test_any_text_has_words():
    """Nothing that parses makes the reader fail."""
    body = """
        try:
            v = [q * 2 for q in (x, y)]
        except RuntimeError:
            v = {"a": x}
        while x.sum() < 0:
            x.add_(1)
        with torch.no_grad():
            f = lambda t: t.add_(1)
            f(x)
        (a, *b), c = (x, y, x), self.training
        x.data = y
        x[...] += (y if c else x)
        return v, f"{a}", None
    """
    p = program(body)
    assert {"loop"} <= set(features(p).control)
    assert slug(p)
    assert title(p).endswith(".")
