"""Optional tensors."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f

# fmt: off
CASES = [
    case("opt_given", "x, y: Optional[Tensor]", (f(3), f(3, start=10)), """
        if y is not None:
            x.add_(y)
        else:
            x.neg_()
        return x
    """, other=(f(3), None)),
    case("opt_default_made_inside", "x, y: Optional[Tensor] = None", (f(3),), """
        if y is None:
            y = torch.zeros([3])
        y[0] = x[1]
        return y
    """),
    case("opt_written_when_given", "x, y: Optional[Tensor]", (f(2), f(2, start=10)), """
        if y is not None:
            y[0] = x[1]
            x[1] = y[1]
        return x
    """, other=(f(2), None)),
    case("opt_local_set_in_branch", "x, flag: bool", (f(3), True), """
        v: Optional[Tensor] = None
        if flag:
            v = x[1:]
        if v is not None:
            v.zero_()
        return x
    """, other=(f(3), False)),
    case("opt_in_a_list", "x", (f(3),), """
        l: List[Optional[Tensor]] = [None, x]
        last = l[1]
        if last is not None:
            last.add_(1.0)
        return x
    """),
    case("opt_result_of_a_function", "x, k: int", (f(3), 1), """
        v = pick(x, k)
        if v is not None:
            v.fill_(0.0)
        return x
    """, other=(f(3), 5), top="""
        def pick(x: Tensor, k: int) -> Optional[Tensor]:
            if k < x.size(0):
                return x[k]
            return None
    """),
    case("opt_out_none_when_not_written", "x, flag: bool", (f(2), True), """
        r: Optional[Tensor] = None
        if flag:
            x.mul_(2.0)
            r = x + 1.0
        return r
    """, other=(f(2), False)),
]
# fmt: on
