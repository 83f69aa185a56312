"""Slices: open, stepped, past the end, empty, with bounds known only at run time."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "slice_open_end",
        "x, y",
        """
        x[3:] = y
        return x
    """,
        lambda: (f(6, 2), f(3, 2, start=100)),
    ),
    case(
        "slice_step3_bounded",
        "x, y",
        """
        x[1:9:3] = y
        return x
    """,
        lambda: (f(10, 2), f(3, 2, start=100)),
    ),
    case(
        "slice_end_past_size",
        "x, y",
        """
        x[3:99] = y
        return x
    """,
        lambda: (f(5, 2), f(2, 2, start=100)),
    ),
    case(
        "slice_start_below_zero_size",
        "x, y",
        """
        x[-99:2] = y
        return x
    """,
        lambda: (f(5, 2), f(2, 2, start=100)),
    ),
    case(
        "slice_inverted_is_empty",
        "x",
        """
        x[4:2] = 55.0
        return x
    """,
        lambda: (f(5, 2),),
    ),
    case(
        "slice_dim1",
        "x, y",
        """
        x[:, 1:3] = y
        return x
    """,
        lambda: (f(3, 5), f(3, 2, start=100)),
    ),
    case(
        "slice_three_dims_steps",
        "x, y",
        """
        x[:2, 1:6:2, 1:2] = y
        return x
    """,
        lambda: (f(3, 7, 4), f(2, 3, 1, start=1000)),
    ),
    case(
        "slice_whole",
        "x, y",
        """
        x[:] = y
        return x
    """,
        lambda: (f(3, 2), f(3, 2, start=100)),
    ),
    case(
        "slice_dynamic_bounds",
        "x, a: int, e: int",
        """
        x[a:e] = x[a:e] + 50.0
        return x
    """,
        lambda: (f(6, 2), 1, 4),
        other=lambda: (f(6, 2), 3, 5),
    ),
    case(
        "slice_bound_from_shape",
        "x, y",
        """
        n = y.size(0)
        x[:n] = y
        return x
    """,
        lambda: (f(5, 2), f(2, 2, start=100)),
    ),
    case(
        "narrow_method_dim1_square",
        "x, y",
        """
        x.narrow(1, 0, 2).copy_(y)
        return x
    """,
        lambda: (f(3, 3), f(3, 2, start=100)),
    ),
]
