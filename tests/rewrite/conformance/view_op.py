"""Every view operator, written through and read after its base was written."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

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
]

BASE_WRITTEN = [
    "view",
    "transpose",
    "permute3",
    "unsqueeze",
    "narrow",
    "diagonal",
    "flatten",
    "as_strided",
    "unfold",
    "reshape",
]

CASES = [
    *[
        case(
            f"v_{nm}_add",
            "x",
            f"""
                base = x.clone()
                v = {expr.replace("x.", "base.", 1).replace("x[", "base[", 1)}
                before = v + 1.0
                v.add_(100.0)
                return base, v, before, v * 3.0
            """,
            lambda shp=shp: (f(*shp),),
        )
        for nm, expr, shp in VIEW_OPS
    ],
    *[
        case(
            f"v_{nm}_base_write",
            "x",
            f"""
                base = x.clone()
                v = {expr.replace("x.", "base.", 1)}
                before = v + 1.0
                base.mul_(10.0)
                return base, v, before
            """,
            lambda shp=shp: (f(*shp),),
        )
        for nm, expr, shp in VIEW_OPS
        if nm in BASE_WRITTEN
    ],
    case(
        "v_split_sizes",
        "x",
        """
        a, c = torch.split(x, [1, 3], dim=1)
        before = c + 1.0
        c.add_(50.0)
        a.mul_(3.0)
        return x, a, c, before
    """,
        lambda: (f(2, 4),),
    ),
    case(
        "v_unbind",
        "x",
        """
        p = x.unbind(1)
        p[1].mul_(-1.0)
        return x, p[0], p[1]
    """,
        lambda: (f(2, 3),),
    ),
    case(
        "v_tensor_split",
        "x",
        """
        p = x.tensor_split(3, 0)
        p[0].add_(10.0)
        p[2].zero_()
        return x
    """,
        lambda: (f(7, 2),),
    ),
    case(
        "v_flatten_that_copies",
        "x",
        """
        base = x.clone()
        r = base.t().flatten()
        r.zero_()
        return base, r
    """,
        lambda: (f(2, 3),),
    ),
    case(
        "v_to_other_dtype_copies",
        "x",
        """
        d = x.to(torch.float64)
        d.add_(1.0)
        return x, d
    """,
        lambda: (f(2, 2),),
    ),
    case(
        "v_as_strided_overlap_read",
        "x",
        """
        v = x.as_strided([2, 2], [1, 1], 0)
        x[1] = 50.0
        return x, v
    """,
        lambda: (f(4),),
    ),
    case(
        "v_real_of_complex",
        "x",
        """
        c = torch.complex(x, x * 2.0)
        torch.view_as_real(c).add_(10.0)
        return torch.view_as_real(c)
    """,
        lambda: (f(3),),
    ),
]
