"""One memory read as two dtypes."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, i, mask, t

NO_VIEW = "TorchScript has no view(dtype)"

# fmt: off
CASES = [
    case("bits_float_as_int", "x", (f(4),), """
        b = x.view(torch.int32)
        b[0] = 0
        return x
    """, not_script=NO_VIEW),
    case("bits_int_as_float_base_written", "x", (t([1065353216, 1073741824], "int32"),), """
        v = x.view(torch.float32)
        before = v * 1.0
        x.fill_(1082130432)
        return before, v * 1.0
    """, not_script=NO_VIEW),
    case("bits_narrower_elements", "x", (i(2, start=1, dtype="int32"),), """
        b = x.view(torch.uint8)
        b[1] = 1
        return x, b
    """, not_script=NO_VIEW),
    case("bits_wider_elements", "x", (i(4, start=1, dtype="int16"),), """
        w = x.view(torch.int32)
        w[1] = 0
        return x
    """, not_script=NO_VIEW),
    case("bits_sign_flipped", "x", (f(2, 2),), """
        x.view(torch.int32).bitwise_xor_(-2147483648)
        return x
    """, not_script=NO_VIEW),
    case("bits_of_a_row", "x", (f(2, 2, dtype="float64"),), """
        x[1].view(torch.int64).zero_()
        return x
    """, not_script=NO_VIEW),
    case("bits_bool_as_uint8", "m", (mask(True, False, True),), """
        b = m.view(torch.uint8)
        b[1] = 1
        return m
    """, not_script=NO_VIEW),
    case("bits_same_dtype", "x", (f(3),), """
        v = x.view(torch.float32)
        v[0] = 9.0
        return x, v
    """, not_script=NO_VIEW),
]
# fmt: on
