"""Index tensors among slices and None."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f, idx

CASES = [
    case(
        "mix_index_then_slice",
        "x, y, k",
        """
        x[k, 1:3] = y
        return x
    """,
        lambda: (f(4, 5), f(2, 2, start=100), idx(3, 0)),
    ),
    case(
        "mix_slice_slice_index",
        "x, y",
        """
        x[1:2, 1:3, torch.tensor([1])] += y
        return x
    """,
        lambda: (f(3, 4, 5), f(1, 2, 1, start=100)),
    ),
    case(
        "mix_index_slice_index_not_adjacent",
        "x, y, r, c",
        """
        x[r, :, c] = y
        return x
    """,
        lambda: (f(3, 2, 4), f(2, 2, start=100), idx(0, 2), idx(3, 1)),
    ),
    case(
        "mix_index_of_slice_variable",
        "x, y, k",
        """
        v = x[:, 1:]
        v[:, k] = y
        return x, v
    """,
        lambda: (f(2, 5), f(2, 2, start=100), idx(3, 0)),
    ),
    case(
        "mix_none_inserted",
        "x, y",
        """
        x[:, None, 1:3] = y
        return x
    """,
        lambda: (f(3, 4), f(3, 1, 2, start=100)),
    ),
]
