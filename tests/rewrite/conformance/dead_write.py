"""Writes that nobody, or only the caller, sees."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "dead_overwritten",
        "x",
        """
        y = x.clone()
        y[0] = 1.0
        y[0] = 2.0
        return y
    """,
        lambda: (f(2),),
    ),
    case(
        "dead_on_discarded_local",
        "x",
        """
        t = x * 2.0
        t[0] = 99.0
        return x + 1.0
    """,
        lambda: (f(2),),
    ),
    case(
        "dead_but_input_visible",
        "x",
        """
        r = x + 1.0
        x.fill_(0.0)
        return r
    """,
        lambda: (f(2),),
    ),
    case(
        "dead_noop_self_assign",
        "x",
        """
        x[:, 1] = x[:, 1]
        return x
    """,
        lambda: (f(2, 3),),
    ),
    case(
        "dead_zero_add",
        "x",
        """
        y = x + 0.0
        x.mul_(5.0)
        return y
    """,
        lambda: (f(2),),
    ),
]
