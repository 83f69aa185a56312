"""Augmented assignment."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, i, idx, mask

# fmt: off
CASES = [
    case("aug_select_mul", "x, y", (f(3, 2), f(2, start=10)), """
        x[0] *= y
        return x
    """),
    case("aug_slice_div", "x", (f(4, 2),), """
        v = x[1:3]
        v /= 2.0
        return x
    """),
    case("aug_local_alias_of_input", "x", (f(3),), """
        y = x
        y += 5.0
        return x
    """),
    case("aug_adv_index", "x, k, y", (f(5), idx(4, 1), f(2, start=100)), """
        x[k] += y
        return x
    """),
    case("aug_sub_transposed", "x, y", (f(2, 3), f(3, 2, start=50)), """
        t = x.t()
        t -= y
        return x, t
    """),
    case("aug_twice_with_read_between", "x", (f(3),), """
        z = x * 2.0
        z += 1.0
        y = z + 4.0
        z += 3.0
        return z, y
    """),
    case("aug_mask", "x", (f(4),), """
        x[x > 2.0] *= -1.0
        return x
    """, other=(f(4, start=-1),)),
    case("aug_floor_divide", "x", (f(4),), """
        x //= 2.0
        return x
    """, not_script="script does not read //="),
    case("aug_power", "x", (f(3),), """
        v = x[1:]
        v **= 2.0
        return x
    """, not_script="script makes a new tensor of it"),
    case("aug_remainder", "x", (i(5),), """
        x %= 3
        return x
    """),
    case("aug_or_of_ints", "x", (i(4),), """
        x |= 4
        return x
    """, not_script="script makes a new tensor of it"),
    case("aug_and_of_bools", "x, y", (mask(True, True, False), mask(True, False, True)), """
        x &= y
        return x
    """, not_script="script makes a new tensor of it"),
    case("aug_shift_left", "x", (i(4),), """
        x <<= 2
        return x
    """),
    case("aug_column_by_column", "x", (f(3, 2),), """
        x[:, 0] += x[:, 1]
        x[:, 1] -= x[:, 0]
        return x
    """),
    case("aug_shifted_self", "x", (f(5),), """
        x[1:] += x[:-1].clone()
        return x
    """),
    case("aug_single_element", "x", (f(2, 3),), """
        x[0, 1] += 100.0
        x[1, -1] *= -1.0
        return x
    """),
    case("aug_local_name_rebound_by_plain_add", "x", (f(3),), """
        y = x
        y = y + 5.0
        y += 1.0
        return x, y
    """),
    case("aug_list_element", "x", (f(3),), """
        l = [x, x * 2.0]
        l[0] += 1.0
        l[1] *= 10.0
        return l[0], l[1]
    """),
    case("aug_index_of_view", "x, k", (f(3, 4), idx(0, 2)), """
        v = x[1]
        v[k] *= 10.0
        return x, v
    """),
    case("aug_chain_through_three_names", "x", (f(3),), """
        a = x
        b = a
        c = b[1:]
        c += 10.0
        a *= 2.0
        return b, c
    """),
    case("aug_matrix_row_by_sum", "x", (f(2, 3),), """
        x[1] += x.sum()
        return x
    """),
]
# fmt: on
