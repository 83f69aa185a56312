"""Integer index tensors."""

from __future__ import annotations

import torch

from tests.rewrite.conformance.case import case, f, idx

CASES = [
    case(
        "adv_one_index",
        "x, y, k",
        """
        x[k] = y
        return x
    """,
        lambda: (f(6), f(3, start=100), idx(4, 0, 2)),
        other=lambda: (f(6), f(3, start=100), idx(1, 5, 3)),
    ),
    case(
        "adv_one_index_2d_rows",
        "x, y, k",
        """
        x[k] = y
        return x
    """,
        lambda: (f(5, 3), f(2, 3, start=100), idx(3, 1)),
    ),
    case(
        "adv_two_indices",
        "x, y, r, c",
        """
        x[r, c] = y
        return x
    """,
        lambda: (f(4, 5), f(3, start=100), idx(0, 3, 1), idx(4, 0, 2)),
    ),
    case(
        "adv_2d_index_tensor",
        "x, y, k",
        """
        x[k] = y
        return x
    """,
        lambda: (f(6), f(2, 2, start=100), torch.tensor([[0, 3], [5, 1]])),
    ),
    case(
        "adv_scalar_value",
        "x, k",
        """
        x[k] = -3.0
        return x
    """,
        lambda: (f(5, 2), idx(0, 4)),
    ),
    case(
        "adv_constant_index",
        "x, y",
        """
        x[torch.tensor([3, 1])] = y
        return x
    """,
        lambda: (f(5), f(2, start=100)),
    ),
    case(
        "adv_empty_index",
        "x, y",
        """
        x[torch.tensor([2])] = y
        x[torch.zeros([0], dtype=torch.int64)] = 9.0
        return x
    """,
        lambda: (f(4), torch.tensor(45.0)),
    ),
    case(
        "adv_int32_index",
        "x, y, k",
        """
        x[k] = y
        return x
    """,
        lambda: (f(6), f(2, start=100), torch.tensor([4, 1], dtype=torch.int32)),
    ),
]
