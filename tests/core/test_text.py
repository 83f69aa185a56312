"""Programs print and parse back to themselves; what cannot be read says so."""

from __future__ import annotations

import pytest
import torch

from inplace_fuzz.core import Program, ProgramError, SpecError, TensorSpec, default_spec, parse, render
from inplace_fuzz.core.materialize import describe_call, load_module, make_call
from inplace_fuzz.core.spec import arg_from_json, arg_to_json
from inplace_fuzz.core.text import is_exact

SOURCE = "import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x\n"

ARGUMENTS = {
    "plain": TensorSpec((2, 2), "float32", (1.0, 2.0, 3.0, 4.0)),
    "zero-dim": TensorSpec((), "int64", (7,)),
    "empty": TensorSpec((0, 3), "float32", ()),
    "empty-int": TensorSpec((2, 0), "int64", ()),
    "half": TensorSpec((2,), "float16", (1.0, -2.0)),
    "bool": TensorSpec((3,), "bool", (True, False, True)),
    "unsigned": TensorSpec((2,), "uint8", (0, 255)),
    "complex": TensorSpec((2,), "complex64", (1 + 2j, -1j)),
    "transposed": TensorSpec((3, 2), "float32", (1.0, 2.0, 3.0, 4.0, 5.0, 6.0), strides=(1, 3)),
    "offset": TensorSpec((2,), "float32", (1.0, 2.0, 3.0), offset=1),
    "stepped": TensorSpec((2,), "int32", (1, 2, 3, 4), strides=(2,), offset=1),
    "expanded": TensorSpec((2, 2), "float32", (1.0, 2.0), strides=(0, 1)),
    "long": TensorSpec((4, 20), "float32", tuple(float(k) for k in range(80))),
    "infinite": TensorSpec((3,), "float32", (float("inf"), float("-inf"), 0.0)),
    "grad": TensorSpec((2,), "float32", (1.0, 2.0), requires_grad=True),
    "list": [TensorSpec((1,), "float32", (1.0,)), TensorSpec((1,), "float32", (2.0,))],
    "dict": {"a": TensorSpec((1,), "float32", (1.0,)), "b": 3},
    "number": 3,
    "flag": True,
    "text": "nearest",
    "nothing": None,
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_an_argument_survives_printing_json_and_torch(name: str) -> None:
    argument = ARGUMENTS[name]
    program = Program(SOURCE, ((argument,),))
    parsed = parse(render(program))
    assert parsed.source == SOURCE
    assert parsed.calls == program.calls
    assert arg_from_json(arg_to_json(argument)) == argument
    assert describe_call(make_call(program.calls[0])) == program.calls[0]


def test_inputs_that_share_a_storage_still_do_after_printing() -> None:
    values = (1.0, 2.0, 3.0, 4.0)
    call = (TensorSpec((3,), "float32", values, storage=0), TensorSpec((3,), "float32", values, offset=1, storage=0))
    program = Program(SOURCE.replace("self, x", "self, x, y"), (call,))
    parsed = parse(render(program))
    assert parsed.calls == (call,)
    x, y = make_call(parsed.calls[0])
    x[1] = 9
    assert y.tolist() == [9.0, 3.0, 4.0]
    assert describe_call(make_call(call)) == (call[0], call[1])


def test_later_calls_and_what_stands_beside_the_class_are_kept() -> None:
    text = (
        "# Title.\n#\n# inplace-fuzz: 1\n\nimport torch\nfrom typing import List\n\n\n"
        "def helper(t):\n    return t + 1\n\n\n"
        "class M(torch.nn.Module):\n    def forward(self, x):\n        return helper(x)\n\n\n"
        "def inputs():\n    return (torch.tensor([1.0]),)\n\n\ndef inputs_2():\n    return (torch.tensor([2.0]),)\n\n\n"
        'if __name__ == "__main__":\n    print("never part of a program")\n'
    )
    parsed = parse(text)
    assert parsed.header == ("Title.", "", "inplace-fuzz: 1")
    assert "never part" not in parsed.source
    assert "from typing import List" in parsed.source
    assert parsed.calls is not None
    assert [c[0].values for c in parsed.calls] == [(1.0,), (2.0,)]
    program = parsed.program()
    assert load_module(program)(*make_call(program.calls[1])).tolist() == [3.0]
    assert parse(render(program)).program() == program


def test_inputs_that_must_be_computed_are_left_to_a_process_that_has_torch() -> None:
    parsed = parse(SOURCE + "\n\ndef inputs():\n    return (torch.randn(3).softmax(0),)\n")
    assert parsed.calls is None
    with pytest.raises(ProgramError, match="must be computed"):
        parsed.program()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def f(:\n", "line 1"),
        ("x = 1\n", "no `class M"),
        (SOURCE, r"no `inputs\(\)`"),
        ("\0", "not Python"),
        ("(" * 5000 + ")" * 5000, "nested deeper"),
    ],
)
def test_a_file_that_is_no_program_says_what_is_missing(text: str, says: str) -> None:
    with pytest.raises(ProgramError, match=says):
        parse(text)


def test_a_class_without_forward_is_named() -> None:
    program = Program("import torch\n\n\nclass M(torch.nn.Module):\n    pass\n", ((),))
    with pytest.raises(ProgramError, match="forward"):
        _ = program.forward


@pytest.mark.parametrize("text", ["f33[2]", "f32", "f32[a]", "f32[-1]", "f32[2", "[2]", "f32[99999999]"])
def test_an_input_that_cannot_be_read_shows_how_to_write_it(text: str) -> None:
    with pytest.raises(SpecError, match=r"write|sizes"):
        default_spec(text)


def test_default_inputs_hold_distinct_values() -> None:
    assert default_spec("f32[2,2]").values == (1.0, 2.0, 3.0, 4.0)
    assert default_spec("i64[3]").values == (0, 1, 2)
    assert default_spec("bool[2]").values == (True, False)
    assert default_spec("float16[]").shape == ()


@pytest.mark.parametrize(
    ("body", "exact"),
    [
        ("return x + 1", True),
        ("x[0] = 3.0; return x", True),
        ("return x / 2", False),
        ("return x.softmax(0)", False),
        ("x.sigmoid_(); return x", False),
        ("return x + 0.1", False),
        ("return x ** 2", False),
    ],
)
def test_programs_that_round_are_compared_with_tolerances(body: str, exact: bool) -> None:
    program = Program(SOURCE.replace("return x", body), ((TensorSpec((2,), "float32", (1.0, 2.0)),),))
    assert is_exact(program) is exact
    assert parse(render(program)).program().exact is exact


def test_inputs_with_fractions_are_compared_with_tolerances() -> None:
    assert not is_exact(Program(SOURCE, ((TensorSpec((1,), "float32", (0.5,)),),)))
    assert not is_exact(Program(SOURCE, ((TensorSpec((1,), "float32", (float("nan"),)),),)))


@pytest.mark.parametrize("body", ["return x", "y = x + 1\n\n        # a comment\n        return y"])
@pytest.mark.parametrize("parameters", ["", ", x", ", x, y1"])
def test_a_plain_program_reads_the_same_with_and_without_parsing(body: str, parameters: str) -> None:
    source = f"import torch\n\n\nclass M(torch.nn.Module):\n    def forward(self{parameters}):\n        {body}\n"
    quick, parsed = Program(source, ((),)), Program(source + "\n\n# more\n", ((),))
    assert quick.is_plain
    assert not parsed.is_plain
    assert quick.parameters == parsed.parameters
    assert quick.forward_text == parsed.forward_text


@pytest.mark.parametrize(
    "text",
    [
        "N = 1\n\n\nclass M",
        "class N:\n    pass\n\n\nclass M",
        "class M(torch.nn.Module):\n    n = 1\n\n    def forward(self):\n        pass\n\n\nclass M",
    ],
)
def test_a_program_with_more_in_it_is_parsed(text: str) -> None:
    assert not Program(SOURCE.replace("class M", text), ((),)).is_plain
    assert not Program(SOURCE.replace("x):", "x: int):"), ((),)).is_plain


def test_a_digest_names_text_and_inputs() -> None:
    one = Program(SOURCE, ((TensorSpec((1,), "float32", (1.0,)),),))
    two = Program(SOURCE, ((TensorSpec((1,), "float32", (2.0,)),),))
    assert one.digest != two.digest
    assert one.digest == Program.from_json(one.to_json()).digest
    assert len(one.digest) == 8


def test_what_a_spec_cannot_hold_is_refused() -> None:
    with pytest.raises(ProgramError, match="cannot be described"):
        describe_call((torch.zeros(2).to_sparse(),))
    with pytest.raises(ProgramError, match="cannot be described"):
        describe_call((object(),))
