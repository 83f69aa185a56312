"""Reads before and after a write."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "ord_same_expression_twice_around_write",
        "x",
        """
        a = x + 1.0
        x.mul_(2.0)
        c = x + 1.0
        return a, c
    """,
        lambda: (f(3),),
    ),
    case(
        "ord_element_read_into_scalar_then_write",
        "x",
        """
        s = float(x[0].item())
        x[0] = 9.0
        return x + s
    """,
        lambda: (f(3),),
        other=lambda: (f(3, start=50),),
    ),
    case(
        "ord_write_write_read",
        "x",
        """
        x[0:2] = 1.0
        x[1:3] = 2.0
        return x
    """,
        lambda: (f(4, start=10),),
    ),
    case(
        "ord_result_of_inplace_used_as_operand",
        "x",
        """
        return x.add_(1.0) + x.mul_(2.0)
    """,
        lambda: (f(3),),
    ),
    case(
        "ord_inplace_inside_expression",
        "x",
        """
        return x + x.add_(1.0)
    """,
        lambda: (f(3),),
    ),
]
