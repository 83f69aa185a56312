"""Outputs that share memory."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f

# fmt: off
CASES = [
    case("out_same_twice", "x", (f(3),), """
        y = x + 1.0
        y[0] = 0.0
        return y, y
    """),
    case("out_base_and_view", "x", (f(4),), """
        y = x + 1.0
        v = y[1:]
        v.mul_(2.0)
        return y, v
    """),
    case("out_view_of_input", "x", (f(3, 2),), """
        v = x[1]
        x.add_(1.0)
        return v
    """),
    case("out_input_itself_unmutated", "x", (f(3),), """
        return x
    """),
    case("out_view_written_after_collected", "x", (f(2, 2),), """
        y = x + 0.0
        out = (y[0], y[1])
        y.add_(10.0)
        return out
    """,
         not_script="script's dead-code elimination drops a write to a tensor already in a tuple"),
    case("out_nested_tuples", "x", (f(2, 2),), """
        y = x + 1.0
        y[0].mul_(10.0)
        return y, (y[1], x)
    """),
    case("out_dict", "x", (f(2, 2),), """
        y = x + 0.0
        v = y[1]
        y.neg_()
        return {"base": y, "view": v}
    """),
    case("out_list_of_views", "x", (f(3, 2),), """
        y = x + 0.0
        p = y.unbind(0)
        y[1] = 0.0
        return [p[0], p[1], p[2]]
    """),
    case("out_two_overlapping_views", "x", (f(5),), """
        y = x * 1.0
        y[2] = 100.0
        return y[:3], y[2:]
    """),
    case("out_input_and_its_view", "x", (f(2, 3),), """
        v = x.view(-1)
        v[0] = 9.0
        return x, v, v[3:]
    """),
    case("out_in_place_result", "x", (f(3),), """
        return x.mul_(2.0)
    """),
    case("out_view_of_view_of_local", "x", (f(2, 6),), """
        y = x.clone()
        v = y.view(3, 4)
        w = v[1:]
        y[1].zero_()
        return w, v
    """),
    case("out_snapshot_and_original", "x", (f(3),), """
        before = x.clone()
        x.add_(10.0)
        return before, x
    """),
    case("out_constant_made_inside", "x", (f(3),), """
        c = torch.zeros([2])
        c[1] = 5.0
        return x + 1.0, c
    """),
    case("out_detached", "x", (f(3),), """
        y = x * 2.0
        d = y.detach()
        y[0] = 0.0
        return y, d
    """),
    case("out_expanded_view", "x", (f(1, 3),), """
        e = x.expand(2, 3)
        x.mul_(10.0)
        return e
    """),
    case("out_views_of_two_inputs", "x, y", (f(3), f(3, start=10)), """
        x[0] = y[0]
        y[1] = x[1]
        return y[1:], x[:2]
    """),
]
# fmt: on
