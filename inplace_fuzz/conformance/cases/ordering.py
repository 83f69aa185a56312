"""Reads before and after a write."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, i

# fmt: off
CASES = [
    case("ord_same_expression_twice_around_write", "x", (f(3),), """
        a = x + 1.0
        x.mul_(2.0)
        c = x + 1.0
        return a, c
    """),
    case("ord_element_read_into_scalar_then_write", "x", (f(3),), """
        s = float(x[0].item())
        x[0] = 9.0
        return x + s
    """, other=(f(3, start=50),)),
    case("ord_write_write_read", "x", (f(4, start=10),), """
        x[0:2] = 1.0
        x[1:3] = 2.0
        return x
    """),
    case("ord_result_of_inplace_used_as_operand", "x", (f(3),), """
        return x.add_(1.0) + x.mul_(2.0)
    """),
    case("ord_inplace_inside_expression", "x", (f(3),), """
        return x + x.add_(1.0)
    """),
    case("ord_branch_on_element_before_write", "x", (f(3),), """
        big = bool(x[0] > 2.0)
        x[0] = 100.0
        if big:
            x.neg_()
        return x
    """, other=(f(3, start=5),)),
    case("ord_item_read_between_writes", "x", (f(3),), """
        x.add_(1.0)
        s = x[0].item()
        x.add_(10.0)
        return x * s
    """, other=(f(3, start=7),)),
    case("ord_arguments_left_to_right", "x", (f(2),), """
        return torch.stack([x * 1.0, x.add_(1.0) * 1.0, x * 1.0])
    """),
    case("ord_nested_calls", "x", (f(3),), """
        return torch.add(x.mul_(2.0), x.add_(1.0), alpha=10.0)
    """),
    case("ord_size_read_around_write", "x, y", (f(3, 2), f(2, 2, start=100)), """
        n = x.size(0)
        x[: y.size(0)] = y
        return x * float(n)
    """),
    case("ord_source_written_after_copy", "x, y", (f(3), f(3, start=100)), """
        x.copy_(y)
        y.zero_()
        return x, y
    """),
    case("ord_two_reads_of_one_view", "x", (f(4),), """
        v = x[1:3]
        a = v * 1.0
        x[1] = -1.0
        b = v * 1.0
        x[2] = -2.0
        return a, b, v * 1.0
    """),
    case("ord_compare_before_and_after", "x", (f(3),), """
        before = x.sum()
        x[1] = 100.0
        after = x.sum()
        return after - before
    """),
    case("ord_write_feeds_its_own_index", "x", (i(4),), """
        x[0] = 2
        x[x[0]] = 9
        return x
    """),
]
# fmt: on
