"""TorchScript's own faults: does a scripted or traced module do what the module does?

`torch.jit.script` loses some writes (`x |= 1`, `torch._foreach_add_`, a write to a tensor in a returned tuple), and
makes copies of what is a view in eager (`x.type_as(x)`). A pass that is right about such a graph is wrong about the
module. So where there are example inputs, both are run on copies of them, and what a caller can see is compared.
"""

# ruff: noqa: SLF001  (torch keeps its graphs behind underscores)

from __future__ import annotations

import copy
from typing import Any

import torch

from . import examples

_Seen = tuple[Any, ...]  # outputs, inputs, tensors of the module, what shares memory with what


def faithful(module: torch.nn.Module, script: Any, example_inputs: Any) -> bool:
    """Whether both give the same outputs, inputs after the call, and parameters and buffers after the call.

    True also where that cannot be found out: the module cannot be copied, or does not run on these inputs.
    """
    with torch.random.fork_rng(devices=[]):
        try:
            own = copy.deepcopy(module)
            torch.manual_seed(0)
            inputs = examples.copies(example_inputs)
            eager: _Seen = _seen(own(*inputs), inputs, _state(own))
        except Exception:  # noqa: BLE001  whatever it raises, there is nothing to compare with
            return True
        torch.manual_seed(0)
        return _same(eager, _run(module, script, examples.copies(example_inputs)))


def faithful_fx(module: torch.nn.Module, functional: torch.fx.GraphModule, example_inputs: Any) -> bool:
    """The same of an FX module, whose buffers are told apart by name. Its tensors are put back afterwards."""
    with torch.random.fork_rng(devices=[]):
        try:
            own = copy.deepcopy(module)
            torch.manual_seed(0)
            inputs = examples.copies(example_inputs)
            output = own(*inputs)
            named = {n: t for n, t in own.named_buffers() if n in dict(functional.named_buffers())}
            eager = _seen(output, inputs, list(named.values()))
        except Exception:  # noqa: BLE001  whatever it raises, there is nothing to compare with
            return True
        torch.manual_seed(0)
        others = examples.copies(example_inputs)
        before = [(t, t.detach().clone()) for t in _state(functional)]
        try:
            output, held = functional(*others), dict(functional.named_buffers())
            made = _seen(output, others, [held[n] for n in named])
        except Exception:  # noqa: BLE001  it fails where the module does not
            return False
        finally:
            with torch.no_grad():
                for tensor, value in before:
                    tensor.data.copy_(value)
        return _same(eager, made)


def has_branches(script: Any) -> bool:
    """Whether the graph holds a branch or a loop, which a trace would freeze."""
    return bool(script.inlined_graph.findAllNodes("prim::If") or script.inlined_graph.findAllNodes("prim::Loop"))


def _run(module: torch.nn.Module, script: Any, inputs: tuple[Any, ...]) -> _Seen | None:
    """What the graph shows when it is interpreted as it stands; the module's tensors are put back afterwards."""
    from .module import share_tensors

    before = [(t, t.detach().clone()) for t in _state(module)]
    interpret: Any = getattr(torch._C, "_jit_interpret_graph")  # noqa: B009
    try:
        given = (*inputs, *examples.defaults(script)[len(inputs) :])
        output = interpret(script.inlined_graph, (script._c, *given))
        return _seen(output, inputs, _state(script))
    except Exception:  # noqa: BLE001  it fails where the module does not
        return None
    finally:
        with torch.no_grad():
            for tensor, value in before:
                tensor.data = value if tensor.shape != value.shape else tensor.data.copy_(value)
        share_tensors(script._c, module)


def _seen(output: Any, inputs: Any, state: list[torch.Tensor]) -> _Seen:
    """What a caller can see, kept from later writes."""
    leaves = torch.utils._pytree.tree_leaves((output, inputs, state))
    where = [t.untyped_storage().data_ptr() for t in leaves if isinstance(t, torch.Tensor) and t.numel()]
    return *examples.copies((output, inputs, state)), [where.index(place) for place in where]


def _buffers(module: Any) -> list[torch.Tensor]:
    return list(dict(module.named_buffers()).values())


def _state(module: Any) -> list[torch.Tensor]:
    return [*dict(module.named_parameters()).values(), *_buffers(module)]


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, torch.Tensor) or isinstance(right, torch.Tensor):
        return (
            isinstance(left, torch.Tensor)
            and isinstance(right, torch.Tensor)
            and left.dtype == right.dtype
            and left.shape == right.shape
            and torch.equal(torch.nan_to_num(left.detach()), torch.nan_to_num(right.detach()))
        )
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_same(v, right[k]) for k, v in left.items())
    return bool(left == right or (left != left and right != right))
