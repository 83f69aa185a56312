"""`cmd:…`: what may be typed, what a command is given, and what becomes of what it does."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from inplace_fuzz import backends, check, corpus
from inplace_fuzz.backends import commandline
from inplace_fuzz.commands.corpus import replay_files
from inplace_fuzz.core import OUTPUT_CHANNELS, Channel, Kind, Lane, Program, TensorSpec, Unavailable, Verdict
from tests.backends.test_adapters import INIT, program
from tests.execute.test_evaluate import judged

SHORT = "cmd:./my-compiler {program} {inputs} {outputs}"
# A compiler that knows one program, `x[0] = 7; return x + 1, x.sum()`, and needs no torch, which takes a second.
KNOWS = """
import sys, numpy
names = dict(zip(("program", "inputs", "outputs", "inputs_after"), sys.argv[1:]))
given = dict(numpy.load(names["inputs"]))
x = given["arg_0"].copy()
x[0] = 7
"""
WRITES = "numpy.savez(names['outputs'], out_0=x + 1, out_1=x.sum())\n"
GIVEN = program("x[0] = 7\nreturn x + 1, x.sum()")
TORCH = """
import sys, numpy, torch
path, inputs, outputs = sys.argv[1:]
given = numpy.load(inputs)
args = [torch.from_numpy(given[f"arg_{k}"]) for k in range(len(given.files))]
"""
RUNS = "result = module(*args)\nnumpy.savez(outputs, **{f'out_{k}': t.numpy() for k, t in enumerate(result)})\n"


@pytest.fixture(autouse=True)
def nothing_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(commandline.VARIABLE, "{}")
    monkeypatch.chdir(tmp_path)


def command(text: str, arguments: str = "{source} {inputs} {outputs}") -> str:
    """What is typed for a Python script of this text."""
    Path("compiler.py").write_text(text)
    return f"cmd:{shlex.quote(sys.executable)} compiler.py {arguments}"


def one(text: str, arguments: str = "{source} {inputs} {outputs}", given: Program = GIVEN) -> Verdict:
    backend = backends.load(backends.resolve(command(text, arguments)))
    return judged(given, (backend, Lane.DIRECT))[backend.name, "direct"]


# ----------------------------------------------------------------------------------------------------- what is typed
@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("cmd:", "is followed by no command"),
        ("cmd:./x", r"takes its program as one of \{program\}"),
        ("cmd:./x {inputs} {outputs}", r"takes its program as one of"),
        ("cmd:./x {program} {source} {inputs} {outputs}", "takes its program as one of"),
        ("cmd:./x {program} {inputs}", r"lacks \{outputs\}"),
        ("cmd:./x {program} {outputs}", r"lacks \{inputs\}"),
        ("cmd:./x {program} {inputs} {output}", r"\{output\}, which is none of"),
        ("cmd:./x '{program} {inputs} {outputs}", "look at its quotes"),
        ("cmd:{program} {inputs} {outputs}", "begins with the program to start"),
        ("cmd:./x {program}\n{inputs} {outputs}", "a command is one line"),
        (f"{SHORT},tvm", "write 'tvm' before cmd:"),
        (f"{SHORT},{SHORT}2", "two commands are called cmd:my-compiler"),
    ],
)
def test_a_command_that_cannot_be_used_is_answered_with_how_it_is_written(typed: str, says: str) -> None:
    with pytest.raises(backends.UnknownBackend, match=says):
        backends.resolve_all(typed)


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        (SHORT, "cmd:my-compiler"),
        ("cmd:python3 -u tools/run.py {source} {inputs} {outputs}", "cmd:run"),
        ("cmd:new=./my-compiler {exported} {inputs} {outputs}", "cmd:new"),
        ("cmd:./a+b --files={inputs},{outputs} {program}", "cmd:a-b"),
        ("cmd:my-compiler", "cmd:my-compiler"),
    ],
)
def test_a_command_has_a_short_name(typed: str, name: str) -> None:
    assert backends.resolve_all(typed) == (name,)


def test_a_list_may_end_in_commands() -> None:
    assert backends.resolve_all(f"tvm, export,{SHORT}, cmd:b=./x {{source}} {{inputs}} {{outputs}}") == (
        *("tvm", "export", "cmd:my-compiler", "cmd:b"),
    )


def test_what_to_type_again_gives_the_same_backends() -> None:
    names = backends.resolve_all(f"tvm,cmd:b=./x {{source}} {{inputs}} {{outputs}},{SHORT}")
    (word,) = shlex.split(commandline.typed(names))
    assert backends.resolve_all(word) == names
    assert SHORT in word


def test_a_command_that_nobody_typed_is_unavailable_and_says_what_to_type() -> None:
    with pytest.raises(Unavailable, match="--backends 'cmd:my-compiler=COMMAND"):
        backends.load("cmd:my-compiler")
    with pytest.raises(Unavailable, match=r"there is no program \./my-compiler in /"):
        backends.load(backends.resolve(SHORT)).version()


def test_the_version_is_of_the_files_that_the_command_names() -> None:
    backend = backends.load(backends.resolve(command(KNOWS)))
    first = backend.version()
    assert first.startswith("compiler ")
    Path("compiler.py").write_text(WRITES)
    assert backend.version() != first


@pytest.mark.parametrize(
    ("arguments", "lanes", "channels"),
    [
        ("{program} {inputs} {outputs}", {Lane.DIRECT, Lane.REWRITTEN}, OUTPUT_CHANNELS),
        ("{exported} {inputs} {outputs}", {Lane.DIRECT, Lane.LEGALISED, Lane.REWRITTEN}, OUTPUT_CHANNELS),
        ("{source} {inputs} {outputs} {inputs_after}", {Lane.DIRECT}, OUTPUT_CHANNELS | {Channel.INPUTS}),
    ],
)
def test_what_it_is_given_says_what_is_judged(arguments: str, lanes: set[Lane], channels: frozenset[Channel]) -> None:
    backend = backends.load(backends.resolve(f"cmd:./x {arguments}"))
    assert (set(backend.lanes), backend.channels) == (lanes, channels)


# ----------------------------------------------------------------------------------------------------- what it is given
@pytest.mark.parametrize(
    ("arguments", "loads"),
    [
        ("{program} {inputs} {outputs}", "module = torch.jit.load(path)"),
        pytest.param(
            *("{exported} {inputs} {outputs}", "module = torch.export.load(path).module()"), marks=pytest.mark.slow
        ),
        ("{source} {inputs} {outputs}", "names = {}\nexec(open(path).read(), names)\nmodule = names['M']()"),
    ],
)
def test_a_compiler_that_runs_the_program_agrees_in_every_lane(arguments: str, loads: str) -> None:
    backend = backends.load(backends.resolve(command(f"{TORCH}{loads}\n{RUNS}", arguments)))
    given = Program(GIVEN.source, GIVEN.calls[:1])
    for where, verdict in judged(given, *((backend, lane) for lane in backend.lanes)).items():
        assert verdict.kind is Kind.AGREE, (where, str(verdict), verdict.message)


def test_buffers_are_given_back_in_the_lanes_that_take_them_as_inputs() -> None:
    backend = backends.load(
        backends.resolve(
            command(f"{TORCH}module = torch.export.load(path).module()\n{RUNS}", "{exported} {inputs} {outputs}")
        )
    )
    given = program("x.add_(1)\nself.buf.add_(x)\nreturn self.buf * 2, x + 0", init=INIT)
    verdict = judged(given, (backend, Lane.REWRITTEN))[backend.name, "rewritten"]
    assert verdict.kind is Kind.AGREE, (str(verdict), verdict.message, verdict.differences)


def test_a_dtype_that_numpy_lacks_goes_as_integers_and_comes_back() -> None:
    text = KNOWS.replace('x = given["arg_0"].copy()\nx[0] = 7\n', "") + (
        "numpy.savez(names['outputs'], **{'out_0.bfloat16': given['arg_0.bfloat16'][::-1]})\n"
    )
    half = TensorSpec((2,), "bfloat16", (1.5, 2.0))
    assert one(text, given=program("return x.flip(0)", inputs=(half,))).kind is Kind.AGREE


def test_numbers_and_nested_arguments_are_counted_in_their_order() -> None:
    text = KNOWS.replace('x = given["arg_0"].copy()\nx[0] = 7\n', "") + (
        "numpy.savez(names['outputs'], out_0=given['arg_0'] * given['arg_2'] + given['arg_1'])\n"
    )
    pair = (TensorSpec((2,), "float32", (1.0, 2.0)), TensorSpec((2,), "float32", (3.0, 4.0)))
    given = program("return x[0] * n + x[1]", parameters="x, n", inputs=(pair, TensorSpec((), "float32", (5.0,))))
    assert one(text, given=given).kind is Kind.AGREE


def test_it_runs_where_it_was_typed_without_what_is_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "import os\nassert os.path.exists('compiler.py') and 'PYTHONPATH' not in os.environ\n" + KNOWS + WRITES
    backend = backends.load(backends.resolve(command(text)))
    (Path.cwd() / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    verdict = judged(GIVEN, (backend, Lane.DIRECT))[backend.name, "direct"]
    assert verdict.kind is Kind.AGREE, verdict.message


@pytest.mark.parametrize(
    ("body", "parameters", "inputs"),
    [
        ("x[0] = 7\nreturn y + 1", "x, y", (TensorSpec((2,), "float32", (1.0, 2.0), storage=1),) * 2),
        ("return x + 1", "x", (TensorSpec((2, 2), "float32", (1.0, 2.0, 3.0), strides=(1, 1)),)),
    ],
)
def test_what_a_file_cannot_say_is_refused(body: str, parameters: str, inputs: tuple[TensorSpec, ...]) -> None:
    verdict = one(KNOWS + WRITES, given=program(body, parameters=parameters, inputs=inputs))
    assert verdict.kind is Kind.REFUSED
    assert "cannot be given in a file" in verdict.message


# ------------------------------------------------------------------------------------------------- what it gives back
@pytest.mark.parametrize(
    ("text", "verdict", "says"),
    [
        (WRITES, "agree", ""),
        ("numpy.savez(names['outputs'], out_0=x, out_1=x.sum())\n", "mismatch(values)", ""),
        ("numpy.savez(names['outputs'], out_0=x + 1, out_1=x.sum().astype('f8'))\n", "mismatch(dtype)", ""),
        ("numpy.savez(names['outputs'], out_0=x + 1)\n", "error(run)", "has 1 outputs, and the program 2"),
        ("numpy.savez(names['outputs'], y=x)\n", "error(run)", "its names are out_0, out_1"),
        ("numpy.savez(names['outputs'], out_0=numpy.array([{}]))\n", "error(run)", "is no npz file of arrays"),
        ("open(names['outputs'], 'w').write('no')\n", "error(run)", "is no npz file of arrays"),
        ("", "error(run)", "ended well and wrote no {outputs}"),
        ("print('unsupported: sum', file=sys.stderr)\nsys.exit(3)\n", "refused(run)", "unsupported: sum"),
        ("sys.exit(3)\n", "refused(run)", "says that this is not supported"),
        ("sys.exit(f'{names[\"inputs\"]}: no such operator')\n", "error(run)", "exit status 1: inputs.npz: no such op"),
        ("raise KeyError('x')\n", "error(run)", "exit status 1: KeyError: 'x'"),
    ],
)
def test_what_a_command_gives_is_its_verdict(text: str, verdict: str, says: str) -> None:
    got = one(KNOWS + text)
    assert str(got) == verdict
    assert says in got.message


@pytest.mark.parametrize(
    ("saved", "verdict"),
    [
        ("arg_0=x", "agree"),
        ("arg_0=given['arg_0']", "mismatch(inputs)"),
        ("arg_0=x[:1]", "error(run)"),
        ("arg_1=x", "error(run)"),
    ],
)
def test_inputs_after_the_call_are_judged_where_a_command_gives_them(saved: str, verdict: str) -> None:
    text = f"{KNOWS}{WRITES}numpy.savez(names['inputs_after'], {saved})\n"
    assert str(one(text, "{source} {inputs} {outputs} {inputs_after}")) == verdict


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("import os\nos.kill(os.getpid(), 11)\n", "crash(SIGSEGV)"),
        ("import sys\nsys.exit(134)\n", "crash(SIGABRT)"),  # as a shell says it
    ],
)
def test_a_command_that_dies_is_a_crash(text: str, verdict: str) -> None:
    (checked,) = check(GIVEN, backends=[command(text)])
    assert checked.backend == "cmd:compiler"
    assert checked.verdict is not None
    assert str(checked.verdict) == verdict, checked.verdict.message


# -------------------------------------------------------------------------------------------------------------- files
def test_a_file_that_speaks_of_a_command_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [corpus.Expectation("cmd:my-compiler", "direct", "my-compiler 1a2b3c4d", "mismatch(values)", "known")]
    path = corpus.write_entry(Path("corpus"), GIVEN, rows)
    assert corpus.known_fault(corpus.read_entry(path), trust=False) == ("cmd:my-compiler", "direct")
    replay_files([str(path)], Path("corpus"))
    assert "unavailable: what cmd:my-compiler runs must be typed" in capsys.readouterr().out
