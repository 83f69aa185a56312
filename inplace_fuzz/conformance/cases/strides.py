"""Views and copies that only strides or dtypes tell apart."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, laid, transposed

# fmt: off
CASES = [
    case("sv_reshape_of_transposed_copies", "x", (f(2, 3),), """
        r = x.t().reshape(6)
        r.zero_()
        return x, r
    """),
    case("sv_reshape_of_sliced_rows_views", "x", (f(4, 2),), """
        r = x[1:3].reshape(4)
        r.zero_()
        return x, r
    """),
    case("sv_reshape_of_sliced_columns_copies", "x", (f(2, 4),), """
        r = x[:, 1:3].reshape(4)
        r.zero_()
        return x, r
    """),
    case("sv_reshape_decided_by_the_caller", "x", (f(3, 2),), """
        r = x.reshape(6)
        r.add_(10.0)
        return x * 1.0, r * 1.0
    """, other=(transposed(f(2, 3)),)),
    case("sv_contiguous_decided_by_the_caller", "x", (transposed(f(2, 3)),), """
        c = x.contiguous()
        c[0] = -1.0
        return x * 1.0, c * 1.0
    """, other=(f(3, 2),)),
    case("sv_flatten_decided_by_the_caller", "x", (f(2, 2, 2),), """
        v = x.flatten(1)
        v[1].zero_()
        return x * 1.0
    """, other=(laid(f(8), (2, 2, 2), (4, 1, 2)),)),
    case("sv_ravel_of_contiguous", "x", (f(2, 3),), """
        r = x.ravel()
        r[4] = 0.0
        return x, r
    """),
    case("sv_contiguous_of_transposed_copies", "x", (f(2, 3),), """
        c = x.t().contiguous()
        c.mul_(10.0)
        x.add_(1.0)
        return x, c
    """),
    case("sv_to_with_copy", "x", (f(3),), """
        c = x.to(torch.float32, copy=True)
        c.zero_()
        return x, c
    """),
    case("sv_float_of_float", "x", (f(3),), """
        v = x.float()
        v[0] = 9.0
        return x
    """),
    case("sv_double_of_float", "x", (f(3),), """
        c = x.double()
        c[0] = 9.0
        return x, c
    """),
    case("sv_type_as_same_dtype", "x, y", (f(3), f(2)), """
        v = x.type_as(y)
        v.mul_(2.0)
        return x * 1.0
    """, not_script="script takes type_as for a copy"),
    case("sv_cpu_of_cpu", "x", (f(3),), """
        x.cpu().add_(5.0)
        return x
    """),
    case("sv_reshape_to_same_shape", "x", (f(2, 3),), """
        v = x.reshape(2, 3)
        v[1] = 0.0
        return x
    """),
    case("sv_reshape_adds_a_dim_to_transposed", "x", (f(2, 3),), """
        v = x.t().reshape(3, 1, 2)
        v[0, 0, 1] = 0.0
        return x, v
    """),
    case("sv_unflatten_of_sliced", "x", (f(3, 4),), """
        v = x[:, :2].unflatten(1, [2, 1])
        v[1].fill_(0.0)
        return x
    """),
    case("sv_clone_of_transposed_written", "x", (f(2, 3),), """
        c = x.t().clone()
        c[0] = -1.0
        return c, x
    """),
    case("sv_view_of_transposed_input", "x", (transposed(f(2, 3)),), """
        v = x.t().view(6)
        v[1] = 0.0
        return x, v
    """),
    case("sv_diagonal_of_transposed", "x", (f(3, 4),), """
        d = x.t().diagonal(1)
        d.neg_()
        return x, d
    """),
    case("sv_expanded_read_while_base_written", "x", (f(3, 1),), """
        e = x.expand(3, 2)
        before = e * 1.0
        x[1] = 50.0
        return before, e * 1.0
    """),
    case("sv_reshape_of_expanded_copies", "x", (f(1, 3),), """
        r = x.expand(2, 3).reshape(6)
        r.zero_()
        return x, r
    """),
    case("sv_as_strided_on_a_view_counts_from_the_storage", "x", (f(6),), """
        y = x.clone()
        v = y[2:].as_strided([2], [1], 0)
        v.fill_(0.0)
        return y
    """),
    case("sv_as_strided_without_offset_on_a_view", "x", (f(6),), """
        y = x.clone()
        v = y[2:].as_strided([2], [2])
        v.fill_(0.0)
        return y
    """),
    case("sv_contiguous_then_view_then_write", "x", (f(2, 3, 4),), """
        v = x.contiguous().view(6, 4)
        v[:, 0] = 0.0
        return x
    """),
    case("sv_permuted_input_written_through_view_of_slice", "x", (laid(f(24), (2, 3, 4), (4, 8, 1)),), """
        x[0].view(3, 2, 2)[1].mul_(-1.0)
        return x
    """),
]
# fmt: on
