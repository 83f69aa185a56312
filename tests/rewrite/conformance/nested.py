"""Views of views."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "nest_slice_slice_same_dim",
        "x, y",
        """
        x[1:6][1:3] = y
        return x
    """,
        lambda: (f(8, 2), f(2, 2, start=100)),
    ),
    case(
        "nest_select_select",
        "x",
        """
        x[1][2] = 77.0
        return x
    """,
        lambda: (f(3, 4),),
    ),
    case(
        "nest_slice_step_of_step",
        "x, y",
        """
        x[::2][1::2] = y
        return x
    """,
        lambda: (f(9, 2), f(2, 2, start=100)),
    ),
    case(
        "nest_negative_of_slice",
        "x",
        """
        x[2:-1, -1, :] = x[2:-1, -1, :] + 1.0
        return x
    """,
        lambda: (f(5, 3, 2),),
    ),
    case(
        "nest_view_of_select",
        "x, y",
        """
        x[1].view(2, 3).copy_(y)
        return x
    """,
        lambda: (f(3, 6), f(2, 3, start=100)),
    ),
    case(
        "nest_unpack_select",
        "x",
        """
        r = x[1:3]
        r[0] = 5.0
        r[1, 1:] = 6.0
        return x, r
    """,
        lambda: (f(4, 3),),
    ),
]
