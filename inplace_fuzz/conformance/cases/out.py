"""`out=` arguments."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, t

# fmt: off
CASES = [
    case("out_arg_add_into_input", "x, y", (f(3), f(3, start=10)), """
        torch.add(x, 1.0, out=y)
        return y * 1.0
    """),
    case("out_arg_into_itself", "x, y", (f(3), f(3, start=10)), """
        torch.mul(x, y, out=x)
        return x
    """),
    case("out_arg_into_a_row", "x", (f(3, 2),), """
        torch.sub(x[0], x[1], out=x[2])
        return x
    """),
    case("out_arg_cat", "x, y, o", (f(2), f(2, start=10), f(4, start=50)), """
        torch.cat([x, y], out=o)
        x.zero_()
        return o
    """),
    case("out_arg_two_results", "x, v, k", (t([3.0, 9.0, 4.0]), t(0.0), t(0, "int64")), """
        torch.max(x, 0, out=(v, k))
        return x * 1.0
    """, not_script="script reads no tuple of out=", other=(t([7.0, 1.0, 4.0]), t(0.0), t(0, "int64"))),
    case("out_arg_is_the_result", "x", (f(3),), """
        y = torch.zeros([3])
        r = torch.neg(x, out=y)
        r.add_(1.0)
        return y, r
    """),
    case("out_arg_sum_over_rows", "x, o", (f(2, 3), f(3, start=50)), """
        torch.sum(x, 0, out=o)
        return o
    """),
    case("out_arg_casts", "x, o", (f(3), f(3, dtype="float64")), """
        torch.add(x, 1.0, out=o)
        return o
    """),
    case("out_arg_matmul_into_view", "a, b, o", (f(2, 2), f(2, 2, start=5), f(2, 2, 2)), """
        torch.mm(a, b, out=o[1])
        return o
    """),
    case("out_arg_clamp_into_empty", "x", (f(4),), """
        y = torch.empty([4])
        torch.clamp(x, 2.0, 3.0, out=y)
        x.zero_()
        return y
    """),
    case("out_arg_empty_grows", "x", (f(3),), """
        y = torch.empty([0])
        torch.mul(x, 2.0, out=y)
        y[0] = 50.0
        return y
    """),
    case("out_arg_cumsum_of_transposed", "x", (f(2, 3),), """
        o = torch.zeros([3, 2])
        torch.cumsum(x.t(), 0, out=o)
        return o
    """),
]
# fmt: on
