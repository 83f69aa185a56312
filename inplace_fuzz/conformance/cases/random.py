"""Random fills; the caller seeds the generator before each call."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, i

# fmt: off
CASES = [
    case("rnd_uniform_row", "x", (f(2, 3),), """
        x[1].uniform_(2.0, 3.0)
        return x
    """),
    case("rnd_two_fills_in_order", "x, y", (f(3), f(3)), """
        x.normal_()
        y.uniform_()
        x.add_(y)
        return x, y
    """),
    case("rnd_bernoulli_mask", "x", (f(4),), """
        m = torch.zeros([4])
        m.bernoulli_(0.5)
        x.mul_(m)
        return x, m
    """),
    case("rnd_drawn_even_when_overwritten", "x", (f(3),), """
        y = torch.zeros([3])
        y.uniform_()
        y.copy_(x)
        x.uniform_()
        return x, y
    """),
    case("rnd_random_ints_in_view", "x", (i(6),), """
        x[::2].random_(0, 10)
        return x
    """),
    case("rnd_rand_like_then_written", "x", (f(3),), """
        r = torch.rand_like(x)
        r[0] = 0.0
        x.add_(r)
        return x, r
    """),
    case("rnd_in_one_branch", "x, flag: bool", (f(2), True), """
        if flag:
            x.uniform_()
        y = torch.rand([2])
        return x, y
    """, other=(f(2), False)),
    case("rnd_dropout_in_training", "x", (f(6),), """
        y = torch.nn.functional.dropout(x, 0.5, training=True)
        y[0] = 0.0
        return x, y
    """),
    case("rnd_exponential_through_transposed", "x", (f(2, 3),), """
        x.t()[1].exponential_()
        return x
    """),
]
# fmt: on
