"""If and Loop with writes inside."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, t

# fmt: off
CASES = [
    case("cf_if_tensor_condition", "x", (f(3),), """
        y = x.clone()
        if bool(x.sum() > 5.0):
            y[1:].mul_(10.0)
        else:
            y[0] = -1.0
        return y
    """, other=(f(3, start=-5),)),
    case("cf_if_result_mutated_after", "x, flag: bool", (f(3), True), """
        if flag:
            y = x + 5.0
        else:
            y = x + 2.0
        y.add_(4.0)
        return y
    """, other=(f(3), False)),
    case("cf_if_alias_or_fresh", "x, flag: bool", (f(3), True), """
        if flag:
            y = x
        else:
            y = torch.zeros([3])
        y.add_(2.0)
        return y
    """, other=(f(3), False)),
    case("cf_if_selects_which_view", "x, flag: bool", (f(2, 3), True), """
        y = x.clone()
        if flag:
            v = y[0]
        else:
            v = y[1]
        v.fill_(9.0)
        return y
    """, other=(f(2, 3), False)),
    case("cf_if_nested", "x, p: bool, q: bool", (f(3, start=10), True, False), """
        y = x.clone()
        if p:
            if q:
                y[0] = 1.0
            else:
                y[1] = 2.0
            y[2] = 3.0
        return y
    """, other=(f(3, start=10), True, True)),
    case("cf_for_select_write", "x", (f(2, 3),), """
        y = x.clone()
        for k in range(2):
            y[:, k] = 4.0
        return y
    """),
    case("cf_for_dynamic_trip_count", "c, n: int", (f(4, 2), 3), """
        y = c.clone()
        for k in range(n):
            y[k] = y[k] + 1.0
        return y
    """, other=(f(4, 2), 1)),
    case("cf_for_add_accumulate", "x", (f(3),), """
        a = torch.ones([3])
        for _ in range(4):
            a.add_(torch.ones([3]))
        return a + x
    """),
    case("cf_for_alias_outside_loop", "x", (f(3),), """
        a = torch.ones([3])
        ref = a
        for _ in range(3):
            a += x
        ref += 1.0
        return a, ref
    """),
    case("cf_for_base_written_view_read", "x", (f(3),), """
        base = x.clone()
        v = base[1:]
        s = torch.zeros([2])
        for _ in range(3):
            s = s + v
            base.add_(1.0)
        return base, v, s
    """),
    case("cf_while_write", "x", (f(4),), """
        y = x.clone()
        k = 0
        while k < y.size(0) and bool(y[k] < 3.0):
            y[k] = y[k] * 10.0
            k += 1
        return y, k
    """, other=(f(4, start=0),)),
    case("cf_loop_rebinds_and_mutates", "x", (f(3),), """
        y = x
        for k in range(3):
            y = y + 1.0
            y[0] = float(k)
        return y
    """),
    case("cf_loop_first_iteration_aliases_input", "x, n: int", (f(3), 2), """
        y = x
        for k in range(n):
            y.add_(1.0)
            y = y * 2.0
        return y
    """, other=(f(3), 0)),
    case("cf_loop_break", "x", (f(4),), """
        y = x.clone()
        for k in range(4):
            if k == 2:
                break
            y[k] = -1.0
        return y
    """),
    case("cf_zero_trip_loop_write", "x, n: int", (f(2, 2), 0), """
        y = x.clone()
        v = y[0]
        for k in range(n):
            v.fill_(float(k))
        return y, v
    """, other=(f(2, 2), 3)),
    case("cf_write_in_called_method", "x", (f(2, 2),), """
        y = x.clone()
        self.poke(y[1], 3.0)
        return y
    """, methods="""
        def poke(self, t: Tensor, v: float):
            t.add_(v)
    """),
    case("cf_iterate_tensor_rows", "x", (f(3, 2),), """
        y = x.clone()
        for row in y:
            row.mul_(2.0)
        return y
    """),
    case("cf_early_return", "x, flag: bool", (f(3), True), """
        y = x.clone()
        y[0] = 10.0
        if flag:
            return y
        y[1] = 20.0
        return y
    """, other=(f(3), False)),
    case("cf_early_return_on_content", "x", (f(3),), """
        x.add_(1.0)
        if bool(x[0] > 5.0):
            x.zero_()
            return x * 1.0
        x.mul_(2.0)
        return x + 1.0
    """, other=(f(3, start=10),)),
    case("cf_return_inside_loop", "x, n: int", (f(4), 2), """
        for k in range(4):
            x[k] = 0.0
            if k == n:
                return x * 1.0
        return x + 100.0
    """, other=(f(4), 7)),
    case("cf_continue", "x, skip: int", (f(4), 1), """
        y = x.clone()
        for k in range(4):
            if k == skip:
                continue
            y[k] = y[k] * 10.0
        return y
    """, other=(f(4), 3)),
    case("cf_break_on_content", "x", (f(4),), """
        y = x.clone()
        for k in range(4):
            if bool(y[k] > 2.0):
                break
            y[k] = -1.0
        return y
    """, other=(f(4, start=-5),)),
    case("cf_break_after_write", "x, n: int", (f(4), 1), """
        k = 0
        while True:
            x[k] = -1.0
            if k >= n:
                break
            k += 1
        return x
    """, other=(f(4), 3)),
    case("cf_while_on_tensor", "x", (t([1.0, 20.0]),), """
        while bool(x.sum() < 100.0):
            x.mul_(2.0)
        return x
    """, other=(t([200.0, 1.0]),)),
    case("cf_while_counts_in_a_tensor", "x, n", (f(3), t(3, "int64")), """
        while bool(n > 0):
            x.add_(1.0)
            n.sub_(1)
        return x, n
    """, other=(f(3), t(0, "int64"))),
    case("cf_elif_chain", "x, k: int", (f(3), 0), """
        y = x.clone()
        if k == 0:
            y[0] = 10.0
        elif k == 1:
            y[1].mul_(20.0)
        else:
            y = y * 2.0
            y[2] = 30.0
        y.add_(1.0)
        return y
    """, other=(f(3), 2)),
    case("cf_write_input_in_one_branch", "x, flag: bool", (f(3), True), """
        if flag:
            x[0] = 100.0
        return x * 2.0
    """, other=(f(3), False)),
    case("cf_view_taken_outside_written_inside", "x", (f(3, 2),), """
        v = x[1]
        if bool(v.sum() > 5.0):
            v.fill_(0.0)
        else:
            x[0] = v
        return x, v
    """, other=(f(3, 2, start=-10),)),
    case("cf_view_taken_inside_base_written_after", "x, flag: bool", (f(2, 3), True), """
        v = x[0]
        if flag:
            v = x.t()[1]
        x.mul_(10.0)
        return v * 1.0
    """, other=(f(2, 3), False)),
    case("cf_both_inputs_one_written", "x, y, flag: bool", (f(3), f(3, start=10), True), """
        t = x if flag else y
        t.add_(100.0)
        return x + y
    """, other=(f(3), f(3, start=10), False)),
    case("cf_choice_of_choices", "x, y, p: bool, q: bool", (f(2), f(2, start=10), True, False), """
        a = x if p else y
        b = a if q else x
        b.mul_(2.0)
        a.add_(1.0)
        return a * 1.0, b * 1.0
    """, other=(f(2), f(2, start=10), False, True)),
    case("cf_nested_loops", "x, n: int", (f(3, 3), 2), """
        for r in range(n):
            for c in range(r + 1):
                x[r, c] = x[r, c] * -1.0
        return x
    """, other=(f(3, 3), 3)),
    case("cf_loop_in_branch", "x, n: int", (f(4), 3), """
        if n > 2:
            for k in range(n):
                x[k] += 10.0
        else:
            x.neg_()
        return x
    """, other=(f(4), 2)),
    case("cf_branch_in_loop", "x", (f(4),), """
        for k in range(4):
            if bool(x[k] > 2.0):
                x[k] = 0.0
            else:
                x[k:] += 1.0
        return x
    """, other=(f(4, start=3),)),
    case("cf_loop_swaps_two_tensors", "x, y, n: int", (f(2), f(2, start=10), 3), """
        a, b = x, y
        for _ in range(n):
            a.add_(1.0)
            a, b = b, a
        return a * 1.0, b * 1.0
    """, other=(f(2), f(2, start=10), 2)),
    case("cf_loop_view_advances", "x, n: int", (f(5), 3), """
        v = x
        for _ in range(n):
            v = v[1:]
            v[0] = 0.0
        return x
    """, other=(f(5), 1)),
    case("cf_loop_reads_what_the_last_iteration_wrote", "x, n: int", (f(4), 4), """
        s = torch.zeros([])
        for k in range(n):
            s = s + x.sum()
            x[k] = 0.0
        return s, x
    """, other=(f(4), 0)),
    case("cf_loop_over_stepped_range", "x, a: int, b: int, s: int", (f(6), 1, 6, 2), """
        for k in range(a, b, s):
            x[k] = -x[k]
        return x
    """, other=(f(6), 5, -1, -1)),
    case("cf_loop_writes_outer_view_and_base", "x, n: int", (f(3, 2), 2), """
        v = x[1:]
        for k in range(n):
            v[k] = 0.0
            x[0] += 1.0
        return x, v
    """, other=(f(3, 2), 1)),
    case("cf_loop_local_remade_each_time", "x, n: int", (f(3), 2), """
        y = torch.zeros([3])
        for k in range(n):
            y = torch.ones([3])
            y[k] = 5.0
            y.add_(x)
        return y
    """, other=(f(3), 0)),
    case("cf_accumulates_in_a_scalar_tensor", "x", (f(4),), """
        s = torch.zeros([])
        for k in range(4):
            s += x[k]
            x[k] = s
        return x, s
    """),
    case("cf_enumerate_and_zip", "x, y", (f(3), f(3, start=10)), """
        for k, (a, b) in enumerate(zip(x.unbind(0), y.unbind(0))):
            a.add_(b)
            y[k] = float(k)
        return x, y
    """),
    case("cf_iterates_tensors_of_a_list", "x, y", (f(2), f(2, start=10)), """
        for v in [x, y, x]:
            v.mul_(2.0)
        return x + y
    """),
    case("cf_fixed_point_of_a_mask", "x", (f(4),), """
        m = x > 2.0
        while bool(m.any()):
            x[m] = x[m] - 2.0
            m = x > 2.0
        return x
    """, other=(f(4, start=5),)),
    case("cf_condition_written_by_the_loop", "go, x", (t(True, "bool"), f(2)), """
        k = 0
        while bool(go):
            x.add_(1.0)
            k += 1
            if k > 2:
                go.fill_(False)
        return x, go
    """, other=(t(False, "bool"), f(2))),
    case("cf_branches_give_views_of_two_bases", "x, y, flag: bool", (f(3), f(2, 3, start=10), True), """
        v = x[1:] if flag else y[1, :2]
        v.fill_(0.0)
        x[2] = 7.0
        return v * 1.0, y
    """, other=(f(3), f(2, 3, start=10), False)),
    case("cf_function_with_branch", "x, k: int", (f(3), 1), """
        return change(x, k) + x
    """, other=(f(3), -1), top="""
        def change(v: Tensor, k: int) -> Tensor:
            if k < 0:
                return v
            v[k] = 100.0
            return v * 2.0
    """),
    case("cf_called_twice_with_other_views", "x", (f(2, 3),), """
        self.poke(x[0], 1.0)
        self.poke(x[:, 2], 100.0)
        return x
    """, methods="""
        def poke(self, v: Tensor, by: float):
            if bool(v.sum() > 5.0):
                v.add_(by)
            else:
                v.neg_()
    """, other=(f(2, 3, start=-9),)),
    case("cf_loop_carried_int_and_tensor", "x, n: int", (f(6), 3), """
        a = 0
        b = 1
        for _ in range(n):
            x[a] = float(b)
            a, b = b, a + b
        return x, a
    """, other=(f(6), 4)),
    case("cf_write_before_and_after_a_branch", "x, flag: bool", (f(3), True), """
        y = x.clone()
        y[0] = 10.0
        if flag:
            y[1] = y[0] * 2.0
        y[2] = y[1] * 2.0
        return y
    """, other=(f(3), False)),
    case("cf_rebound_in_one_branch_then_written", "x, flag: bool", (f(3), False), """
        y = x
        if flag:
            y = x * 2.0
        y[0] = 50.0
        return y * 1.0
    """, other=(f(3), True)),
    case("cf_loop_until_index_found", "x", (t([4.0, 2.0, 9.0]),), """
        k = 0
        while k < x.size(0) and bool(x[k] != 9.0):
            x[k] = 0.0
            k += 1
        if k < x.size(0):
            x[k] = -9.0
        return x, k
    """, other=(t([4.0, 2.0, 3.0]),)),
    case("cf_bubble_sort", "x", (t([3.0, 1.0, 2.0]),), """
        for a in range(2):
            for k in range(2 - a):
                if bool(x[k] > x[k + 1]):
                    keep = x[k].clone()
                    x[k] = x[k + 1]
                    x[k + 1] = keep
        return x
    """, other=(t([1.0, 3.0, 2.0]),)),
]
# fmt: on
