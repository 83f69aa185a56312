"""Outputs that share memory."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "out_same_twice",
        "x",
        """
        y = x + 1.0
        y[0] = 0.0
        return y, y
    """,
        lambda: (f(3),),
    ),
    case(
        "out_base_and_view",
        "x",
        """
        y = x + 1.0
        v = y[1:]
        v.mul_(2.0)
        return y, v
    """,
        lambda: (f(4),),
    ),
    case(
        "out_view_of_input",
        "x",
        """
        v = x[1]
        x.add_(1.0)
        return v
    """,
        lambda: (f(3, 2),),
    ),
    case(
        "out_input_itself_unmutated",
        "x",
        """
        return x
    """,
        lambda: (f(3),),
    ),
    case(
        "out_view_written_after_collected",
        "x",
        """
        y = x + 0.0
        out = (y[0], y[1])
        y.add_(10.0)
        return out
    """,
        lambda: (f(2, 2),),
    ),
]
