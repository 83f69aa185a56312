"""What the caller sees of its own tensors."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "inp_add",
        "x",
        """
        x.add_(1.0)
        return x * 2.0
    """,
        lambda: (f(3),),
    ),
    case(
        "inp_only_effect_no_output_of_it",
        "x, y",
        """
        x[1] = y
        return y + 1.0
    """,
        lambda: (f(3, 2), f(2, start=100)),
    ),
    case(
        "inp_second_argument",
        "x, y",
        """
        y[0] = x[1]
        return y
    """,
        lambda: (f(3, 2), f(2, 2, start=100)),
    ),
    case(
        "inp_two_arguments",
        "x, y",
        """
        x[0] = 1.0
        y[1] = x[0]
        return x, y
    """,
        lambda: (f(3, 2), f(3, 2, start=100)),
    ),
    case(
        "inp_through_transposed_view",
        "x, y",
        """
        x.t()[1] = y
        return y * 1.0
    """,
        lambda: (f(2, 3), f(2, start=100)),
    ),
    case(
        "inp_untouched_argument_not_written",
        "x, y",
        """
        z = x.clone()
        z[0] = y[0]
        return z
    """,
        lambda: (f(2, 2), f(2, 2, start=100)),
    ),
]
