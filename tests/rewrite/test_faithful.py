"""functionalize() of a module that TorchScript gets wrong: right by another way, or refused; never wrong with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from inplace_fuzz.rewrite import UnsupportedMutation, functionalize


class LosesAugmented(torch.nn.Module):
    def forward(self, x):
        x |= 1
        return x


class LosesForeach(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(2, dtype=torch.int64))

    def forward(self, x):
        self.n.add_(x)
        torch._foreach_add_([x], 1)
        return x + self.n


class LosesReturned(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        out = (y,)
        y.add_(10)
        return out


class CopiesAView(torch.nn.Module):
    def forward(self, x):
        x.type_as(x)[:] = 0
        return x + 1


class DropsLeadingOnes(torch.nn.Module):
    def forward(self, x):
        x[0] = (x[1] + 1)[None, None]
        return x


class WritesAConjugate(torch.nn.Module):
    def forward(self, x):
        (x * 1j).conj()[:] = x
        y = x + 0j
        y.conj().add_(1j)
        x.conj().add_(1)
        return torch.view_as_real(y) * x[0]


class ReturnsItsBuffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(2, dtype=torch.int64))

    def forward(self, x):
        self.n.add_(x)
        return self.n


class OneTensorTwoNames(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(2, dtype=torch.int64))
        self.same = self.n

    def forward(self, x):
        self.n.add_(x)
        self.same.mul_(2)
        return self.n - x


class LosesBehindABranch(torch.nn.Module):
    def forward(self, x):
        if bool(x.sum() > 0):
            x |= 4
        return x + 1


MODULES = (
    LosesAugmented, LosesForeach, LosesReturned, CopiesAView, DropsLeadingOnes, WritesAConjugate, ReturnsItsBuffer,
    OneTensorTwoNames,
)  # fmt: skip


def show(module: torch.nn.Module, call: Callable[..., object]) -> object:
    x = torch.tensor([3, 4])
    output = call(x)
    output = output[0] if isinstance(output, tuple) else output
    return output.tolist(), x.tolist(), [b.tolist() for b in module.buffers()]


@pytest.mark.parametrize("target", ["torchscript", "fx"])
@pytest.mark.parametrize("make", MODULES, ids=lambda m: m.__name__)
def test_what_script_gets_wrong_comes_out_right(make: type[torch.nn.Module], target: str) -> None:
    eager, module = make(), make()
    functional = functionalize(module, (torch.tensor([1, 2]),), target=target)
    assert show(module, functional) == show(eager, eager)
    assert show(module, functional) == show(eager, eager), "the second call, with the buffers that the first left"


def test_looking_leaves_the_module_as_it_was() -> None:
    module = LosesForeach()
    functionalize(module, (torch.tensor([1, 2]),))
    assert module.n.tolist() == [0, 0]


def test_what_a_trace_would_freeze_is_refused() -> None:
    with pytest.raises(UnsupportedMutation, match="a fault of TorchScript"):
        functionalize(LosesBehindABranch(), (torch.tensor([1, 2]),))


class WritesInABranch(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(2, dtype=torch.int64))

    def forward(self, x):
        if bool(x.sum() > 0):
            y = x.clone()
            y[0] = 3
            self.n -= x
        else:
            y = x.clone()
            y[1] = 4
        return y


def test_what_is_made_or_first_met_in_a_branch_keeps_its_writes() -> None:
    eager, module = WritesInABranch(), WritesInABranch()
    functional = functionalize(module, (torch.tensor([1, 2]),))
    for values in ([1, 2], [-1, -2], [3, 4]):
        x, y = torch.tensor(values), torch.tensor(values)
        assert functional(x).tolist() == eager(y).tolist()
        assert module.n.tolist() == eager.n.tolist()


class Truncates(torch.nn.Module):
    def forward(self, x):
        x += 1
        return x * int(x[1])


class WritesAReboundBuffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.zeros(3))

    def forward(self, x):
        old = self.b
        self.b = x + 1
        old.add_(5)
        return old


class BuffersShare(torch.nn.Module):
    def __init__(self):
        super().__init__()
        both = torch.zeros(4)
        self.register_buffer("b", both)
        self.register_buffer("c", both[1:])

    def forward(self, x):
        self.c.add_(x)
        return self.b * 1


def test_a_number_taken_from_a_tensor_is_truncated_as_in_eager() -> None:
    functional = functionalize(Truncates(), (torch.tensor([1.5, 2.7]),), target="fx")
    assert functional(torch.tensor([1.5, 2.7])).tolist() == Truncates()(torch.tensor([1.5, 2.7])).tolist()


@pytest.mark.parametrize(
    ("make", "example"),
    [
        (WritesAReboundBuffer, torch.ones(3)),
        (BuffersShare, torch.ones(3)),
    ],
)
def test_what_no_way_gets_right_is_refused(make: type[torch.nn.Module], example: torch.Tensor) -> None:
    with pytest.raises(UnsupportedMutation):
        functionalize(make(), (example,), target="fx")
