"""One row, one column, one element."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "select_row_scalar",
        "x",
        """
        x[2] = 9.0
        return x
    """,
        lambda: (f(5, 4),),
    ),
    case(
        "select_element",
        "x",
        """
        x[1, 2] = -7.0
        return x
    """,
        lambda: (f(3, 4),),
    ),
    case(
        "select_column",
        "x, y",
        """
        x[:, 1] = y
        return x
    """,
        lambda: (f(3, 4), f(3, start=100)),
    ),
    case(
        "select_last_dim_ellipsis",
        "x, y",
        """
        x[..., 1] = y
        return x
    """,
        lambda: (f(2, 3, 4), f(2, 3, start=100)),
    ),
    case(
        "select_method_dim1",
        "x, y",
        """
        x.select(1, 2).copy_(y)
        return x
    """,
        lambda: (f(3, 4), f(3, start=100)),
    ),
    case(
        "select_method_dim1_square",
        "x, y",
        """
        x.select(1, 2).copy_(y)
        return x
    """,
        lambda: (f(3, 3), f(3, start=100)),
    ),
    case(
        "select_second_input_is_base",
        "x, y, z",
        """
        z[1] = y
        return x + 0.0, z
    """,
        lambda: (f(3, 2), f(2, start=100), f(3, 2, start=50)),
    ),
    case(
        "select_dynamic_index",
        "x, y, k: int",
        """
        x[k] = y
        return x
    """,
        lambda: (f(4, 3), f(3, start=100), 1),
        other=lambda: (f(4, 3), f(3, start=100), 3),
    ),
    case(
        "select_two_writes_chain",
        "x",
        """
        x[0] = 0.0
        x[1] = 1.0
        y = x + 1.0
        x[1] = 2.0 * y[1]
        return x, y
    """,
        lambda: (f(5, start=10),),
    ),
]
