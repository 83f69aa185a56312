"""Casts that a write implies."""

from __future__ import annotations

import torch

from tests.rewrite.conformance.case import case, f, i

CASES = [
    case(
        "dt_float_into_int_truncates",
        "x, y",
        """
        x[1] = y
        return x
    """,
        lambda: (i(3, 2), torch.tensor([2.7, -2.7])),
    ),
    case(
        "dt_int_into_float",
        "x, y",
        """
        x[:, 1] = y
        return x
    """,
        lambda: (f(2, 3), torch.tensor([1, 2], dtype=torch.int32)),
    ),
    case(
        "dt_scalar_float_into_int",
        "x",
        """
        x[0] = 3.9
        return x
    """,
        lambda: (i(3),),
    ),
    case(
        "dt_float_into_half",
        "x, y",
        """
        x.add_(y)
        return x
    """,
        lambda: (f(2, 2, dtype=torch.float16), f(2, 2, start=0.5)),
    ),
    case(
        "dt_half_view_copy",
        "x, y",
        """
        x[0].copy_(y)
        return x
    """,
        lambda: (f(2, 2, dtype=torch.float16), f(2, start=1000.123)),
    ),
    case(
        "dt_float_add_scalar_int",
        "x",
        """
        x[0] += 1
        return x
    """,
        lambda: (f(2, 2),),
    ),
    case(
        "dt_copy_into_complex",
        "x",
        """
        c = torch.zeros([2], dtype=torch.complex64)
        c.copy_(x)
        return torch.view_as_real(c)
    """,
        lambda: (f(2),),
    ),
    case(
        "dt_fill_int_with_float_scalar",
        "x",
        """
        x[1:].fill_(2.0)
        return x
    """,
        lambda: (i(3),),
    ),
]
