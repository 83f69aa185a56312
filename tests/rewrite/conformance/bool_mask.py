"""Masks: which elements are written depends on content."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f, idx, mask

CASES = [
    case(
        "mask_rows",
        "x, y, m",
        """
        x[m] = y
        return x
    """,
        lambda: (f(4, 3), f(2, 3, start=100), mask(False, True, False, True)),
        other=lambda: (f(4, 3), f(2, 3, start=100), mask(True, False, True, False)),
    ),
    case(
        "mask_after_slice",
        "x, m",
        """
        x[1:, m] = -1.0
        return x
    """,
        lambda: (f(3, 4), mask(True, False, False, True)),
    ),
    case(
        "mask_from_view_write_back",
        "x",
        """
        v = x[:, 1]
        v[v > 4.0] = -4.0
        return x
    """,
        lambda: (f(4, 2),),
    ),
    case(
        "masked_fill_on_view",
        "x, m",
        """
        x.view(3, 2).masked_fill_(m.unsqueeze(0), 99.0)
        return x
    """,
        lambda: (f(6), mask(True, False)),
    ),
    case(
        "masked_fill_broadcast_mask",
        "x",
        """
        m = torch.tensor([[False, False, True], [True, True, False]])
        x.masked_fill_(m, 2.5)
        return x
    """,
        lambda: (f(4, 2, 3),),
    ),
    case(
        "mask_with_int_index",
        "x, m, k",
        """
        x[m, k] = 50.0
        return x
    """,
        lambda: (f(4, 3), mask(True, False, True, False), idx(2, 0)),
    ),
]
