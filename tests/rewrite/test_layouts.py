"""How a tensor made inside lies in memory, as a scripted graph and a graph of torch.export say it."""

from __future__ import annotations

import pytest
import torch

from inplace_fuzz.rewrite import functionalize


class GrowsItsOut(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty([0])
        torch.mul(x, 2.0, out=y)
        y[0] = 50.0
        return y


class FlattensAnotherFormat(torch.nn.Module):
    """`flatten` copies, as its argument is not contiguous."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.empty([1, 2, 2, 2], memory_format=torch.channels_last).fill_(1.0)
        y.flatten().add_(x.sum())
        return y + 0


@pytest.mark.parametrize("route", ["script", "export"])
@pytest.mark.parametrize("make", [GrowsItsOut, FlattensAnotherFormat], ids=lambda m: m.__name__)
def test_made_inside(make: type[torch.nn.Module], route: str) -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    exported = route == "export"
    module = torch.export.export(make(), (x,)).module() if exported else torch.jit.script(make())
    functional = functionalize(module, (x,), target="fx" if exported else "torchscript")
    assert functional(x.clone()).tolist() == make()(x.clone()).tolist()
