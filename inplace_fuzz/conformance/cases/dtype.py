"""Casts that a write implies."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, i, mask, t

# fmt: off
CASES = [
    case("dt_float_into_int_truncates", "x, y", (i(3, 2), t([2.700000047683716, -2.700000047683716])), """
        x[1] = y
        return x
    """),
    case("dt_int_into_float", "x, y", (f(2, 3), i(2, start=1, dtype="int32")), """
        x[:, 1] = y
        return x
    """),
    case("dt_scalar_float_into_int", "x", (i(3),), """
        x[0] = 3.9
        return x
    """),
    case("dt_float_into_half", "x, y", (f(2, 2, dtype="float16"), f(2, 2, start=0.5)), """
        x.add_(y)
        return x
    """),
    case("dt_half_view_copy", "x, y", (f(2, 2, dtype="float16"), f(2, start=1000.1229858398438)), """
        x[0].copy_(y)
        return x
    """),
    case("dt_float_add_scalar_int", "x", (f(2, 2),), """
        x[0] += 1
        return x
    """),
    case("dt_copy_into_complex", "x", (f(2),), """
        c = torch.zeros([2], dtype=torch.complex64)
        c.copy_(x)
        return torch.view_as_real(c)
    """),
    case("dt_fill_int_with_float_scalar", "x", (i(3),), """
        x[1:].fill_(2.0)
        return x
    """),
    case("dt_float_into_bool", "x, y", (mask(True, False, True), t([0.0, 0.5, 2.0])), """
        x.copy_(y)
        return x
    """),
    case("dt_float_into_uint8", "x, y", (i(3, dtype="uint8"), t([1.9, 200.5, 255.0])), """
        x.copy_(y)
        return x
    """),
    case("dt_double_into_float", "x, y", (f(2, 2), f(2, start=10, dtype="float64")), """
        x[1].add_(y)
        return x
    """),
    case("dt_int_tensor_times_float_tensor", "x, y", (f(3), i(3, start=2)), """
        x.mul_(y)
        return x
    """),
    case("dt_bool_added_to_int", "x, m", (i(3), mask(True, False, True)), """
        x.add_(m)
        return x
    """),
    case("dt_comparison_in_place_keeps_dtype", "x", (f(4),), """
        x.ge_(3.0)
        return x
    """),
    case("dt_comparison_of_ints", "x, y", (i(4), t([0, 5, 2, 9], "int64")), """
        v = x[1:]
        v.eq_(y[1:])
        return x
    """),
    case("dt_logical_in_place", "x, y", (f(3, start=0), f(3, start=-1)), """
        x.logical_and_(y)
        return x
    """),
    case("dt_mask_copied_into_float", "x, m", (f(3), mask(True, False, True)), """
        x.copy_(m)
        return x
    """),
    case("dt_bfloat16_view", "x, y", (f(2, 2, dtype="bfloat16"), f(2, start=256.5)), """
        x[1].copy_(y)
        return x
    """),
    case("dt_complex_takes_real", "x, y", (f(2, 2, dtype="complex64"), f(2, start=10)), """
        x[0] = y
        x.mul_(2.0)
        return x
    """),
    case("dt_int32_index_arithmetic", "x, y", (i(4, dtype="int32"), i(4, start=10)), """
        x.add_(y)
        return x
    """),
    case("dt_scalar_tensor_does_not_promote", "x", (f(3, dtype="float16"),), """
        x.add_(torch.tensor(2.0, dtype=torch.float64))
        return x
    """),
    case("dt_fill_bool_with_int", "x", (mask(False, False, True),), """
        x[:2] = 1
        return x
    """),
    case("dt_floor_divide_ints", "x", (i(4, start=-3),), """
        x.floor_divide_(2)
        return x
    """),
    case("dt_masked_fill_int", "x, m", (i(3), mask(True, False, True)), """
        x.masked_fill_(m, 7)
        return x
    """),
    case("dt_where_promotes_then_casts", "x, y", (i(3), t([0.5, 1.5, 2.5])), """
        x.copy_(torch.where(x > 0, y, x))
        return x
    """),
    case("dt_half_accumulates_float", "x, y", (f(3, dtype="float16"), t([0.25, 0.5, 0.75])), """
        for _ in range(2):
            x += y
        return x
    """),
    case("dt_bitwise_not_in_place", "x", (i(3, dtype="uint8"),), """
        x[1:].bitwise_not_()
        return x
    """),
]
# fmt: on
