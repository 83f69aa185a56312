"""Index tensors among slices and None."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, idx, t

# fmt: off
CASES = [
    case("mix_index_then_slice", "x, y, k", (f(4, 5), f(2, 2, start=100), idx(3, 0)), """
        x[k, 1:3] = y
        return x
    """),
    case("mix_slice_slice_index", "x, y", (f(3, 4, 5), f(1, 2, 1, start=100)), """
        x[1:2, 1:3, torch.tensor([1])] += y
        return x
    """),
    case("mix_index_slice_index_not_adjacent", "x, y, r, c", (f(3, 2, 4), f(2, 2, start=100), idx(0, 2), idx(3, 1)), """
        x[r, :, c] = y
        return x
    """),
    case("mix_index_of_slice_variable", "x, y, k", (f(2, 5), f(2, 2, start=100), idx(3, 0)), """
        v = x[:, 1:]
        v[:, k] = y
        return x, v
    """),
    case("mix_none_inserted", "x, y", (f(3, 4), f(3, 1, 2, start=100)), """
        x[:, None, 1:3] = y
        return x
    """),
    case("mix_ellipsis_index", "x, y, k", (f(2, 3, 4), f(2, 3, 2, start=100), idx(3, 0)), """
        x[..., k] = y
        return x
    """, not_script="script rejects a tensor index after an Ellipsis"),
    case("mix_ellipsis_two_indices", "x, y, r, c", (f(2, 3, 4), f(2, 2, start=100), idx(2, 0), idx(3, 1)), """
        x[..., r, c] = y
        return x
    """, not_script="script rejects a tensor index after an Ellipsis"),
    case("mix_int_then_index", "x, y, k", (f(3, 4), f(2, start=100), idx(3, 0)), """
        x[1, k] = y
        return x
    """),
    case("mix_index_then_int", "x, y, k", (f(3, 4), f(2, start=100), idx(2, 0)), """
        x[k, 1] = y
        return x
    """),
    case("mix_int_slice_index", "x, y, k", (f(2, 3, 4), f(3, 2, start=100), idx(3, 0)), """
        x[1, :, k] = y
        return x
    """),
    case("mix_index_slice_int", "x, y, k", (f(3, 2, 4), f(2, 2, start=100), idx(2, 0)), """
        x[k, :, 1] = y
        return x
    """),
    case("mix_stepped_slice_and_index", "x, y, k", (f(5, 4), f(3, 2, start=100), idx(3, 0)), """
        x[::2, k] = y
        return x
    """),
    case("mix_none_before_index", "x, y, k", (f(4, 2), f(1, 2, 2, start=100), idx(3, 0)), """
        x[None, k] = y
        return x
    """),
    case("mix_adjacent_indices_after_slice", "x, y, r, c", (f(2, 3, 4), f(2, 2, start=100), idx(2, 0), idx(3, 1)), """
        x[:, r, c] = y
        return x
    """),
    case("mix_separated_indices_accumulate", "x, y, r, c", (f(3, 2, 4), f(2, 2, start=100), idx(0, 0), idx(3, 3)), """
        x.index_put_([r, torch.arange(2).unsqueeze(1), c], y, accumulate=True)
        return x
    """),
    case("mix_index_of_permuted", "x, y, k", (f(2, 3, 4), f(2, 2, 3, start=100), idx(3, 0)), """
        x.permute(2, 0, 1)[k] = y
        return x
    """),
    case("mix_index_in_middle_scalar", "x, k", (f(2, 4, 3), idx(3, 0)), """
        x[:, k, 1:] = 0.0
        return x
    """, other=(f(2, 4, 3), idx(1, 2))),
    case("mix_two_dim_index_and_slice", "x, k", (f(4, 3), t([[0, 2], [3, 0]], "int64")), """
        x[k, 1:] = -1.0
        return x
    """),
]
# fmt: on
