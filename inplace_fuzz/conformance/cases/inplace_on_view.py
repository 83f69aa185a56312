"""In-place operators called on a view."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, i, idx, mask, t

# fmt: off
WITH_TENSOR = [
    ("copy", "copy_(y)"),
    ("add", "add_(y)"),
    ("mul", "mul_(y)"),
    ("sub_alpha", "sub_(y, alpha=2.0)"),
    ("div", "div_(y)"),
    ("floor_divide", "floor_divide_(y)"),
    ("div_rounded", "div_(y, rounding_mode='floor')"),
    ("remainder", "remainder_(y)"),
    ("fmod", "fmod_(y)"),
    ("pow", "pow_(y * 0.0 + 2.0)"),
    ("lerp", "lerp_(y, 0.5)"),
    ("addcmul", "addcmul_(y, y, value=2.0)"),
    ("addcdiv", "addcdiv_(y, y + 1.0)"),
    ("copysign", "copysign_(-y)"),
    ("atan2", "atan2_(y)"),
    ("hypot", "hypot_(y)"),
    ("xlogy", "xlogy_(y)"),
    ("clamp_tensors", "clamp_(y, y + 1.0)"),
    ("less", "lt_(y)"),
    ("not_equal", "ne_(y)"),
    ("logical_xor", "logical_xor_(y)"),
    ("heaviside", "heaviside_(y)"),
    ("nextafter", "nextafter_(y)"),
    ("ldexp", "ldexp_(y)"),
]
ALONE = [
    ("fill", "fill_(3.0)"),
    ("zero", "zero_()"),
    ("clamp", "clamp_(2.0, 4.0)"),
    ("neg", "neg_()"),
    ("relu", "relu_()"),
    ("exp", "exp_()"),
    ("abs", "abs_()"),
    ("sign", "sign_()"),
    ("round", "round_()"),
    ("floor", "floor_()"),
    ("trunc", "trunc_()"),
    ("sigmoid", "sigmoid_()"),
    ("tanh", "tanh_()"),
    ("square", "square_()"),
    ("reciprocal", "reciprocal_()"),
    ("erf", "erf_()"),
    ("cos", "cos_()"),
    ("clamp_min", "clamp_min_(-1.0)"),
    ("logical_not", "logical_not_()"),
    ("threshold", "mul_(2.0).clamp_(max=1.0)"),
    ("pow_scalar", "pow_(2)"),
    ("cumprod", "cumprod_(0)"),
    ("frac", "frac_()"),
]

CASES = [
    *[case(f"viewop_{name}_on_slice", "x, y", (f(4, 2), f(2, 2, start=2)), f"""
        x[1:3].{call}
        return x
    """) for name, call in WITH_TENSOR],
    *[case(f"viewop_{name}_on_select", "x", (f(3, 4, start=-4, step=0.5),), f"""
        x[1].{call}
        return x
    """) for name, call in ALONE],
    case("viewop_returned_value", "x", (f(6, 2),), """
        return x[2:4].zero_()
    """),
    case("viewop_chain_on_result", "x", (f(2, 3),), """
        r = x.add_(2.0)
        before = r * 2.0
        x.mul_(3.0)
        r.sub_(1.0)
        return x, r, before
    """),
    case("viewop_index_fill", "x, k", (f(2, 5), idx(0, 3)), """
        x[:, 1:].index_fill_(1, k, -5.0)
        return x
    """),
    case("viewop_index_copy", "x, k, y", (f(4, 2), idx(3, 1), f(2, 2, start=100)), """
        x.index_copy_(0, k, y)
        return x
    """),
    case("viewop_scatter_on_view", "x, k, y", (f(3, 4), t([[3, 0], [1, 2]], "int64"), f(2, 2, start=100)), """
        x[1:].scatter_(1, k, y)
        return x
    """),
    case("viewop_out_variant", "x", (f(2, 4),), """
        base = torch.zeros_like(x)
        v = base[:, 1:3]
        before = base + 3.0
        torch.add(x[:, 1:3], 1.0, out=v)
        base.add_(2.0)
        return base, v, before
    """),
    case("viewop_fill_diagonal", "x", (f(3, 4),), """
        x.fill_diagonal_(-2.0)
        return x
    """),
    case("viewop_tril_on_view", "x", (f(2, 3, 3),), """
        x[0].tril_()
        return x
    """),
    case("viewop_bitwise_int", "x", (i(4),), """
        x[1:].bitwise_or_(8)
        return x
    """),
    case("viewop_copy_non_blocking", "x, y", (f(4, 2), f(2, 2, start=100)), """
        x[1:3].copy_(y, non_blocking=True)
        return x
    """),
    case("viewop_fill_with_tensor", "x, v", (f(3, 2), t(9.0)), """
        x[1].fill_(v)
        return x
    """),
    case("viewop_functional_relu_in_place", "x", (f(2, 3, start=-2),), """
        torch.relu_(x[1])
        torch.nn.functional.relu(x[0], inplace=True)
        return x
    """),
    case("viewop_leaky_relu_in_place", "x", (f(2, 3, start=-2),), """
        torch.nn.functional.leaky_relu(x[0], 0.5, inplace=True)
        return x
    """),
    case("viewop_dropout_in_eval", "x", (f(2, 3),), """
        v = torch.nn.functional.dropout(x[1], 0.5, training=False, inplace=True)
        v.add_(1.0)
        return x
    """),
    case("viewop_normalised_by_its_sum", "x", (f(2, 2),), """
        x[0].div_(x.sum())
        return x
    """),
    case("viewop_masked_in_two_views", "x", (f(4, 4),), """
        x[:2].triu_()
        x[:, 2:].tril_()
        return x
    """),
    case("viewop_addmm_on_view", "x, a, b", (f(3, 2, 2), f(2, 3), f(3, 2)), """
        x[1].addmm_(a, b, beta=2.0, alpha=1.0)
        return x
    """),
    case("viewop_cumsum_along_columns", "x", (f(3, 2),), """
        x[:, 1].cumsum_(0)
        return x
    """),
    case("viewop_scatter_scalar_value", "x, k", (f(3, 3), t([[0], [2]], "int64")), """
        x[1:].scatter_(1, k, -1.0)
        return x
    """),
    case("viewop_scatter_reduce_multiply", "x, k", (f(2, 3), t([[0, 2]], "int64")), """
        x.scatter_(1, k, 5.0, reduce="multiply")
        return x
    """),
    case("viewop_index_put_on_transposed", "x, k, y", (f(2, 3), idx(2, 0), f(2, 2, start=100)), """
        v = x.t()
        v.index_put_([k], y)
        return x, v
    """),
    case("viewop_fill_diagonal_wrapped", "x", (f(7, 2),), """
        x.fill_diagonal_(0.0, wrap=True)
        return x
    """),
    case("viewop_bitwise_on_bool", "x, y", (mask(True, True, False, False), mask(True, False)), """
        x[1:3].bitwise_and_(y)
        return x
    """),
    case("viewop_result_is_self", "x", (f(2, 3),), """
        v = x[0]
        r = v.add_(1.0).mul_(2.0)
        v.sub_(3.0)
        return x, r
    """),
    case("viewop_squeezed_row", "x", (f(1, 3),), """
        x.squeeze(0).clamp_(max=2.0)
        return x
    """),
    case("viewop_renorm", "x", (f(2, 2),), """
        x.renorm_(2.0, 0, 1.0)
        return x
    """),
    case("viewop_nan_to_num", "x", (t([1.0, float("nan"), float("inf")]),), """
        x[1:].nan_to_num_(0.0, 9.0)
        return x
    """),
]
# fmt: on
