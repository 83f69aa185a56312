"""Operators that change the shape of one name only."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "meta_transpose_then_write",
        "x",
        """
        y = x.clone()
        y.transpose_(0, 1)
        r = y[0]
        r.add_(100.0)
        return y, r
    """,
        lambda: (f(3, 2),),
    ),
    case(
        "meta_t_other_view_keeps_shape",
        "x",
        """
        base = x.clone()
        v = base[1:]
        base.t_()
        base.add_(2.0)
        return base, v
    """,
        lambda: (f(3, 2),),
    ),
]
