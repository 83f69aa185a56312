"""Lists, tuples and dicts of tensors that are written."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "li_write_through_element",
        "x",
        """
        base = x.clone()
        l = [base, base[:2]]
        l.append(base[2:])
        before = l[2] + 1.0
        base.add_(2.0)
        return l[0], l[1], l[2], before
    """,
        lambda: (f(3, 2),),
    ),
    case(
        "li_setitem_on_element",
        "x, y",
        """
        l = [x, y]
        l[1][0] = 50.0
        return torch.cat(l)
    """,
        lambda: (f(2), f(2, start=10)),
    ),
    case(
        "li_same_tensor_twice",
        "x",
        """
        y = x + 1.0
        return torch.cat([y.add_(3.0), y])
    """,
        lambda: (f(2),),
    ),
    case(
        "li_list_input_mutated",
        "l: List[Tensor]",
        """
        l[0].mul_(2.0)
        l[1][0] = 9.0
        return l[0] + l[1]
    """,
        lambda: ([f(2), f(2, start=10)],),
    ),
    case(
        "li_append_in_loop_then_write",
        "x",
        """
        out: List[Tensor] = []
        for k in range(3):
            t = x * float(k)
            out.append(t)
        out[1].add_(100.0)
        return torch.stack(out)
    """,
        lambda: (f(2),),
    ),
    case(
        "li_append_clone_each_iteration",
        "x",
        """
        buf = torch.zeros([2])
        out: List[Tensor] = []
        for k in range(3):
            buf.add_(x)
            out.append(buf.clone())
        return torch.stack(out)
    """,
        lambda: (f(2),),
    ),
    case(
        "li_tuple_of_views",
        "x",
        """
        y = x.clone()
        p = (y[0], y[1])
        p[0].add_(p[1])
        return y, p[0]
    """,
        lambda: (f(2, 2),),
    ),
    case(
        "li_dict_value_write",
        "x",
        """
        y = x.clone()
        d = {"a": y[0], "b": y[1]}
        d["b"].zero_()
        return y
    """,
        lambda: (f(2, 2),),
    ),
]
