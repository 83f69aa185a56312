"""index_put_ and its like with accumulate."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, idx, mask, t

# fmt: off
CASES = [
    case("acc_unique", "x, y, k", (f(5), f(3, start=100), idx(0, 4, 2)), """
        x.index_put_([k], y, accumulate=True)
        return x
    """),
    case("acc_on_view", "x, k, y", (f(4, 2), idx(3, 3, 0), f(3, start=100)), """
        v = x[:, 1]
        v.index_put_([k], y, accumulate=True)
        return x
    """),
    case("acc_index_add_method", "x, k, y", (f(4, 2), idx(3, 0, 3), f(3, 2, start=100)), """
        x.index_add_(0, k, y)
        return x
    """),
    case("acc_scatter_add_method", "s, k", (f(3, 2), t([[0, 0], [1, 0], [1, 1]], "int64")), """
        out = torch.zeros(s.size(), dtype=s.dtype)
        return out.scatter_add_(1, k, s)
    """),
    case("acc_duplicates", "x, y, k", (f(4), f(3, start=100), idx(1, 3, 1)), """
        x.index_put_([k], y, accumulate=True)
        return x
    """, other=(f(4), f(3, start=100), idx(0, 0, 0))),
    case("acc_two_indices", "x, y, r, c", (f(3, 3), f(3, start=100), idx(0, 2, 0), idx(1, 1, 1)), """
        x.index_put_((r, c), y, accumulate=True)
        return x
    """),
    case("acc_mask", "x, m", (f(4), mask(True, False, True, False)), """
        x.index_put_([m], torch.ones([2]), accumulate=True)
        return x
    """),
    case("acc_index_add_alpha_on_columns", "x, y, k", (f(2, 4), f(2, 3, start=100), idx(3, 0, 3)), """
        x.index_add_(1, k, y, alpha=2.0)
        return x
    """),
    case("acc_scatter_add_on_view", "x, s, k", (f(3, 4), f(2, 2, start=100), t([[3, 3], [0, 1]], "int64")), """
        x[1:].scatter_add_(1, k, s)
        return x
    """),
    case("acc_scatter_reduce_amax", "x, s, k", (f(4), f(3, start=2), idx(0, 0, 3)), """
        x.scatter_reduce_(0, k, s, reduce="amax")
        return x
    """),
    case("acc_index_reduce_prod", "x, s, k", (f(3, 2), f(2, 2, start=2), idx(2, 0)), """
        x.index_reduce_(0, k, s, "prod")
        return x
    """),
    case("acc_put", "x, y, k", (f(2, 2), f(3, start=100), idx(0, 3, 0)), """
        x.put_(k, y, accumulate=True)
        return x
    """),
    case("acc_histogram_of_indices", "k", (idx(0, 2, 2, 1, 2),), """
        h = torch.zeros([4])
        h.index_add_(0, k, torch.ones([5]))
        return h
    """, other=(idx(3, 3, 3, 3, 0),)),
    case("acc_in_loop", "x, k", (f(3), t([[0, 1], [1, 1]], "int64")), """
        for j in range(2):
            x.index_put_([k[j]], x[k[j]] * 0.0 + 1.0, accumulate=True)
        return x
    """),
]
# fmt: on
