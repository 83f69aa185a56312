"""Tensors without dimensions."""

from __future__ import annotations

import torch

from tests.rewrite.conformance.case import case

CASES = [
    case(
        "zd_fill",
        "x",
        """
        y = torch.zeros([])
        y += x
        return y
    """,
        lambda: (torch.tensor(42.0),),
    ),
    case(
        "zd_input_copy",
        "x, y",
        """
        x.copy_(y)
        return x
    """,
        lambda: (torch.tensor(1.0), torch.tensor(5.0)),
    ),
    case(
        "zd_view_of_zero_dim",
        "x",
        """
        x.view(1)[0] = 3.0
        return x
    """,
        lambda: (torch.tensor(1.0),),
    ),
]
