"""Views of views."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f

# fmt: off
CASES = [
    case("nest_slice_slice_same_dim", "x, y", (f(8, 2), f(2, 2, start=100)), """
        x[1:6][1:3] = y
        return x
    """),
    case("nest_select_select", "x", (f(3, 4),), """
        x[1][2] = 77.0
        return x
    """),
    case("nest_slice_step_of_step", "x, y", (f(9, 2), f(2, 2, start=100)), """
        x[::2][1::2] = y
        return x
    """),
    case("nest_negative_of_slice", "x", (f(5, 3, 2),), """
        x[2:-1, -1, :] = x[2:-1, -1, :] + 1.0
        return x
    """),
    case("nest_view_of_select", "x, y", (f(3, 6), f(2, 3, start=100)), """
        x[1].view(2, 3).copy_(y)
        return x
    """),
    case("nest_unpack_select", "x", (f(4, 3),), """
        r = x[1:3]
        r[0] = 5.0
        r[1, 1:] = 6.0
        return x, r
    """),
    case("nest_select_of_slice", "x, y", (f(4, 3), f(3, start=100)), """
        x[1:][1] = y
        return x
    """),
    case("nest_slice_of_transposed", "x, y", (f(3, 4), f(2, 3, start=100)), """
        x.t()[1:3] = y
        return x
    """),
    case("nest_diagonal_of_block", "x", (f(4, 4),), """
        x[1:, 1:].diagonal().fill_(0.0)
        return x
    """),
    case("nest_permute_select_slice", "x", (f(2, 3, 4),), """
        x.permute(2, 0, 1)[1][:, 1:].mul_(-1.0)
        return x
    """),
    case("nest_unbind_of_split", "x", (f(4, 2),), """
        a, b = x.split(2)
        p, q = b.unbind(1)
        q.add_(100.0)
        return x, a, p
    """),
    case("nest_five_deep", "x", (f(2, 3, 4),), """
        a = x.transpose(0, 1)
        b = a[1:]
        c = b.unsqueeze(0)
        d = c[0, :, 1]
        e = d[:, ::2]
        e.fill_(-1.0)
        return x, a, b, c, d
    """),
    case("nest_view_of_diagonal_of_input", "x", (f(2, 3, 3),), """
        d = x.diagonal(0, 1, 2)
        d[1].add_(100.0)
        return x, d
    """),
    case("nest_unsqueeze_squeeze_select", "x", (f(3, 2),), """
        x.unsqueeze(0).squeeze(0)[2].zero_()
        return x
    """),
    case("nest_parent_and_child_written", "x", (f(3, 4),), """
        v = x[1:]
        w = v[:, 2:]
        v.add_(10.0)
        w.mul_(2.0)
        v[0, 3] = -1.0
        return x, w
    """),
    case("nest_narrow_of_unfold", "x", (f(6),), """
        x.unfold(0, 3, 3)[1][1:].neg_()
        return x
    """),
]
# fmt: on
