"""If and Loop with writes inside."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "cf_if_tensor_condition",
        "x",
        """
        y = x.clone()
        if bool(x.sum() > 5.0):
            y[1:].mul_(10.0)
        else:
            y[0] = -1.0
        return y
    """,
        lambda: (f(3),),
        other=lambda: (f(3, start=-5),),
    ),
    case(
        "cf_if_result_mutated_after",
        "x, flag: bool",
        """
        if flag:
            y = x + 5.0
        else:
            y = x + 2.0
        y.add_(4.0)
        return y
    """,
        lambda: (f(3), True),
        other=lambda: (f(3), False),
    ),
    case(
        "cf_if_alias_or_fresh",
        "x, flag: bool",
        """
        if flag:
            y = x
        else:
            y = torch.zeros([3])
        y.add_(2.0)
        return y
    """,
        lambda: (f(3), True),
        other=lambda: (f(3), False),
    ),
    case(
        "cf_if_selects_which_view",
        "x, flag: bool",
        """
        y = x.clone()
        if flag:
            v = y[0]
        else:
            v = y[1]
        v.fill_(9.0)
        return y
    """,
        lambda: (f(2, 3), True),
        other=lambda: (f(2, 3), False),
    ),
    case(
        "cf_if_nested",
        "x, p: bool, q: bool",
        """
        y = x.clone()
        if p:
            if q:
                y[0] = 1.0
            else:
                y[1] = 2.0
            y[2] = 3.0
        return y
    """,
        lambda: (f(3, start=10), True, False),
        other=lambda: (f(3, start=10), True, True),
    ),
    case(
        "cf_for_select_write",
        "x",
        """
        y = x.clone()
        for k in range(2):
            y[:, k] = 4.0
        return y
    """,
        lambda: (f(2, 3),),
    ),
    case(
        "cf_for_dynamic_trip_count",
        "c, n: int",
        """
        y = c.clone()
        for k in range(n):
            y[k] = y[k] + 1.0
        return y
    """,
        lambda: (f(4, 2), 3),
        other=lambda: (f(4, 2), 1),
    ),
    case(
        "cf_for_add_accumulate",
        "x",
        """
        a = torch.ones([3])
        for _ in range(4):
            a.add_(torch.ones([3]))
        return a + x
    """,
        lambda: (f(3),),
    ),
    case(
        "cf_for_alias_outside_loop",
        "x",
        """
        a = torch.ones([3])
        ref = a
        for _ in range(3):
            a += x
        ref += 1.0
        return a, ref
    """,
        lambda: (f(3),),
    ),
    case(
        "cf_for_base_written_view_read",
        "x",
        """
        base = x.clone()
        v = base[1:]
        s = torch.zeros([2])
        for _ in range(3):
            s = s + v
            base.add_(1.0)
        return base, v, s
    """,
        lambda: (f(3),),
    ),
    case(
        "cf_while_write",
        "x",
        """
        y = x.clone()
        k = 0
        while k < y.size(0) and bool(y[k] < 3.0):
            y[k] = y[k] * 10.0
            k += 1
        return y, k
    """,
        lambda: (f(4),),
        other=lambda: (f(4, start=0),),
    ),
    case(
        "cf_loop_rebinds_and_mutates",
        "x",
        """
        y = x
        for k in range(3):
            y = y + 1.0
            y[0] = float(k)
        return y
    """,
        lambda: (f(3),),
    ),
    case(
        "cf_loop_first_iteration_aliases_input",
        "x, n: int",
        """
        y = x
        for k in range(n):
            y.add_(1.0)
            y = y * 2.0
        return y
    """,
        lambda: (f(3), 2),
        other=lambda: (f(3), 0),
    ),
    case(
        "cf_loop_break",
        "x",
        """
        y = x.clone()
        for k in range(4):
            if k == 2:
                break
            y[k] = -1.0
        return y
    """,
        lambda: (f(4),),
    ),
    case(
        "cf_zero_trip_loop_write",
        "x, n: int",
        """
        y = x.clone()
        v = y[0]
        for k in range(n):
            v.fill_(float(k))
        return y, v
    """,
        lambda: (f(2, 2), 0),
        other=lambda: (f(2, 2), 3),
    ),
    case(
        "cf_write_in_called_method",
        "x",
        """
        y = x.clone()
        self.poke(y[1], 3.0)
        return y
    """,
        lambda: (f(2, 2),),
        methods="""
        def poke(self, t: Tensor, v: float):
            t.add_(v)
    """,
    ),
    case(
        "cf_iterate_tensor_rows",
        "x",
        """
        y = x.clone()
        for row in y:
            row.mul_(2.0)
        return y
    """,
        lambda: (f(3, 2),),
    ),
]
