"""Integer index tensors."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, idx, t

# fmt: off
CASES = [
    case("adv_one_index", "x, y, k", (f(6), f(3, start=100), idx(4, 0, 2)), """
        x[k] = y
        return x
    """, other=(f(6), f(3, start=100), idx(1, 5, 3))),
    case("adv_one_index_2d_rows", "x, y, k", (f(5, 3), f(2, 3, start=100), idx(3, 1)), """
        x[k] = y
        return x
    """),
    case("adv_two_indices", "x, y, r, c", (f(4, 5), f(3, start=100), idx(0, 3, 1), idx(4, 0, 2)), """
        x[r, c] = y
        return x
    """),
    case("adv_2d_index_tensor", "x, y, k", (f(6), f(2, 2, start=100), t([[0, 3], [5, 1]], "int64")), """
        x[k] = y
        return x
    """),
    case("adv_scalar_value", "x, k", (f(5, 2), idx(0, 4)), """
        x[k] = -3.0
        return x
    """),
    case("adv_constant_index", "x, y", (f(5), f(2, start=100)), """
        x[torch.tensor([3, 1])] = y
        return x
    """),
    case("adv_empty_index", "x, y", (f(4), t(45.0)), """
        x[torch.tensor([2])] = y
        x[torch.zeros([0], dtype=torch.int64)] = 9.0
        return x
    """),
    case("adv_int32_index", "x, y, k", (f(6), f(2, start=100), t([4, 1], "int32")), """
        x[k] = y
        return x
    """),
    case("adv_negative_indices", "x, y, k", (f(6), f(3, start=100), idx(-1, 0, -3)), """
        x[k] = y
        return x
    """),
    case("adv_list_index", "x, y", (f(5, 2), f(2, 2, start=100)), """
        x[[3, 0]] = y
        return x
    """),
    case("adv_duplicates_of_one_value", "x, k", (f(5), idx(1, 3, 1)), """
        x[k] = -1.0
        return x
    """, other=(f(5), idx(0, 0, 0))),
    case("adv_duplicates_are_not_accumulated", "x, k", (f(5), idx(1, 3, 1)), """
        x[k] += 10.0
        return x
    """, other=(f(5), idx(4, 4, 4))),
    case("adv_index_computed_in_graph", "x, y, k", (f(5), f(3, start=100), idx(0, 2, 3)), """
        x[(k + 1) % 5] = y
        return x
    """),
    case("adv_broadcast_indices", "x, y, r, c", (f(4, 5), f(2, 3, start=100), idx(3, 1), idx(0, 2, 4)), """
        x[r.unsqueeze(1), c] = y
        return x
    """),
    case("adv_three_indices", "x, y, a, b, c", (f(2, 3, 4), f(2, start=100), idx(0, 1), idx(2, 0), idx(3, 1)), """
        x[a, b, c] = y
        return x
    """),
    case("adv_index_put_method", "x, y, k", (f(5, 2), f(2, 2, start=100), idx(4, 1)), """
        x.index_put_((k,), y)
        return x
    """),
    case("adv_write_to_a_gathered_copy", "x, y, k", (f(4, 3), f(3, start=100), idx(0, 2)), """
        x[k][0] = y
        return x
    """),
    case("adv_write_to_a_selected_view", "x, y, k", (f(3, 4), f(2, start=100), idx(3, 1)), """
        x[0][k] = y
        return x
    """),
    case("adv_gathered_copy_survives", "x, k", (f(5), idx(4, 0)), """
        g = x[k]
        x[k] = g * 10.0
        g.add_(0.5)
        return x, g
    """),
    case("adv_index_on_transposed", "x, y, k", (f(3, 4), f(2, 3, start=100), idx(3, 0)), """
        x.t()[k] = y
        return x
    """),
    case("adv_position_of_the_largest", "x", (t([3.0, 9.0, 4.0]),), """
        x[x.argmax()] = 0.0
        return x
    """, other=(t([7.0, 1.0, 4.0]),)),
    case("adv_put_method", "x, y, k", (f(2, 3), f(2, start=100), idx(5, 1)), """
        x.put_(k, y)
        return x
    """),
    case("adv_permutation_of_itself", "x, k", (f(4), idx(2, 0, 3, 1)), """
        x[k] = x.clone()
        return x
    """),
    case("adv_index_written_in_between", "x, k", (f(5), idx(0, 1)), """
        x[k] = -1.0
        k.add_(3)
        x[k] = -2.0
        return x, k
    """),
    case("adv_arange_diagonal", "x", (f(3, 3),), """
        n = torch.arange(3)
        x[n, n] = 0.0
        return x
    """),
]
# fmt: on
