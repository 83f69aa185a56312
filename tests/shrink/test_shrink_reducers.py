"""Each reducer alone, by name, from a fixed start: the best that it reaches while the text still holds some pattern."""

from dataclasses import replace

import pytest

from inplace_fuzz.core import TensorSpec, default_spec
from inplace_fuzz.shrink import PASSES, shrink
from tests.shrink.shrink_texts import forward, holding, program, signature

BY_NAME = {p.__name__: p for p in PASSES}

# reducer, lines before, patterns that must stay, lines after
ONE_BY_ONE = [
    ("keep_one_write", "v = y + 1\nw = x.clone()\nw[0] = v[0]\ny.add_(1)\nx[1:] = 5\nreturn w, x", [r"x\[1:\] = 5"],
     "x[1:] = 5\nreturn x"),
    ("keep_one_write", "v = x.t()\nw = v[1:]\nw.mul_(2)\ny.zero_()\nreturn y", [r"\.mul_\(2\)"],
     "v = x.t()\nw = v[1:]\nw.mul_(2)\nreturn y"),
    ("delete_statements", "v = y + 1\nw = x * 2\nw[0] = v[0]\ny.add_(1)\nx.add_(w)\nreturn x, w",
     [r"y\.add_\(1\)", "return x"],
     "y.add_(1)\nreturn x"),
    ("delete_statements", "v = x[1:]\nv[0] = 3\nreturn v", [r"\[0\] = 3"], "x[0] = 3\nreturn x"),
    ("inline_names", "v = x[1:]\nv.add_(1)\nreturn x", [r"add_"], "x[1:].add_(1)\nreturn x"),
    ("inline_names", "x = x + 1\nx = x * 2\nreturn x", [r"\* 2"], "return (x + 1) * 2"),
    ("flatten_blocks", "if x.sum() > 0:\n    x[0] = 1\nelse:\n    x[1] = 1\nreturn x", [r"x\[1\]"],
     "x[1] = 1\nreturn x"),
    ("flatten_blocks", "for k in range(3):\n    x[k] += k\nreturn x", [r"\+="], "x[0] += 0\nreturn x"),
    ("flatten_blocks", "with torch.no_grad():\n    x[0] += 1\nreturn x", [r"\+="], "x[0] += 1\nreturn x"),
    ("fewer_trips", "for k in range(3):\n    x[k] += 1\nreturn x", ["for"],
     "for k in range(2):\n    x[k] += 1\nreturn x"),
    ("simplify_return", "x[0] = 1\nreturn y, [x, y]", [r"return.*x"], "x[0] = 1\nreturn x"),
    ("simplify_return", "x[0] = 1\nreturn {'a': x, 'b': y}", [r"return.*y"], "x[0] = 1\nreturn y"),
    ("return_a_name", "v = x[0]\nv.add_(1)\nreturn torch.cat([x, y]) * 2", ["return"], "v = x[0]\nv.add_(1)\nreturn v"),
    ("hoist_parts", "x[1:].t()[0] += (y[0] * 2 + z).clone()\nreturn x", [r"\+= .*z"], "x[0] += z\nreturn x"),
    ("hoist_parts", "v = torch.cat([x, y.clone()])\nreturn v", ["v = .*y"], "v = y\nreturn v"),
    ("replace_by_input", "x[0] = (y * 2).sum(0)\nreturn x", [r"\[0\] = "], "x[0] = y\nreturn x"),
    ("replace_by_number", "x[0] = y[1] * 2\nreturn x", [r"\[0\] = "], "x[0] = 0\nreturn x"),
    ("replace_by_number", "x.mul_(y)\nreturn x", ["mul_"], "x.mul_(0)\nreturn x"),
    ("computed_to_input", "x[1:] = y[:3] * 2\nreturn x", [r"\[1:\] = "], "x[1:] = z\nreturn x"),
    ("computed_to_input", "x.index_add_(0, i.view(-1, 1).reshape(2), y.expand(2, 4, 3)[0])\nreturn x", [],
     "x.index_add_(0, i, a)\nreturn x"),
    ("shorten_lists", "v = torch.cat([x, y, x])\nreturn v", ["cat.*y"], "v = torch.cat([y])\nreturn v"),
    ("drop_arguments", "x.add_(y, alpha=2)\nreturn torch.zeros([2], dtype=torch.int64)", [],
     "x.add_(y)\nreturn torch.zeros([2])"),
    ("fewer_index_elements", "x[1:, 0, ...] = 1\nreturn x", [r"1:"], "x[1:] = 1\nreturn x"),
    ("plainer_index_elements", "x[1:3:2, -1] = 1\nreturn x", [r"\[1:"], "x[1:, 0] = 1\nreturn x"),
    ("plainer_index_elements", "x[i, [2, 1, 0]] = 1\nreturn x", [r"\[i, "], "x[i, 0] = 1\nreturn x"),
    ("plainer_index_elements", "x[None] = 1\nx[-2] = 1\nreturn x", [r"-"], "x[:] = 1\nx[-1] = 1\nreturn x"),
    ("plainer_index_arguments", "x.index_add_(0, z.to(torch.int64) % 2, y)\nreturn x", [],
     "x.index_add_(0, torch.tensor([0]), y)\nreturn x"),
    ("index_to_input", "x.scatter_add_(0, y.to(torch.int64) % 4, y)\nx[x[:, 0] > 2] = 1\nreturn x", [],
     "x.scatter_add_(0, i, y)\nx[m] = 1\nreturn x"),
    ("index_to_input", "x[i + 1, 0] = y[y[:, 0].long()]\nreturn x", [], "x[i, 0] = y[i]\nreturn x"),
    ("literal_index_to_input", "x[torch.tensor([2, 0])] = y[torch.tensor([2, 0])]\nreturn x", [],
     "x[i] = y[i]\nreturn x"),
    ("plainer_writes", "x[0] += y[0]\nx.index_put_((i,), z)\nx[1].copy_(z)\nx.zero_()\nreturn x", [],
     "x[0] = y[0]\nx[i] = z\nx[1] = z\nx[:] = 0\nreturn x"),
    ("plainer_writes", "x.bitwise_or_(y)\nx.sub_(y)\nreturn x", [], "x += y\nx -= y\nreturn x"),
    ("brackets_for_methods", "x.select(0, 1).add_(1)\nx.narrow(1, 0, 2).mul_(2)\nreturn torch.add(x, y)", [],
     "x[1].add_(1)\nx[:, :2].mul_(2)\nreturn x + y"),
    ("plainer_creators", "v = torch.full([2, 3], 7.0)\nw = torch.tensor([1, 2])\nv[0] = w[0]\nreturn v", [],
     "v = torch.zeros([2, 3])\nw = torch.zeros([2])\nv[0] = w[0]\nreturn v"),
    ("shorter_literals", "v = torch.tensor([3, 1, 2])\nreturn x[v]", [], "v = torch.tensor([3])\nreturn x[v]"),
    ("plainer_numbers", "x.add_(-7.5)\nx[3] = 2.0\nreturn x", [r"= 2"], "x.add_(0)\nx[3] = 2\nreturn x"),
    ("merge_inputs", "x.add_(y)\nreturn x", ["add_"], "x.add_(x)\nreturn x"),
]  # fmt: skip


@pytest.mark.parametrize(("reducer", "before", "patterns", "after"), ONE_BY_ONE)
def test_reducer_alone(reducer, before, patterns, after):
    result = shrink(program(before), holding(*patterns), passes=[BY_NAME[reducer]])
    assert forward(result.program) == after
    assert result.finished


def test_every_reducer_is_tested_here():
    tested = {case[0] for case in ONE_BY_ONE} | {
        n for n in BY_NAME if any(t.startswith(f"test_{n}") for t in globals())
    }
    assert tested == set(BY_NAME)


def alone(name, start, *patterns, unless=None):
    return shrink(start, holding(*patterns, unless=unless), passes=[BY_NAME[name]]).program


def test_fewer_calls():
    start = program("x.add_(1)\nreturn x")
    three = start.with_calls(*start.calls, (default_spec("f32[2]"),), (default_spec("f32[3]"),))
    assert len(alone("fewer_calls", three).calls) == 1
    assert len(alone("fewer_calls", three, unless=lambda p: len(p.calls) < 2).calls) == 2


def test_drop_unused_parameters():
    start = program("x.add_(1)\nreturn x", {"y": "f32[2]", "x": "f32[3]", "m": "bool[2]"})
    assert signature(alone("drop_unused_parameters", start)) == "x: f32[3]"


def test_drop_unused_definitions():
    start = program(
        "x.add_(self.a)\nreturn x",
        init='self.a = 1\nself.register_buffer("b", torch.zeros(2))\nself.drop = torch.nn.Dropout(0.5)',
        before="import math\n\n\ndef helper(x):\n    return x\n",
    )
    text = alone("drop_unused_definitions", start).source
    assert "self.a = 1" in text
    assert not any(word in text for word in ("helper", "math", "Dropout", "register_buffer"))


def test_drop_decorators():
    start = program("'''Says what it does.'''\nx.add_(1)\nreturn x")
    assert forward(alone("drop_decorators", start)) == "x.add_(1)\nreturn x"


def test_buffers_to_inputs():
    start = program("self.buf.add_(x)\nreturn x", {"x": "f32[3]"}, init='self.register_buffer("buf", torch.zeros(3))')
    result = alone("buffers_to_inputs", start, r"\.add_")
    assert forward(result) == "y.add_(x)\nreturn x"
    assert signature(result) == "x: f32[3], y: f32[3]"
    local = alone("buffers_to_inputs", start, unless=lambda p: len(p.parameters) > 1)
    assert forward(local) == "v = torch.zeros(3)\nv.add_(x)\nreturn x"


def test_inputs_by_literals():
    start = program("x.add_(n)\nreturn x", {"x": "f32[2]", "n": "f32[]"})
    result = alone("inputs_by_literals", start.with_calls((start.calls[0][0], 3)))
    assert forward(result) == "x.add_(3)\nreturn x"
    assert signature(result) == "x: f32[2]"


def test_plain_signature():
    start = program("x.add_(y)\nreturn x", {"x: torch.Tensor": "f32[2]", "y: torch.Tensor": "f32[2]"})
    assert "def forward(self, x, y):" in alone("plain_signature", start).source


def test_plain_signature_keeps_the_annotation_of_what_is_no_tensor():
    start = program("if flag:\n    x.add_(1)\nreturn x", {"x: torch.Tensor": "f32[2]", "flag: bool": "f32[]"})
    start = start.with_calls((start.calls[0][0], True))
    assert "def forward(self, x, n: bool):" in alone("plain_signature", start).source


def test_plain_signature_writes_defaults_that_are_never_passed():
    source = "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x, n=3, *, flag=False):\n"
    start = replace(
        program("return x"), source=source + "        if flag:\n            x = x + n\n        return x * n\n"
    )
    result = alone("plain_signature", start)
    assert forward(result) == "if False:\n    x = x + 3\nreturn x * 3"
    assert signature(result) == "x: f32[4, 3]"


def test_inline_helpers():
    helper = "\n\ndef scale(v, by=2):\n    w = v.mul_(by)\n    return w\n"
    start = program("w = x[1:]\ny[:3] = scale(w[:, :2].t().t() * 1) + 1\nreturn y", before=helper)
    result = alone("inline_helpers", start)
    assert "def scale" not in result.source
    assert forward(result) == "v = x[1:]\nw = (v[:, :2].t().t() * 1).mul_(2)\ny[:3] = w + 1\nreturn y"


def test_inline_helpers_that_are_methods():
    start = program("self.zero(x, at=0)\nreturn self.zero(x, 1)")
    method = "    def zero(self, v, at):\n        v[at] = 0\n        return v\n\n    def forward"
    result = alone("inline_helpers", replace(start, source=start.source.replace("    def forward", method)))
    assert forward(result) == "x[0] = 0\nx[1] = 0\nreturn x"
    assert "def zero" not in result.source


def test_plain_layouts():
    spec = TensorSpec((2, 2), "float32", (1.0, 2.0, 3.0, 4.0, 5.0), (1, 2), 1, 0, True)
    result = alone("plain_layouts", program("x.add_(1)\nreturn x").with_calls((spec,)))
    assert result.calls == ((TensorSpec((2, 2), "float32", (2.0, 4.0, 3.0, 5.0)),),)


def test_smaller_storages():
    nine = tuple(map(float, range(9)))
    specs = tuple(TensorSpec((2,), "float32", nine, (2,), k, s) for k, s in ((1, 0), (3, 0), (4, None)))
    body = "x.add_(y)\nz.add_(1)\nreturn x"
    start = program(body, {"x": "f32[2]", "y": "f32[2]", "z": "f32[2]"}).with_calls(specs)
    x, y, z = alone("smaller_storages", start).calls[0]
    assert (x.values, x.offset, y.values, y.offset) == ((0.0, 1.0, 2.0, 3.0, 4.0, 5.0), 1, x.values, 3)
    assert (z.values, z.offset) == ((4.0, 5.0, 6.0), 0)


def test_plain_dtypes_with_those_in_the_text():
    body = "v = torch.zeros([2], dtype=torch.float16)\nv.add_(x)\nx[i] = v\nreturn x"
    start = program(body, {"x": "f16[2]", "i": "i64[2]"})
    keep_the_index = alone("plain_dtypes", start, unless=lambda p: p.calls[0][1].dtype != "int64")
    assert forward(keep_the_index) == "v = torch.zeros([2])\nv.add_(x)\nx[i] = v\nreturn x"
    assert signature(keep_the_index) == "x: f32[2], i: i64[2]"


def test_plain_dtypes():
    start = program("x.add_(y)\nreturn x", {"x": "f64[2]", "y": "i32[2]"})
    assert signature(alone("plain_dtypes", start)) == "x: f32[2], y: f32[2]"


def test_plain_values():
    spec = TensorSpec((3,), "float32", (7.0, -1.0, 30.0))
    result = alone("plain_values", program("x.add_(y)\nreturn x").with_calls((spec, spec)))
    assert [s.values for s in result.calls[0]] == [(1.0, 2.0, 3.0), (4.0, 5.0, 6.0)]


def test_smaller_sizes_together_with_literals():
    start = program("v = torch.zeros([6, 5])\nv[:] = x\nreturn v", {"x": "f32[6,5]"})
    result = alone("smaller_sizes", start, unless=lambda p: f"{list(p.calls[0][0].shape)}" not in p.source)
    assert forward(result) == "v = torch.zeros([2, 2])\nv[:] = x\nreturn v"
    assert signature(result) == "x: f32[2, 2]"


def test_smaller_sizes_of_a_slice_and_its_source():
    start = program("x[1:] = y\nreturn x", {"x": "f32[6]", "y": "f32[5]"})
    result = alone("smaller_sizes", start, unless=lambda p: p.calls[0][0].numel != p.calls[0][1].numel + 1)
    assert signature(result) == "x: f32[3], y: f32[2]"


def test_fewer_dimensions():
    start = program("x[1:, 0] = 1\nreturn x")
    result = alone(
        "fewer_dimensions", start, "1:", unless=lambda p: len(p.calls[0][0].shape) < (2 if ", 0" in p.source else 1)
    )
    assert forward(result) == "x[1:] = 1\nreturn x"
    assert signature(result) == "x: f32[4]"


def test_natural_shapes():
    start = program("x.add_(y)\nreturn x", {"x": "f32[1,3]", "y": "f32[]"})
    assert signature(alone("natural_shapes", start)) == "x: f32[2, 3], y: f32[2]"
