"""Sources smaller than what they are written to."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, idx, mask, t

# fmt: off
CASES = [
    case("bc_row_into_matrix", "x, y", (f(3, 4), f(4, start=100)), """
        x.copy_(y)
        return x
    """),
    case("bc_zero_dim_tensor_value", "x, v", (f(3, 2), t(9.0)), """
        x[1:, 0] = v
        return x
    """),
    case("bc_add_row", "x, y", (f(3, 2), f(2, start=100)), """
        x[1:].add_(y)
        return x
    """),
    case("bc_expanded_source", "x, y", (f(3, 3), f(1, 3, start=100)), """
        x[:2] = y.expand([2, 3])
        return x
    """),
    case("bc_select_value_lower_rank", "x", (f(2, 4, 3),), """
        x[0] = torch.tensor([1.0, 2.0, 3.0])
        return x
    """),
    case("bc_one_element_into_slice", "x", (f(2, 3, 3),), """
        x[:1, 1, :2] = torch.tensor([8.0]).view(1, 1)
        return x
    """),
    case("bc_leading_ones", "x, y", (f(3, 2), f(1, 1, 3, 2, start=100)), """
        x[:] = y
        return x
    """, not_script="eager's setitem drops the value's leading dims of one, script's copy_ does not"),
    case("bc_column_into_matrix", "x, y", (f(3, 4), f(3, 1, start=100)), """
        x.copy_(y)
        return x
    """),
    case("bc_zero_dim_tensor_added", "x, v", (f(2, 3), t(100.0)), """
        x[1].add_(v)
        return x
    """),
    case("bc_row_and_column_product", "x, r, c", (f(2, 3), f(3, start=10), f(2, 1, start=2)), """
        x.addcmul_(r, c)
        return x
    """),
    case("bc_one_value_for_an_index", "x, k, v", (f(4, 3), idx(3, 0), f(1, start=100)), """
        x[k] = v
        return x
    """),
    case("bc_row_for_each_index", "x, k, y", (f(4, 3), idx(3, 0), f(3, start=100)), """
        x[k] = y
        return x
    """),
    case("bc_one_value_for_a_mask", "x, m, v", (f(3, 2), mask(True, False, True), f(1, start=100)), """
        x[m] = v
        return x
    """, other=(f(3, 2), mask(False, True, True), f(1, start=100))),
    case("bc_own_row_over_all", "x", (f(3, 2),), """
        x.copy_(x[1].clone())
        return x
    """),
    case("bc_outer_dims_of_a_view", "x, y", (f(2, 3, 4), f(4, start=100)), """
        x[:, 1:] = y
        return x
    """),
    case("bc_lerp_with_scalar_tensor", "x, y", (f(2, 2), f(2, start=11)), """
        x.lerp_(y, 0.5)
        return x
    """),
    case("bc_size_one_into_size_one", "x, y", (f(1, 3), f(1, 1, start=100)), """
        x[0:1] = y
        return x
    """),
]
# fmt: on
