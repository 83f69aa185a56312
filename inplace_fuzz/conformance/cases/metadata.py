"""Operators that change the shape of one name only."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f

# fmt: off
CASES = [
    case("meta_transpose_then_write", "x", (f(3, 2),), """
        y = x.clone()
        y.transpose_(0, 1)
        r = y[0]
        r.add_(100.0)
        return y, r
    """),
    case("meta_t_other_view_keeps_shape", "x", (f(3, 2),), """
        base = x.clone()
        v = base[1:]
        base.t_()
        base.add_(2.0)
        return base, v
    """),
    case("meta_squeeze_then_write", "x", (f(3, 1, 2),), """
        y = x.clone()
        y.squeeze_(1)
        y[2] = 0.0
        return y
    """),
    case("meta_squeeze_all", "x", (f(1, 3, 1),), """
        y = x.clone()
        y.squeeze_()
        y[1] = 0.0
        return y
    """),
    case("meta_unsqueeze_then_write", "x", (f(3, 2),), """
        y = x.clone()
        y.unsqueeze_(0)
        y[0, 1].mul_(10.0)
        return y
    """),
    case("meta_as_strided_then_write", "x", (f(3, 2),), """
        y = x.clone()
        y.as_strided_([2, 2], [3, 1], 1)
        y[1].zero_()
        return y
    """),
    case("meta_swapaxes_on_a_view", "x", (f(2, 3),), """
        base = x.clone()
        v = base[:, 1:]
        v.swapaxes_(0, 1)
        v[0] = -1.0
        return base, v
    """),
    case("meta_result_is_self", "x", (f(2, 3),), """
        y = x.clone()
        r = y.t_()
        r[0] = 0.0
        y.add_(1.0)
        return y, r
    """),
    case("meta_twice_is_back", "x", (f(2, 3),), """
        y = x.clone()
        y.t_()
        y.t_()
        y[1] = 0.0
        return y
    """),
    case("meta_view_of_input_reshaped", "x", (f(2, 3),), """
        v = x.view(6)
        v.unsqueeze_(1)
        v[2, 0] = 99.0
        return x, v
    """),
    case("meta_in_list", "x", (f(2, 3),), """
        y = x.clone()
        l = [y]
        l[0].t_()
        y[0] = 5.0
        return y
    """),
    case("meta_detach_in_place", "x", (f(3),), """
        y = x.clone()
        y.detach_()
        y[0] = 9.0
        return y
    """),
    case("meta_earlier_view_written_after", "x", (f(2, 3),), """
        base = x.clone()
        row = base[0]
        base.transpose_(0, 1)
        row.fill_(7.0)
        return base, row
    """),
]
# fmt: on
