"""Views read after their base was written."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f

# fmt: off
CASES = [
    case("stale_write_other_region", "x", (f(2, 2),), """
        base = x.clone()
        v = base[0]
        base[1] = 50.0
        return v * 1.0, base
    """),
    case("stale_view_of_view_updated_from_base", "x", (f(2, 2),), """
        base = x.clone()
        v = base.t()
        w = v[1]
        base[0] = -1.0
        return w * 1.0, v * 1.0
    """),
    case("stale_written_through_child_seen_by_parent_view", "x", (f(3, 2),), """
        base = x.clone()
        v = base[1:]
        w = v[0]
        w.mul_(10.0)
        return v * 1.0, base
    """),
    case("stale_view_used_after_two_writes", "x", (f(2, 2),), """
        base = x.clone()
        v = base[:, 0]
        base[0] = 7.0
        a = v + 0.0
        base[1] = 8.0
        return a, v + 0.0
    """),
    case("stale_clone_is_not_a_view", "x", (f(2, 2),), """
        base = x.clone()
        v = base[1].clone()
        base.add_(10.0)
        return v, base
    """),
    case("stale_reshape_after_base_write", "x", (f(2, 3),), """
        base = x.clone()
        flat = base.view(-1)
        base[1, 2] = 50.0
        flat[0] = 60.0
        return flat * 1.0, base
    """),
    case("stale_view_taken_between_writes", "x", (f(3),), """
        base = x.clone()
        base[0] = 10.0
        v = base[:2]
        base[1] = 20.0
        return v * 1.0, base
    """),
    case("stale_computed_value_is_not_a_view", "x", (f(3),), """
        base = x.clone()
        c = base[1:] * 1.0
        base.zero_()
        return c, base
    """),
    case("stale_views_in_a_list", "x", (f(3, 2),), """
        base = x.clone()
        views = [base[0], base[2]]
        base.mul_(10.0)
        return views[0] * 1.0, views[1] * 1.0
    """),
    case("stale_sibling_written", "x", (f(2, 4),), """
        left = x[:, :3]
        right = x[:, 1:]
        left.fill_(0.0)
        return right * 1.0
    """),
    case("stale_view_of_input_after_input_write", "x", (f(3, 2),), """
        v = x.t()
        x[0] = -1.0
        w = v[:, 0]
        x[1] = -2.0
        return v * 1.0, w * 1.0
    """),
    case("stale_grandparent_written", "x", (f(2, 2, 2),), """
        base = x.clone()
        a = base[1]
        b = a[0]
        c = b[1:]
        base.neg_()
        return c * 1.0, b * 1.0
    """),
    case("stale_view_of_buffer_copy", "x", (f(3),), """
        v = self.buf[1:]
        copy = self.buf.clone()
        self.buf.add_(x)
        return v * 1.0, copy
    """, init="self.register_buffer('buf', torch.zeros(3))"),
]
# fmt: on
