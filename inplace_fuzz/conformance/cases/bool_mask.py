"""Masks: which elements are written depends on content."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, idx, mask, t

# fmt: off
CASES = [
    case("mask_rows", "x, y, m", (f(4, 3), f(2, 3, start=100), mask(False, True, False, True)), """
        x[m] = y
        return x
    """, other=(f(4, 3), f(2, 3, start=100), mask(True, False, True, False))),
    case("mask_after_slice", "x, m", (f(3, 4), mask(True, False, False, True)), """
        x[1:, m] = -1.0
        return x
    """),
    case("mask_from_view_write_back", "x", (f(4, 2),), """
        v = x[:, 1]
        v[v > 4.0] = -4.0
        return x
    """),
    case("masked_fill_on_view", "x, m", (f(6), mask(True, False)), """
        x.view(3, 2).masked_fill_(m.unsqueeze(0), 99.0)
        return x
    """),
    case("masked_fill_broadcast_mask", "x", (f(4, 2, 3),), """
        m = torch.tensor([[False, False, True], [True, True, False]])
        x.masked_fill_(m, 2.5)
        return x
    """),
    case("mask_with_int_index", "x, m, k", (f(4, 3), mask(True, False, True, False), idx(2, 0)), """
        x[m, k] = 50.0
        return x
    """),
    case("mask_full_shape", "x, m", (f(2, 3), t([[True, False, True], [False, False, True]], "bool")), """
        x[m] = -1.0
        return x
    """, other=(f(2, 3), t([[False, False, False], [False, True, False]], "bool"))),
    case("mask_full_shape_one_value_each", "x, y, m",
         (f(2, 3), f(3, start=100), t([[True, False, True], [False, False, True]], "bool")), """
        x[m] = y
        return x
    """, other=(f(2, 3), f(3, start=100), t([[False, True, False], [True, True, False]], "bool"))),
    case("mask_nothing_selected", "x, m", (f(3, 2), mask(False, False, False)), """
        x[m] = 9.0
        return x
    """, other=(f(3, 2), mask(True, True, True))),
    case("mask_columns", "x, y, m", (f(2, 3), f(2, 2, start=100), mask(True, False, True)), """
        x[:, m] = y
        return x
    """),
    case("mask_inverted", "x, m", (f(4), mask(True, False, False, True)), """
        x[~m] = 0.0
        return x
    """),
    case("mask_masked_scatter", "x, y, m", (f(2, 3), f(6, start=100), mask(True, False, True)), """
        x.masked_scatter_(m, y)
        return x
    """, other=(f(2, 3), f(6, start=100), mask(False, True, False))),
    case("mask_second_sees_what_the_first_wrote", "x", (f(5),), """
        x[x > 2.0] = 0.0
        x[x == 0.0] = 9.0
        return x
    """, other=(f(5, start=-3),)),
    case("mask_fill_value_from_tensor", "x, v, m", (f(3, 2), t(50.0), mask(True, False)), """
        x.masked_fill_(m, v)
        return x
    """),
    case("mask_fill_on_transposed", "x, m", (f(2, 3), mask(True, False)), """
        x.t().masked_fill_(m, -1.0)
        return x
    """),
    case("mask_where_written_back", "x", (f(4, start=-2),), """
        x.copy_(torch.where(x < 0.0, torch.zeros([4]), x * 10.0))
        return x
    """, other=(f(4),)),
    case("mask_nonzero_as_index", "x", (f(5),), """
        x[torch.nonzero(x > 2.0).squeeze(1)] = 0.0
        return x
    """, other=(f(5, start=1.5),)),
    case("mask_augmented_rows", "x, m", (f(3, 2), mask(True, False, True)), """
        x[m] += 100.0
        return x
    """, other=(f(3, 2), mask(False, False, True))),
    case("mask_itself_written_in_between", "x, m", (f(3), mask(True, False, False)), """
        x[m] = -1.0
        m.logical_not_()
        x[m] += 10.0
        return x, m
    """),
    case("mask_taken_before_a_write", "x", (f(4),), """
        m = x > 2.0
        x.neg_()
        x[m] = 7.0
        return x
    """),
    case("mask_scatter_on_slice", "x, m", (f(4, 3), t([[True, False, True], [False, True, False]], "bool")), """
        x[1:3].masked_scatter_(m, torch.arange(100.0, 106.0))
        return x
    """),
]
# fmt: on
