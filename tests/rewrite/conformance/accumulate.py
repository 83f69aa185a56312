"""index_put_ and its like with accumulate."""

from __future__ import annotations

import torch

from tests.rewrite.conformance.case import case, f, idx

CASES = [
    case(
        "acc_unique",
        "x, y, k",
        """
        x.index_put_([k], y, accumulate=True)
        return x
    """,
        lambda: (f(5), f(3, start=100), idx(0, 4, 2)),
    ),
    case(
        "acc_on_view",
        "x, k, y",
        """
        v = x[:, 1]
        v.index_put_([k], y, accumulate=True)
        return x
    """,
        lambda: (f(4, 2), idx(3, 3, 0), f(3, start=100)),
    ),
    case(
        "acc_index_add_method",
        "x, k, y",
        """
        x.index_add_(0, k, y)
        return x
    """,
        lambda: (f(4, 2), idx(3, 0, 3), f(3, 2, start=100)),
    ),
    case(
        "acc_scatter_add_method",
        "s, k",
        """
        out = torch.zeros(s.size(), dtype=s.dtype)
        return out.scatter_add_(1, k, s)
    """,
        lambda: (f(3, 2), torch.tensor([[0, 0], [1, 0], [1, 1]])),
    ),
]
