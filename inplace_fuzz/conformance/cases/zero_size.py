"""Empty tensors."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, t

# fmt: off
CASES = [
    case("zs_empty_input", "x", (f(0, 2),), """
        x[1:] = 5.0
        return x
    """),
    case("zs_mask_on_empty", "x", (f(0),), """
        x[x > 0.0] = 1.0
        return x
    """),
    case("zs_empty_slice_written", "x", (f(3, 2),), """
        x[3:].fill_(9.0)
        x[1:1] += 1.0
        return x
    """),
    case("zs_view_of_empty", "x", (f(0, 3),), """
        v = x.view(3, 0)
        v.add_(1.0)
        return x, v
    """),
    case("zs_empty_index_accumulate", "x, k, y", (f(3), t([], "int64"), t([])), """
        x.index_put_([k], y, accumulate=True)
        return x
    """),
    case("zs_zero_columns", "x", (f(2, 0),), """
        x[0] = 1.0
        x.mul_(2.0)
        return x
    """),
    case("zs_split_with_an_empty_part", "x", (f(3),), """
        a, b, c = torch.split(x, [1, 0, 2])
        b.fill_(9.0)
        c.neg_()
        return x, b
    """),
    case("zs_loop_over_nothing", "x, e", (f(2), f(0, 2)), """
        for row in e:
            x.add_(row)
        x[0] = 9.0
        return x
    """),
]
# fmt: on
