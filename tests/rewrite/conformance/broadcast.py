"""Sources smaller than what they are written to."""

from __future__ import annotations

import torch

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "bc_row_into_matrix",
        "x, y",
        """
        x.copy_(y)
        return x
    """,
        lambda: (f(3, 4), f(4, start=100)),
    ),
    case(
        "bc_zero_dim_tensor_value",
        "x, v",
        """
        x[1:, 0] = v
        return x
    """,
        lambda: (f(3, 2), torch.tensor(9.0)),
    ),
    case(
        "bc_add_row",
        "x, y",
        """
        x[1:].add_(y)
        return x
    """,
        lambda: (f(3, 2), f(2, start=100)),
    ),
    case(
        "bc_expanded_source",
        "x, y",
        """
        x[:2] = y.expand([2, 3])
        return x
    """,
        lambda: (f(3, 3), f(1, 3, start=100)),
    ),
    case(
        "bc_select_value_lower_rank",
        "x",
        """
        x[0] = torch.tensor([1.0, 2.0, 3.0])
        return x
    """,
        lambda: (f(2, 4, 3),),
    ),
    case(
        "bc_one_element_into_slice",
        "x",
        """
        x[:1, 1, :2] = torch.tensor([8.0]).view(1, 1)
        return x
    """,
        lambda: (f(2, 3, 3),),
    ),
]
