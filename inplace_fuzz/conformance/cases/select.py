"""One row, one column, one element."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, t

# fmt: off
CASES = [
    case("select_row_scalar", "x", (f(5, 4),), """
        x[2] = 9.0
        return x
    """),
    case("select_element", "x", (f(3, 4),), """
        x[1, 2] = -7.0
        return x
    """),
    case("select_column", "x, y", (f(3, 4), f(3, start=100)), """
        x[:, 1] = y
        return x
    """),
    case("select_last_dim_ellipsis", "x, y", (f(2, 3, 4), f(2, 3, start=100)), """
        x[..., 1] = y
        return x
    """),
    case("select_method_dim1", "x, y", (f(3, 4), f(3, start=100)), """
        x.select(1, 2).copy_(y)
        return x
    """),
    case("select_method_dim1_square", "x, y", (f(3, 3), f(3, start=100)), """
        x.select(1, 2).copy_(y)
        return x
    """),
    case("select_second_input_is_base", "x, y, z", (f(3, 2), f(2, start=100), f(3, 2, start=50)), """
        z[1] = y
        return x + 0.0, z
    """),
    case("select_dynamic_index", "x, y, k: int", (f(4, 3), f(3, start=100), 1), """
        x[k] = y
        return x
    """, other=(f(4, 3), f(3, start=100), 3)),
    case("select_two_writes_chain", "x", (f(5, start=10),), """
        x[0] = 0.0
        x[1] = 1.0
        y = x + 1.0
        x[1] = 2.0 * y[1]
        return x, y
    """),
    case("select_negative_row", "x, y", (f(4, 3), f(3, start=100)), """
        x[-1] = y
        return x
    """),
    case("select_negative_dim", "x", (f(2, 3),), """
        x.select(-1, -2).mul_(10.0)
        return x
    """),
    case("select_middle_of_three_dims", "x, y", (f(2, 3, 4), f(3, start=100)), """
        x[1, :, 2] = y
        return x
    """),
    case("select_from_other_rows", "x", (f(3, 2),), """
        x[0] = x[1] * 2.0 + x[2]
        return x
    """),
    case("select_tensor_index", "x, y, k", (f(4, 3), f(3, start=100), t(1, "int64")), """
        x[k] = y
        return x
    """, other=(f(4, 3), f(3, start=100), t(3, "int64"))),
    case("select_negative_dynamic", "x, k: int", (f(4, 2), -1), """
        x[k] += 100.0
        return x
    """, other=(f(4, 2), -3)),
    case("select_diagonal_elements_in_loop", "x", (f(3, 3),), """
        for k in range(3):
            x[k, k] = 0.0
        return x
    """),
    case("select_row_swap", "x", (f(3, 2),), """
        tmp = x[0].clone()
        x[0] = x[2]
        x[2] = tmp
        return x
    """),
]
# fmt: on
