"""Slices: open, stepped, past the end, empty, with bounds known only at run time."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, t

# fmt: off
CASES = [
    case("slice_open_end", "x, y", (f(6, 2), f(3, 2, start=100)), """
        x[3:] = y
        return x
    """),
    case("slice_step3_bounded", "x, y", (f(10, 2), f(3, 2, start=100)), """
        x[1:9:3] = y
        return x
    """),
    case("slice_end_past_size", "x, y", (f(5, 2), f(2, 2, start=100)), """
        x[3:99] = y
        return x
    """),
    case("slice_start_below_zero_size", "x, y", (f(5, 2), f(2, 2, start=100)), """
        x[-99:2] = y
        return x
    """),
    case("slice_inverted_is_empty", "x", (f(5, 2),), """
        x[4:2] = 55.0
        return x
    """),
    case("slice_dim1", "x, y", (f(3, 5), f(3, 2, start=100)), """
        x[:, 1:3] = y
        return x
    """),
    case("slice_three_dims_steps", "x, y", (f(3, 7, 4), f(2, 3, 1, start=1000)), """
        x[:2, 1:6:2, 1:2] = y
        return x
    """),
    case("slice_whole", "x, y", (f(3, 2), f(3, 2, start=100)), """
        x[:] = y
        return x
    """),
    case("slice_dynamic_bounds", "x, a: int, e: int", (f(6, 2), 1, 4), """
        x[a:e] = x[a:e] + 50.0
        return x
    """, other=(f(6, 2), 3, 5)),
    case("slice_bound_from_shape", "x, y", (f(5, 2), f(2, 2, start=100)), """
        n = y.size(0)
        x[:n] = y
        return x
    """),
    case("narrow_method_dim1_square", "x, y", (f(3, 3), f(3, 2, start=100)), """
        x.narrow(1, 0, 2).copy_(y)
        return x
    """),
    case("slice_negative_start", "x, y", (f(5, 2), f(2, 2, start=100)), """
        x[-2:] = y
        return x
    """),
    case("slice_negative_both_ends", "x, y", (f(6, 2), f(3, 2, start=100)), """
        x[-4:-1] = y
        return x
    """),
    case("slice_step2_from_one", "x, y", (f(6, 2), f(3, 2, start=100)), """
        x[1::2] = y
        return x
    """),
    case("slice_step_larger_than_size", "x", (f(5, 2),), """
        x[1::9] = -1.0
        return x
    """),
    case("slice_scalar_value", "x", (f(5, 2),), """
        x[1:3] = 7.0
        return x
    """),
    case("slice_shifted_self_copy", "x", (f(5, 2),), """
        x[1:] = x[:-1].clone()
        return x
    """),
    case("slice_flipped_self", "x", (f(5),), """
        x[1:4] = x[1:4].flip(0)
        return x
    """),
    case("slice_empty_source_and_destination", "x, y", (f(4, 2), f(0, 2)), """
        x[2:2] = y
        return x
    """),
    case("slice_bound_computed_in_graph", "x", (f(6, 2),), """
        n = x.size(0) // 2
        x[n:] = x[:n] * 10.0
        return x
    """),
    case("slice_bound_from_tensor_content", "x, n", (f(6), t(2, "int64")), """
        k = int(n)
        x[k:] = -1.0
        return x
    """, other=(f(6), t(5, "int64"))),
    case("slice_narrow_negative_start", "x", (f(5, 2),), """
        x.narrow(0, -2, 2).mul_(10.0)
        return x
    """),
    case("slice_two_overlapping_writes", "x", (f(6),), """
        x[0:4] *= 2.0
        x[2:6] += 100.0
        return x
    """),
    case("slice_dynamic_step", "x, s: int", (f(8), 2), """
        x[::s] = 0.0
        return x
    """, other=(f(8), 3)),
]
# fmt: on
