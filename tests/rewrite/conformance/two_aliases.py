"""Two names for one memory; inputs that share memory."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "two_same_input_twice_in_op",
        "x",
        """
        v = x[0]
        w = x[1]
        v.add_(w)
        w.add_(v)
        return x
    """,
        lambda: (f(2, 3),),
    ),
    case(
        "two_src_is_view_of_dst_base",
        "x",
        """
        x[0] = x[1]
        x[1] = x[2]
        return x
    """,
        lambda: (f(3, 2),),
    ),
    case(
        "two_inputs_aliased_by_caller",
        "x, y",
        """
        x.add_(1.0)
        y.mul_(2.0)
        return x + y
    """,
        lambda: (f(3),) * 2,
    ),
    case(
        "two_inputs_overlapping_by_caller",
        "x, y",
        """
        x.add_(1.0)
        return x * 1.0, y * 1.0
    """,
        lambda: f(4).unfold(0, 3, 1).unbind(),
    ),
]
