"""Two names for one memory; inputs that share memory."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, laid, shared, transposed

# fmt: off
CASES = [
    case("two_same_input_twice_in_op", "x", (f(2, 3),), """
        v = x[0]
        w = x[1]
        v.add_(w)
        w.add_(v)
        return x
    """),
    case("two_src_is_view_of_dst_base", "x", (f(3, 2),), """
        x[0] = x[1]
        x[1] = x[2]
        return x
    """),
    case("two_inputs_aliased_by_caller", "x, y", (shared(f(3)), shared(f(3))), """
        x.add_(1.0)
        y.mul_(2.0)
        return x + y
    """),
    case("two_inputs_overlapping_by_caller", "x, y",
         (shared(laid(f(4), (3,), (1,))), shared(laid(f(4), (3,), (1,), 1))), """
        x.add_(1.0)
        return x * 1.0, y * 1.0
    """),
    case("two_overlapping_slices", "x", (f(6),), """
        a = x[0:4]
        b = x[2:6]
        a.mul_(10.0)
        b.add_(a.clone())
        return x, a, b
    """),
    case("two_swap_through_views", "x", (f(2, 3),), """
        a = x[0]
        b = x[1]
        keep = a.clone()
        a.copy_(b)
        b.copy_(keep)
        return x
    """),
    case("two_views_of_different_shape", "x", (f(2, 3),), """
        a = x.view(6)
        b = x.t()
        a[1] = 100.0
        b[2, 0] = 200.0
        a[5] = b[0, 0]
        return x, a, b
    """),
    case("two_names_one_slice", "x", (f(4),), """
        a = x[1:3]
        b = x[1:3]
        a.add_(1.0)
        b.add_(10.0)
        return a, b, x
    """),
    case("two_even_and_odd", "x", (f(6),), """
        even = x[::2]
        odd = x[1::2]
        even.add_(odd)
        odd.sub_(even)
        return x
    """),
    case("two_rows_and_columns", "x", (f(3, 3),), """
        row = x[1]
        column = x[:, 1]
        row.fill_(10.0)
        column.mul_(2.0)
        return x, row, column
    """),
    case("two_inputs_row_and_base", "x, r", (shared(f(3, 2)), shared(laid(f(3, 2), (2,), (1,), 2))), """
        r.add_(100.0)
        x[0] = r
        return x, r
    """),
    case("two_inputs_transposed_pair", "x, y", (shared(f(2, 3)), shared(transposed(f(2, 3)))), """
        x[0] = 0.0
        y[2].mul_(10.0)
        return x * 1.0, y * 1.0
    """),
    case("two_inputs_disjoint_in_one_storage", "x, y",
         (shared(laid(f(6), (3,), (1,))), shared(laid(f(6), (3,), (1,), 3))), """
        x.mul_(2.0)
        y.add_(x)
        return x, y
    """),
    case("two_inputs_aliased_and_a_third", "x, y, z", (shared(f(3)), shared(f(3)), f(3, start=50)), """
        z.copy_(x)
        y.zero_()
        z.add_(x)
        return z
    """),
    case("two_same_tensor_twice_in_list", "x", (f(3),), """
        l = [x, x]
        l[0].add_(1.0)
        l[1].mul_(2.0)
        return l[0] + l[1]
    """),
    case("two_view_written_while_other_is_source", "x", (f(2, 4),), """
        left = x[:, :2]
        right = x[:, 2:]
        left.copy_(right)
        right.add_(left)
        return x
    """),
]
# fmt: on
