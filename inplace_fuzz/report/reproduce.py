"""A corpus entry for people who do not have this tool: a script that shows the fault, a test, a bug report.

All three are one text: the program, its inputs, how the compiler is called (`backends.recipes`), and a function that
looks at just what the fault is about, so that both sides can be printed or compared.
"""

from __future__ import annotations

import textwrap

from inplace_fuzz import corpus
from inplace_fuzz.backends.recipes import RECIPES, Recipe
from inplace_fuzz.campaign.text import program_lines
from inplace_fuzz.core import Channel, Kind, Lane, Program, ProgramError, Verdict, render
from inplace_fuzz.core.intake import typed_path
from inplace_fuzz.core.spec import specs_in
from inplace_fuzz.core.words import slug

_COPIES = """\
def copies(value):
    leaves = torch.utils._pytree.tree_leaves(value)
    return [t.detach().clone() if isinstance(t, torch.Tensor) else t for t in leaves]
"""
_STATE = """\
def state(function):
    return list(function.buffers()) if isinstance(function, torch.nn.Module) else []
"""
_SHARED = """\
def shared(value):
    tensors = [t for t in torch.utils._pytree.tree_leaves(value) if isinstance(t, torch.Tensor)]
    where = [t.untyped_storage().data_ptr() for t in tensors]
    return [where[i] == where[j] for i in range(len(where)) for j in range(i)]
"""
_VALUES = frozenset({Channel.VALUES, Channel.DTYPE, Channel.SHAPE, Channel.STRUCTURE, Channel.STRIDES})


def chosen(entry: corpus.Entry, backend: str | None) -> corpus.Expectation:
    """The fault that is to be told: of this backend, or the first; in the direct lane, which needs nothing of ours.

    Raises ProgramError where there is none.
    """
    faults = [x for x in entry.expectations if x.is_fault and backend in (None, x.backend)]
    direct = [x for x in faults if x.lane == Lane.DIRECT and x.backend in RECIPES]
    if direct:
        return direct[0]
    whose = f"of {backend} " if backend else ""
    if faults:
        found = ", ".join(dict.fromkeys(x.key for x in faults))
        raise ProgramError(
            f"{entry.path} holds no fault {whose}that shows without this tool, only in {found}; "
            f"`inplace-fuzz replay {typed_path(entry.path)}` shows those"
        )
    raise ProgramError(
        f"{entry.path} holds no known fault {whose}yet; "
        f"`inplace-fuzz corpus add {typed_path(entry.path)}` writes down what it gives"
    )


def script(program: Program, fault: corpus.Expectation) -> str:
    """A file that prints what eager gives and what the compiler gives. It needs torch and the compiler alone."""
    parts = _common(program, fault)
    parts.append(
        'if __name__ == "__main__":\n'
        '    print("eager   ", seen(M().eval()))\n'
        f'    print("{_shown_name(fault)}", seen(compiled(M().eval(), inputs())))\n'
    )
    return "\n\n".join(parts)


def suite_test(program: Program, fault: corpus.Expectation) -> str:
    """A pytest file for the compiler's own suite: it fails while the fault is there, and passes once it is gone."""
    recipe = RECIPES[fault.backend]
    parts = _common(program, fault)
    head, *rest = parts
    importing = "" if recipe.package == "torch" else f'\npytest.importorskip("{recipe.package}")\n'
    head = head.replace(
        "import torch\n", f"import pytest\nimport torch\n{importing}" if importing else "import torch\n", 1
    )
    exact = "rtol=0, atol=0, equal_nan=True" if program.exact else "equal_nan=True"
    rest.append(
        f"def test_{slug(program).replace('-', '_')}():\n"
        "    expected = seen(M().eval())\n"
        "    actual = seen(compiled(M().eval(), inputs()))\n"
        "    assert [name for name, _ in actual] == [name for name, _ in expected]\n"
        "    for (name, got), (_, wanted) in zip(actual, expected):\n"
        f'        torch.testing.assert_close(got, wanted, {exact}, msg=lambda text, name=name: f"{{name}}: {{text}}")\n'
    )
    return "\n\n".join([f'"""{_sentence(program)}"""\n\n{head}', *rest])


def report(entry: corpus.Entry, program: Program, fault: corpus.Expectation, machine: str) -> str:
    """The bug report, in the order and under the headings that the compiler's tracker has."""
    recipe = RECIPES[fault.backend]
    verdict = Verdict.parse(fault.verdict)
    said = f"{fault.message}\n" if fault.message else "\n".join(corpus.shown_lines(entry)) + "\n"
    versions = "\n".join([fault.versions, *_torch_row(entry, fault), machine])
    parts = {
        "bug": f"{entry.title}\n\n```python\n{chr(10).join(program_lines(program))}\n```",
        "reproduce": f"```python\n{script(program, fault).strip()}\n```",
        "expected": "What eager PyTorch gives.",
        "actual": f"{_what(verdict)}\n\n```text\n{said.strip()}\n```" if said.strip() else _what(verdict),
        "versions": f"```text\n{versions}\n```",
    }
    lines = [f"Title: {_report_title(program, fault, recipe)}", f"Tracker: {recipe.project}", ""]
    for heading, wanted in recipe.sections:
        keys = wanted.split()
        text = "\n\n".join(parts[k] for k in keys) if all(k in parts for k in keys) else wanted
        lines += [f"### {heading}", "", text, ""]
    if fault.cures:
        lines += [_cures(fault), ""]
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------------------------ the parts
def _common(program: Program, fault: corpus.Expectation) -> list[str]:
    verdict = Verdict.parse(fault.verdict)
    recipe = RECIPES[fault.backend]
    names = ""
    if "INPUTS" in recipe.body:
        names = (
            f"INPUTS = {[n for n, a in zip(program.parameters, program.calls[0], strict=False) if specs_in((a,))]!r}\n"
        )
    compiled = "def compiled(module, example):\n" + textwrap.indent(recipe.body.rstrip(), "    ") + "\n"
    parts = [render(program).strip() + "\n", *([names] if names else []), compiled]
    return [*parts, _seen(program, verdict)]


def _seen(program: Program, verdict: Verdict) -> str:
    """A function that lists what the fault is about, by name."""
    calls = ["inputs", *(f"inputs_{k + 1}" for k in range(1, len(program.calls)))]
    channels = set(verdict.channels)
    again = Channel.AGAIN in channels
    if again and len(calls) == 1:
        calls *= 2
    lines = [
        "def seen(function):",
        "    shown = []",
        f"    for make in ({', '.join(calls)},):",
        "        args = make()",
    ]
    lines.append("        output = function(*args)")
    if not channels or channels & _VALUES or again:
        lines.append('        shown += [("output", t) for t in copies(output)]')
    if Channel.INPUTS in channels:
        lines.append('        shown += [("input after the call", t) for t in copies(args)]')
    if Channel.BUFFERS in channels:
        lines.append('        shown += [("buffer", t) for t in copies(state(function))]')
    if Channel.ALIAS in channels:
        lines.append('        shown += [("shares memory", s) for s in shared([output, *args, *state(function)])]')
    if again:
        lines += ["        for tensor in torch.utils._pytree.tree_leaves(output):", "            tensor.fill_(77)"]
    lines.append("    return shown\n")
    helpers = [_COPIES]
    helpers += [_STATE] if channels & {Channel.ALIAS, Channel.BUFFERS} else []
    helpers += [_SHARED] if Channel.ALIAS in channels else []
    return "\n\n".join([*helpers, "\n".join(lines)])


def _shown_name(fault: corpus.Expectation) -> str:
    return fault.backend.ljust(8)


def _sentence(program: Program) -> str:
    return (program.title or "A module that is compiled otherwise than eager runs it.").replace('"""', "'''")


def _what(verdict: Verdict) -> str:
    if verdict.kind is Kind.MISMATCH:
        return f"It compiles and runs without an error, and differs from eager in: {', '.join(verdict.channels)}."
    if verdict.kind is Kind.ERROR:
        return f"It fails to {verdict.stage}."
    return f"The process ends in {verdict}."


def _report_title(program: Program, fault: corpus.Expectation, recipe: Recipe) -> str:
    verdict = Verdict.parse(fault.verdict)
    kind = "Silent wrong result" if verdict.kind is Kind.MISMATCH else "Crash" if verdict.signal else "Error"
    own = program.title.partition(": ")[0].rstrip(".") or slug(program)
    route = fault.backend if recipe.project == "pytorch/pytorch" else "PyTorch frontend"
    return f"[{route}] {kind}: {own}"


def _torch_row(entry: corpus.Entry, fault: corpus.Expectation) -> list[str]:
    if fault.versions.startswith("torch "):
        return []
    return [x.versions for x in entry.expectations if x.versions.startswith("torch ")][:1]


def _cures(fault: corpus.Expectation) -> str:
    from inplace_fuzz.shrink.respell import BY_NAME

    examples = [BY_NAME[name].example for name in fault.cures if name in BY_NAME]
    return "The result is right where " + ", or ".join(f"`{a}` is written as `{b}`" for a, b in examples) + "."


__all__ = ["chosen", "report", "script", "suite_test"]
