"""Every view operator: written through, read after its base was written, and a caller's tensor written through it."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, i

# fmt: off
# name, the view of `x`, the shape of x
VIEW_OPS = [
    ("view", "x.view(3, 4)", (2, 6)),
    ("view_infer", "x.view(-1)", (2, 3)),
    ("view_as", "x.view_as(torch.zeros([3, 2]))", (2, 3)),
    ("reshape", "x.reshape(4, 3)", (2, 6)),
    ("transpose", "x.transpose(0, 2)", (2, 3, 4)),
    ("transpose_neg", "x.transpose(-1, -2)", (2, 3, 4)),
    ("t", "x.t()", (2, 3)),
    ("permute3", "x.permute(1, 2, 0)", (2, 3, 4)),
    ("movedim", "x.movedim(0, 2)", (2, 3, 4)),
    ("swapaxes", "x.swapaxes(0, 1)", (2, 3)),
    ("unsqueeze", "x.unsqueeze(1)", (2, 3)),
    ("unsqueeze_last", "x.unsqueeze(-1)", (2, 3)),
    ("squeeze_all", "x.squeeze()", (1, 3, 1)),
    ("squeeze_dim", "x.squeeze(1)", (2, 1, 3)),
    ("squeeze_dim_noop", "x.squeeze(0)", (2, 3)),
    ("narrow", "x.narrow(1, 1, 2)", (2, 4)),
    ("diagonal", "x.diagonal()", (3, 3)),
    ("diagonal_offset", "x.diagonal(1)", (3, 4)),
    ("diagonal_dims", "x.diagonal(-1, 1, 2)", (2, 3, 3)),
    ("flatten", "x.flatten()", (2, 3)),
    ("flatten_from1", "x.flatten(1)", (2, 3, 2)),
    ("unflatten", "x.unflatten(0, [2, 3])", (6, 2)),
    ("as_strided", "x.as_strided([2, 2], [3, 1], 1)", (9,)),
    ("as_strided_step", "x.as_strided([2], [2], 1)", (6,)),
    ("unfold", "x.unfold(0, 2, 2)", (6,)),
    ("unfold_dim1", "x.unfold(1, 3, 3)", (2, 6)),
    ("detach", "x.detach()", (2, 3)),
    ("contiguous_noop", "x.contiguous()", (2, 3)),
    ("to_same_dtype", "x.to(torch.float32)", (2, 3)),
    ("expand_same", "x.expand([2, 3])", (2, 3)),
    ("reshape_as", "x.reshape_as(torch.zeros([6]))", (2, 3)),
    ("mT", "x.mT", (2, 2, 3)),
    ("select_slice_combo", "x[:, 0].narrow(0, 1, 2)", (4, 2)),
    ("swapdims", "x.swapdims(-1, 0)", (2, 3)),
    ("moveaxis_lists", "x.moveaxis([0, 1], [1, 2])", (2, 3, 4)),
    ("T", "x.T", (2, 3)),
    ("H", "x.H", (2, 3)),
    ("mH", "x.mH", (2, 2, 3)),
    ("adjoint", "x.adjoint()", (2, 3)),
    ("ravel", "x.ravel()", (2, 3)),
    ("squeeze_several", "x.squeeze([0, 2])", (1, 3, 1)),
    ("squeeze_negative", "x.squeeze(-1)", (2, 3, 1)),
    ("unflatten_infer", "x.unflatten(-1, [-1, 2])", (2, 4)),
    ("narrow_negative", "x.narrow(0, -2, 2)", (3, 2)),
    ("diagonal_below", "x.diagonal(-1)", (4, 3)),
    ("permute_negative", "x.permute(-1, 0, 1)", (2, 3, 4)),
    ("as_strided_no_offset", "x.as_strided([2, 2], [2, 1])", (6,)),
    ("whole_slice", "x[:]", (2, 3)),
    ("ellipsis", "x[...]", (2, 3)),
    ("new_axis", "x[None]", (2, 3)),
    ("new_axis_inside", "x[:, None, 1:]", (2, 3)),
    ("step_slice", "x[::2, 1::2]", (3, 4)),
    ("negative_select", "x[-1]", (2, 3)),
    ("atleast_2d", "torch.atleast_2d(x)", (3,)),
    ("atleast_3d", "torch.atleast_3d(x)", (2, 3)),
    ("float_noop", "x.float()", (2, 3)),
    ("positive", "torch.positive(x)", (2, 3)),
    ("view_last_infer", "x.view(2, -1)", (3, 4)),
    ("real_of_real", "x.real", (2, 3)),
    ("broadcast_same", "torch.broadcast_to(x, [2, 3])", (2, 3)),
]

BASE_WRITTEN = [
    "view", "transpose", "permute3", "unsqueeze", "narrow", "diagonal", "flatten", "as_strided", "unfold", "reshape",
    "movedim", "squeeze_dim", "step_slice", "ravel", "T",
]

# Read while its base is written; eager refuses to write through them.
REPEATING = [
    ("unfold_overlapping", "x.unfold(0, 3, 1)", (5,)),
    ("expand", "x.expand(3, 2)", (1, 2)),
    ("expand_new_dim", "x.expand(2, -1, -1)", (2, 2)),
    ("broadcast_to", "torch.broadcast_to(x, [2, 3])", (3,)),
    ("as_strided_overlapping", "x.as_strided([3, 2], [1, 1], 0)", (4,)),
    ("expand_as", "x.expand_as(torch.zeros([2, 3]))", (3,)),
]

NOT_SCRIPT = {"ellipsis": "script does not read [...] alone"}

# How the caller's tensor is written: the next write with the next view.
WRITES = [
    "v.add_(100.0)", "v.copy_(v * 10.0)", "v.fill_(7.0)", "v.mul_(-1.0)", "v.zero_()", "v += v * 2.0",
    "v.masked_fill_(v > 3.0, 0.0)", "v[0] = 50.0", "v.clamp_(2.0, 4.0)", "v[v > 2.0] = -1.0", "v.sub_(1.0, alpha=2.0)",
]


def of(name: str, expression: str) -> str:
    return expression.replace("x.", f"{name}.", 1).replace("x[", f"{name}[", 1).replace("(x", f"({name}", 1)


CASES = [
    *[case(f"v_{name}_add", "x", (f(*shape),), f"""
        base = x.clone()
        v = {of("base", view)}
        before = v + 1.0
        v.add_(100.0)
        return base, v, before, v * 3.0
    """, not_script=NOT_SCRIPT.get(name, "")) for name, view, shape in VIEW_OPS],
    *[case(f"v_{name}_base_write", "x", (f(*shape),), f"""
        base = x.clone()
        v = {of("base", view)}
        before = v + 1.0
        base.mul_(10.0)
        return base, v, before
    """) for name, view, shape in VIEW_OPS if name in BASE_WRITTEN],
    *[case(f"v_{name}_read", "x", (f(*shape),), f"""
        v = {view}
        before = v + 1.0
        x.mul_(10.0)
        return v, before
    """) for name, view, shape in REPEATING],
    *[case(f"v_{name}_of_input", "x", (f(*shape),), f"""
        v = {view}
        {WRITES[k % len(WRITES)]}
        return v * 1.0
    """, not_script=NOT_SCRIPT.get(name, "")) for k, (name, view, shape) in enumerate(VIEW_OPS)],
    case("v_split_sizes", "x", (f(2, 4),), """
        a, c = torch.split(x, [1, 3], dim=1)
        before = c + 1.0
        c.add_(50.0)
        a.mul_(3.0)
        return x, a, c, before
    """),
    case("v_unbind", "x", (f(2, 3),), """
        p = x.unbind(1)
        p[1].mul_(-1.0)
        return x, p[0], p[1]
    """),
    case("v_tensor_split", "x", (f(7, 2),), """
        p = x.tensor_split(3, 0)
        p[0].add_(10.0)
        p[2].zero_()
        return x
    """),
    case("v_flatten_that_copies", "x", (f(2, 3),), """
        base = x.clone()
        r = base.t().flatten()
        r.zero_()
        return base, r
    """),
    case("v_to_other_dtype_copies", "x", (f(2, 2),), """
        d = x.to(torch.float64)
        d.add_(1.0)
        return x, d
    """),
    case("v_as_strided_overlap_read", "x", (f(4),), """
        v = x.as_strided([2, 2], [1, 1], 0)
        x[1] = 50.0
        return x, v
    """),
    case("v_real_of_complex", "x", (f(3),), """
        c = torch.complex(x, x * 2.0)
        torch.view_as_real(c).add_(10.0)
        return torch.view_as_real(c)
    """),
    case("v_chunk_uneven", "x", (f(5, 2),), """
        p = x.chunk(2)
        p[1].fill_(0.0)
        p[0][2] = 9.0
        return x, p[0], p[1]
    """),
    case("v_split_even_negative_dim", "x", (f(2, 4),), """
        a, b = torch.split(x, 2, -1)
        b.copy_(a)
        a.zero_()
        return x
    """),
    case("v_tensor_split_at_places", "x", (f(6, 2),), """
        a, b, c = torch.tensor_split(x, [1, 4])
        b.mul_(10.0)
        c.sub_(1.0)
        return x, a
    """),
    case("v_hsplit", "x", (f(2, 4),), """
        p = torch.hsplit(x, 2)
        p[1].zero_()
        return x, p[0]
    """),
    case("v_vsplit", "x", (f(4, 2),), """
        p = torch.vsplit(x, [1, 2])
        p[2].fill_(5.0)
        p[0].neg_()
        return x
    """),
    case("v_dsplit", "x", (f(1, 2, 4),), """
        p = torch.dsplit(x, 2)
        p[0].add_(100.0)
        return x, p[1]
    """),
    case("v_unbind_in_loop", "x", (f(2, 3),), """
        for column in x.unbind(1):
            column.add_(column[0].clone())
        return x
    """),
    case("v_narrow_copy_is_a_copy", "x", (f(4),), """
        c = torch.narrow_copy(x, 0, 1, 2)
        c.zero_()
        return x, c
    """),
    case("v_repeat_is_a_copy", "x", (f(2),), """
        r = x.repeat(2, 1)
        r[0] = 0.0
        x.add_(1.0)
        return x, r
    """),
    case("v_index_select_is_a_copy", "x", (f(3, 2),), """
        c = x.index_select(0, torch.tensor([0, 2]))
        c.zero_()
        x[0] = 9.0
        return x, c
    """),
    case("v_meshgrid_read", "x, y", (f(2), f(3, start=10)), """
        a, b = torch.meshgrid([x, y], indexing="ij")
        r = a * b
        x.zero_()
        return r
    """),
    case("v_of_int_tensor", "x", (i(2, 3),), """
        v = x.t().unsqueeze(0)
        v[0, 1].add_(100)
        return x, v
    """),
]
# fmt: on
