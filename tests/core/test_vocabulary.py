"""The allowlist's tables against the torch that is installed: native operators, and nothing of Tensor is left unsaid."""

from __future__ import annotations

import inspect
import math
import types

import pytest
import torch

from inplace_fuzz.core import vocabulary
from inplace_fuzz.core.vocabulary import ATTRIBUTES, FUNCTIONAL, MODES, MODULES, NAMES, OPERATORS, SIZED, TAKEN

NATIVE = {schema.name.partition("::")[2] for schema in torch._C._jit_get_all_schemas()}
# Written in Python, and looked at one by one: each calls operators and nothing else.
IN_PYTHON = frozenset(["atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "dim_order", "einsum", "is_tensor", "meshgrid", "norm", "split", "tensordot", "unflatten", "unique", "unique_consecutive", "unravel_index"])  # fmt: skip
# Native, but no operators of their own: casts and questions.
NO_SCHEMA = frozenset(["asarray", "get_default_dtype", "is_grad_enabled", "bfloat16", "bool", "byte", "cdouble", "cfloat", "char", "double", "float", "half", "int", "long", "short", "ndimension", "nelement", "new_tensor", "tolist", "type", "to", "chalf"])  # fmt: skip


def found(name: str) -> list[object]:
    places = (torch, torch.Tensor)
    return [inspect.getattr_static(place, name) for place in places if hasattr(place, name)]


def test_operators_are_native_ones() -> None:
    allowed = (types.BuiltinFunctionType, types.MethodDescriptorType, types.GetSetDescriptorType, torch.dtype)
    for name in OPERATORS:
        assert name in NATIVE | IN_PYTHON | NO_SCHEMA, name
        for thing in found(name):
            python = inspect.isfunction(thing) and name in IN_PYTHON
            assert isinstance(thing, allowed) or python, f"{name} is a {type(thing).__name__}"


def test_nothing_that_opens_or_runs_something_is_an_operator() -> None:
    for word in ("load", "save", "file", "fork", "wait", "hook", "storage_", "ptr", "numpy", "dlpack", "apply", "map"):
        assert not [n for n in OPERATORS if word in n.split("_")], word


def test_every_attribute_of_tensors_and_modules_is_allowed_or_taken() -> None:
    public = {n for kind in (torch.Tensor, torch.nn.Module()) for n in dir(kind) if not n.startswith("_")}
    assert not public - ATTRIBUTES - TAKEN - {"forward"}
    assert not ATTRIBUTES & TAKEN


def test_attributes_begin_with_a_letter() -> None:
    for names in (ATTRIBUTES, OPERATORS, *NAMES.values()):
        assert all(not n.startswith("_") or n.startswith("_foreach_") or n == "annotations" for n in names)


@pytest.mark.parametrize("module", [n for n in NAMES if n.startswith("torch")])
def test_no_name_of_a_module_is_a_module_but_those_in_the_table(module: str) -> None:
    here: object = torch
    for word in module.split(".")[1:]:
        here = getattr(here, word)
    for name in NAMES[module]:
        if f"{module}.{name}" not in NAMES and module != "torch.ops.aten":
            assert not isinstance(getattr(here, name, None), types.ModuleType), f"{module}.{name}"


def test_functional_names_are_functions_and_modules_are_modules() -> None:
    for name in FUNCTIONAL:
        assert callable(getattr(torch.nn.functional, name)), name
    for name in MODULES - {"Module", "Parameter", "Buffer"}:
        assert issubclass(getattr(torch.nn, name), torch.nn.Module), name
    for name in vocabulary.NAMES["math"]:
        assert hasattr(math, name), name


def test_what_is_counted_is_there() -> None:
    assert set(SIZED) <= OPERATORS | {"Tensor"}
    assert all(path.removeprefix("torch.") in NAMES["torch"] for path in MODES)
