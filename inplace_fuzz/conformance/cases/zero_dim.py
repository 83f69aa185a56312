"""Tensors without dimensions."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, t

# fmt: off
CASES = [
    case("zd_fill", "x", (t(42.0),), """
        y = torch.zeros([])
        y += x
        return y
    """),
    case("zd_input_copy", "x, y", (t(1.0), t(5.0)), """
        x.copy_(y)
        return x
    """),
    case("zd_view_of_zero_dim", "x", (t(1.0),), """
        x.view(1)[0] = 3.0
        return x
    """),
    case("zd_select_to_zero_dim", "x", (f(3),), """
        v = x[1]
        v.mul_(100.0)
        return x, v
    """),
    case("zd_setitem_ellipsis", "x", (t(1.0),), """
        x[...] = 7.0
        return x
    """),
    case("zd_unsqueezed", "x", (t(1.0),), """
        x.unsqueeze(0).add_(4.0)
        return x
    """),
    case("zd_expanded_source", "x, s", (f(2, 3), t(50.0)), """
        x[1] = s.expand(3)
        s.add_(1.0)
        return x, s
    """),
    case("zd_reduced_and_written", "x", (f(2, 2),), """
        s = x.sum()
        s.mul_(2.0)
        x[0, 0] = s
        return x, s
    """),
    case("zd_flattened_scalar", "x", (t(3.0),), """
        v = x.flatten()
        v[0] = 8.0
        return x, v
    """),
    case("zd_as_index_and_value", "x, k", (f(3), t(2, "int64")), """
        x[k] = x[0]
        k.sub_(1)
        x[k] = -1.0
        return x, k
    """, other=(f(3), t(1, "int64"))),
]
# fmt: on
