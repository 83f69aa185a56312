"""Fewer and plainer inputs: fewer calls, no unused parameters, one input for two, plain layouts, counted values."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from inplace_fuzz.core import Program, TensorSpec
from inplace_fuzz.core.spec import Arg, map_specs
from inplace_fuzz.shrink.edit import constant, each_input, edited, name


def fewer_calls(program: Program) -> Iterator[Program]:
    """Keeps one call, then drops calls one by one."""
    calls = program.calls
    if len(calls) > 1:
        yield from (program.with_calls(c) for c in calls)
    if len(calls) > 2:
        yield from (program.with_calls(*calls[:k], *calls[k + 1 :]) for k in range(len(calls)))


def drop_unused_parameters(program: Program) -> Iterator[Program]:
    """Drops the parameters that forward never reads, all at once and then one by one, with their arguments."""
    used = {n.id for n in ast.walk(ast.Module(program.forward.body, [])) if isinstance(n, ast.Name)}
    unused = [p for p in program.parameters if p not in used]
    if len(unused) > 1:
        yield _without_parameters(program, unused)
    yield from (_without_parameters(program, [p]) for p in unused)


def merge_inputs(program: Program) -> Iterator[Program]:
    """Reads one input in place of another."""
    parameters = program.parameters
    for k, gone in enumerate(parameters):
        for kept in parameters[:k]:
            if _same_sort(program, kept, gone):
                yield _without_parameters(program, [gone], {gone: name(kept)})


def inputs_by_literals(program: Program) -> Iterator[Program]:
    """Writes the value of an input that is a plain number where it is read."""
    for parameter, arg in _arguments(program):
        if isinstance(arg, (bool, int, float)):
            yield _without_parameters(program, [parameter], {parameter: constant(arg)})


def plain_signature(program: Program) -> Iterator[Program]:
    """Drops annotations and defaults from forward, and the annotations of its locals.

    What is no tensor keeps its annotation: TorchScript takes an argument without one for a tensor.
    """
    function = program.forward
    tensors = {p for p, arg in _arguments(program) if isinstance(arg, TensorSpec)}
    annotated = [a for a in ast.walk(function.args) if isinstance(a, ast.arg) and a.annotation and a.arg in tensors]
    bare: dict[ast.AST, ast.AST | None] = {a: ast.arg(a.arg) for a in annotated}
    if function.returns:
        bare[function.returns] = None
    if bare:
        yield edited(program, bare)
    if function.args.defaults and all(len(c) == len(program.parameters) for c in program.calls):
        yield edited(program, dict.fromkeys(function.args.defaults))
    declared = [s for s in ast.walk(function) if isinstance(s, ast.AnnAssign) and s.value is not None]
    if declared:
        yield edited(program, {s: ast.Assign([s.target], s.value) for s in declared if s.value is not None})
    fixed = _never_passed(program)
    if fixed:
        reads: dict[ast.AST, ast.AST | None] = {
            n: fixed[n.id] for n in ast.walk(function) if isinstance(n, ast.Name) and n.id in fixed
        }
        signature = ast.arguments(
            posonlyargs=[],
            args=[a for a in function.args.args if a.arg not in fixed],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        )
        yield edited(program, {**reads, function.args: signature})


def _never_passed(program: Program) -> dict[str, ast.expr]:
    """The defaults of the arguments that no call passes."""
    arguments = program.forward.args
    if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
        return {}
    most = max(map(len, program.calls), default=0)
    positional = [a.arg for a in arguments.args[1:]]
    defaults = dict(zip(reversed(positional), reversed(arguments.defaults), strict=False))
    found = {p: defaults[p] for p in positional[most:] if p in defaults}
    if len(found) != len(defaults):
        return {}
    return found | {a.arg: d for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None}


def plain_dtypes(program: Program) -> Iterator[Program]:
    """Makes inputs float32: with every dtype in the text, then all inputs, the floating ones, and one by one."""
    keywords = [k for k in ast.walk(program.forward) if isinstance(k, ast.keyword) and k.arg == "dtype"]
    plain: dict[ast.AST, ast.AST | None] = dict.fromkeys(keywords)
    for change in (_float, _float_if_floating):
        if keywords:
            yield edited(program, plain).with_calls(*(map_specs(c, change) for c in program.calls))
    yield program.with_calls(*(map_specs(c, _float_if_floating) for c in program.calls))
    yield from each_input(program, _float)


def plain_values(program: Program) -> Iterator[Program]:
    """Renumbers the values of inputs: floats 1, 2, 3 … through all inputs, integers 0, 1, 2 … or all 0."""
    counted = iter(range(1, 1 << 30))
    yield program.with_calls(
        *(map_specs(c, lambda s: _renumbered(s, counted)) for c in program.calls[:1]), *program.calls[1:]
    )
    yield from each_input(program, _from_one)
    yield from each_input(program, _zeros)


def _arguments(program: Program) -> list[tuple[str, Arg]]:
    first = program.calls[0] if program.calls else ()
    return list(zip(program.parameters, first, strict=False))


def _same_sort(program: Program, kept: str, gone: str) -> bool:
    by_name = dict(_arguments(program))
    a, b = by_name.get(kept), by_name.get(gone)
    if isinstance(a, TensorSpec) and isinstance(b, TensorSpec):
        return (a.dtype == "bool") == (b.dtype == "bool") and a.dtype.startswith("int") == b.dtype.startswith("int")
    return type(a) is type(b)


def _without_parameters(program: Program, gone: list[str], instead: dict[str, ast.expr] | None = None) -> Program:
    """The program without these parameters and their arguments, reading `instead` in their place."""
    arguments = program.forward.args
    every = arguments.posonlyargs + arguments.args
    first_default = len(every) - len(arguments.defaults)
    changes: dict[ast.AST, ast.AST | None] = {}
    for k, arg in enumerate(every):
        if arg.arg in gone:
            changes[arg] = None
            if k >= first_default:
                changes[arguments.defaults[k - first_default]] = None
    for node in ast.walk(program.forward):
        if isinstance(node, ast.Name) and instead and node.id in instead:
            changes[node] = instead[node.id]
    positions = {program.parameters.index(p) for p in gone}
    calls = tuple(tuple(a for k, a in enumerate(c) if k not in positions) for c in program.calls)
    return replace(edited(program, changes), calls=calls)


def _float(spec: TensorSpec) -> TensorSpec:
    whole = [v.real if isinstance(v, complex) else v for v in spec.values]
    return replace(spec, dtype="float32", values=tuple(float(v) for v in whole))


def _float_if_floating(spec: TensorSpec) -> TensorSpec:
    return spec if spec.dtype.startswith(("int", "uint", "bool")) else _float(spec)


def _renumbered(spec: TensorSpec, counted: Iterator[int]) -> TensorSpec:
    if spec.dtype == "bool" or spec.storage is not None:
        return spec
    if spec.dtype.startswith(("int", "uint")):
        return spec
    kind = complex if spec.dtype.startswith("complex") else float
    return spec.with_values(tuple(kind(next(counted)) for _ in spec.values))


def _from_one(spec: TensorSpec) -> TensorSpec:
    if spec.dtype == "bool":
        return spec.with_values(tuple(k % 2 == 0 for k in range(len(spec.values))))
    whole = spec.dtype.startswith(("int", "uint"))
    kind = int if whole else complex if spec.dtype.startswith("complex") else float
    return spec.with_values(tuple(kind(k + (not whole)) for k in range(len(spec.values))))


def _zeros(spec: TensorSpec) -> TensorSpec:
    return spec.with_values((0,) * len(spec.values)) if spec.dtype.startswith(("int", "uint")) else spec
