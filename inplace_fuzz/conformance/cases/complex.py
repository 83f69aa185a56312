"""Complex tensors and their real views."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, t

# fmt: off
CASES = [
    case("cx_real_part_written", "x", (f(3, dtype="complex64"),), """
        x.real.mul_(10.0)
        return x
    """),
    case("cx_imaginary_part_written", "x", (f(3, dtype="complex64"),), """
        x.imag.fill_(2.0)
        return x
    """),
    case("cx_view_as_real_of_input", "x", (f(2, dtype="complex64"),), """
        r = torch.view_as_real(x)
        r[:, 1] = 5.0
        return x, r
    """),
    case("cx_view_as_complex_written", "x", (f(3, 2),), """
        c = torch.view_as_complex(x)
        c.mul_(2.0)
        c[0] = 1.0
        return x, c
    """),
    case("cx_conj_in_place", "x", (t([1 + 2j, 3 - 4j], "complex64"),), """
        x[1:].conj_physical_()
        return x
    """),
    case("cx_conj_read_after_write", "x", (t([1 + 2j, 3 - 4j], "complex64"),), """
        c = x.conj()
        x.mul_(2.0)
        return torch.view_as_real(c.resolve_conj())
    """),
    case("cx_adjoint_read_after_write", "x", (t([[1 + 2j, 3 - 4j]], "complex64"),), """
        h = x.mH
        x.add_(1.0)
        return torch.view_as_real(h.clone().resolve_conj())
    """),
    case("cx_real_of_real_is_itself", "x", (f(3),), """
        r = x.real
        r.add_(1.0)
        return x
    """),
    case("cx_real_and_imag_both_written", "x", (t([1 + 2j, 3 - 4j], "complex64"),), """
        re = x.real
        im = x.imag
        re.copy_(im)
        im.neg_()
        return x, re
    """),
    case("cx_row_of_complex_matrix", "x, y", (f(2, 2, dtype="complex64"), t([1j, 2j], "complex64")), """
        x[1] = y
        x[0].add_(x[1])
        return x
    """),
    case("cx_negated_imaginary_of_conj", "x", (t([1 + 2j, 3 - 4j], "complex64"),), """
        v = torch.view_as_real(x)
        v[:, 1].neg_()
        return x.conj().resolve_conj()
    """),
]
# fmt: on
