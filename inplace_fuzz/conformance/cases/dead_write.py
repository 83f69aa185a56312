"""Writes that nobody, or only the caller, sees."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f

# fmt: off
CASES = [
    case("dead_overwritten", "x", (f(2),), """
        y = x.clone()
        y[0] = 1.0
        y[0] = 2.0
        return y
    """),
    case("dead_on_discarded_local", "x", (f(2),), """
        t = x * 2.0
        t[0] = 99.0
        return x + 1.0
    """),
    case("dead_but_input_visible", "x", (f(2),), """
        r = x + 1.0
        x.fill_(0.0)
        return r
    """),
    case("dead_noop_self_assign", "x", (f(2, 3),), """
        x[:, 1] = x[:, 1]
        return x
    """),
    case("dead_zero_add", "x", (f(2),), """
        y = x + 0.0
        x.mul_(5.0)
        return y
    """),
    case("dead_view_never_read", "x", (f(3, 2),), """
        y = x * 1.0
        v = y[1]
        v.fill_(9.0)
        return x + 1.0
    """),
    case("dead_then_live_on_the_same_tensor", "x", (f(3),), """
        y = x.clone()
        y.fill_(7.0)
        y.copy_(x)
        y[0] = 9.0
        return y
    """),
    case("dead_in_branch_not_taken", "x, flag: bool", (f(3), False), """
        y = x.clone()
        if flag:
            y.zero_()
        return y
    """, other=(f(3), True)),
    case("dead_write_after_last_read_of_input", "x", (f(3),), """
        s = x.sum()
        x[2] = 50.0
        return s
    """),
    case("dead_multiply_by_one", "x", (f(3),), """
        y = x * 1.0
        y.add_(5.0)
        return x, y
    """),
    case("dead_copy_onto_itself", "x", (f(3),), """
        x.copy_(x)
        x.add_(0.0)
        return x
    """),
    case("dead_write_in_a_loop_overwritten", "x", (f(3),), """
        y = torch.zeros([3])
        for k in range(3):
            y.fill_(float(k))
        y.copy_(x)
        return y
    """),
]
# fmt: on
