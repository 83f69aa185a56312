"""Augmented assignment."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f, idx

CASES = [
    case(
        "aug_select_mul",
        "x, y",
        """
        x[0] *= y
        return x
    """,
        lambda: (f(3, 2), f(2, start=10)),
    ),
    case(
        "aug_slice_div",
        "x",
        """
        v = x[1:3]
        v /= 2.0
        return x
    """,
        lambda: (f(4, 2),),
    ),
    case(
        "aug_local_alias_of_input",
        "x",
        """
        y = x
        y += 5.0
        return x
    """,
        lambda: (f(3),),
    ),
    case(
        "aug_adv_index",
        "x, k, y",
        """
        x[k] += y
        return x
    """,
        lambda: (f(5), idx(4, 1), f(2, start=100)),
    ),
    case(
        "aug_sub_transposed",
        "x, y",
        """
        t = x.t()
        t -= y
        return x, t
    """,
        lambda: (f(2, 3), f(3, 2, start=50)),
    ),
    case(
        "aug_twice_with_read_between",
        "x",
        """
        z = x * 2.0
        z += 1.0
        y = z + 4.0
        z += 3.0
        return z, y
    """,
        lambda: (f(3),),
    ),
    case(
        "aug_mask",
        "x",
        """
        x[x > 2.0] *= -1.0
        return x
    """,
        lambda: (f(4),),
        other=lambda: (f(4, start=-1),),
    ),
]
