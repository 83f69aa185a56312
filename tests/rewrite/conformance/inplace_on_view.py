"""In-place operators called on views."""

from __future__ import annotations

import torch

from tests.rewrite.conformance.case import case, f, i, idx

CASES = [
    *[
        case(
            f"viewop_{op}_on_slice",
            "x, y",
            f"""
                x[1:3].{call}
                return x
            """,
            lambda: (f(4, 2), f(2, 2, start=2)),
        )
        for op, call in [
            ("copy", "copy_(y)"),
            ("add", "add_(y)"),
            ("mul", "mul_(y)"),
            ("sub_alpha", "sub_(y, alpha=2.0)"),
            ("div", "div_(y)"),
        ]
    ],
    *[
        case(
            f"viewop_{op}_on_select",
            "x",
            f"""
                x[1].{call}
                return x
            """,
            lambda: (f(3, 4, start=-4, step=0.5),),
        )
        for op, call in [
            ("fill", "fill_(3.0)"),
            ("zero", "zero_()"),
            ("clamp", "clamp_(2.0, 4.0)"),
            ("neg", "neg_()"),
            ("relu", "relu_()"),
            ("exp", "exp_()"),
        ]
    ],
    case(
        "viewop_returned_value",
        "x",
        """
        return x[2:4].zero_()
    """,
        lambda: (f(6, 2),),
    ),
    case(
        "viewop_chain_on_result",
        "x",
        """
        r = x.add_(2.0)
        before = r * 2.0
        x.mul_(3.0)
        r.sub_(1.0)
        return x, r, before
    """,
        lambda: (f(2, 3),),
    ),
    case(
        "viewop_index_fill",
        "x, k",
        """
        x[:, 1:].index_fill_(1, k, -5.0)
        return x
    """,
        lambda: (f(2, 5), idx(0, 3)),
    ),
    case(
        "viewop_index_copy",
        "x, k, y",
        """
        x.index_copy_(0, k, y)
        return x
    """,
        lambda: (f(4, 2), idx(3, 1), f(2, 2, start=100)),
    ),
    case(
        "viewop_scatter_on_view",
        "x, k, y",
        """
        x[1:].scatter_(1, k, y)
        return x
    """,
        lambda: (f(3, 4), torch.tensor([[3, 0], [1, 2]]), f(2, 2, start=100)),
    ),
    case(
        "viewop_out_variant",
        "x",
        """
        base = torch.zeros_like(x)
        v = base[:, 1:3]
        before = base + 3.0
        torch.add(x[:, 1:3], 1.0, out=v)
        base.add_(2.0)
        return base, v, before
    """,
        lambda: (f(2, 4),),
    ),
    case(
        "viewop_fill_diagonal",
        "x",
        """
        x.fill_diagonal_(-2.0)
        return x
    """,
        lambda: (f(3, 4),),
    ),
    case(
        "viewop_tril_on_view",
        "x",
        """
        x[0].tril_()
        return x
    """,
        lambda: (f(2, 3, 3),),
    ),
    case(
        "viewop_bitwise_int",
        "x",
        """
        x[1:].bitwise_or_(8)
        return x
    """,
        lambda: (i(4),),
    ),
]
