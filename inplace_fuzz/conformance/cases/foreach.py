"""Operators on lists of tensors."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f

# fmt: off
CASES = [
    case("fe_add_scalar_to_inputs", "x, y", (f(2), f(3, start=10)), """
        torch._foreach_add_([x, y], 1.0)
        return x * 1.0, y * 1.0
    """, not_script="script drops it"),
    case("fe_multiply_by_list", "x, y", (f(2), f(2, start=10)), """
        torch._foreach_mul_([x, y], [y.clone(), x.clone()])
        return x + y
    """, not_script="script drops it"),
    case("fe_zero_rows", "x", (f(3, 2),), """
        torch._foreach_zero_([x[0], x[2]])
        return x
    """, not_script="script drops it"),
    case("fe_copy_between_lists", "x, y", (f(2), f(2, start=10)), """
        torch._foreach_copy_([x], [y])
        y.zero_()
        return x
    """, not_script="script drops it"),
    case("fe_different_scalars", "x, y", (f(2), f(2, start=10)), """
        torch._foreach_sub_([x, y], [1.0, 10.0])
        return x + y
    """, not_script="script drops it"),
    case("fe_addcmul", "x, a, b", (f(2), f(2, start=2), f(2, start=3)), """
        torch._foreach_addcmul_([x], [a], [b], value=2.0)
        return x
    """, not_script="script drops it"),
    case("fe_neg_buffer_and_input", "x", (f(2),), """
        torch._foreach_neg_([self.buf, x])
        return self.buf + x
    """, init="self.register_buffer('buf', torch.ones(2))", not_script="script drops it"),
    case("fe_functional_leaves_inputs", "x, y", (f(2), f(2, start=10)), """
        a, b = torch._foreach_add([x, y], 1.0)
        a.mul_(2.0)
        return x, a, b
    """),
]
# fmt: on
