"""Empty tensors."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "zs_empty_input",
        "x",
        """
        x[1:] = 5.0
        return x
    """,
        lambda: (f(0, 2),),
    ),
    case(
        "zs_mask_on_empty",
        "x",
        """
        x[x > 0.0] = 1.0
        return x
    """,
        lambda: (f(0),),
    ),
]
