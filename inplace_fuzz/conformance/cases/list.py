"""Lists, tuples and dicts of tensors that are written."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f

# fmt: off
CASES = [
    case("li_write_through_element", "x", (f(3, 2),), """
        base = x.clone()
        l = [base, base[:2]]
        l.append(base[2:])
        before = l[2] + 1.0
        base.add_(2.0)
        return l[0], l[1], l[2], before
    """),
    case("li_setitem_on_element", "x, y", (f(2), f(2, start=10)), """
        l = [x, y]
        l[1][0] = 50.0
        return torch.cat(l)
    """),
    case("li_same_tensor_twice", "x", (f(2),), """
        y = x + 1.0
        return torch.cat([y.add_(3.0), y])
    """),
    case("li_list_input_mutated", "l: List[Tensor]", ([f(2), f(2, start=10)],), """
        l[0].mul_(2.0)
        l[1][0] = 9.0
        return l[0] + l[1]
    """),
    case("li_append_in_loop_then_write", "x", (f(2),), """
        out: List[Tensor] = []
        for k in range(3):
            t = x * float(k)
            out.append(t)
        out[1].add_(100.0)
        return torch.stack(out)
    """,
         not_script="a write through a list element is lost in the optimised plan"),
    case("li_append_clone_each_iteration", "x", (f(2),), """
        buf = torch.zeros([2])
        out: List[Tensor] = []
        for k in range(3):
            buf.add_(x)
            out.append(buf.clone())
        return torch.stack(out)
    """),
    case("li_tuple_of_views", "x", (f(2, 2),), """
        y = x.clone()
        p = (y[0], y[1])
        p[0].add_(p[1])
        return y, p[0]
    """),
    case("li_dict_value_write", "x", (f(2, 2),), """
        y = x.clone()
        d = {"a": y[0], "b": y[1]}
        d["b"].zero_()
        return y
    """),
    case("li_replace_element", "x", (f(3),), """
        l = [x + 1.0, x + 2.0]
        first = l[0]
        l[0] = x * 10.0
        l[0][1] = 0.0
        first[2] = -1.0
        return l[0], l[1], first
    """),
    case("li_pop_and_write", "x", (f(2, 2),), """
        y = x.clone()
        l = [y[0], y[1]]
        last = l.pop()
        last.fill_(0.0)
        return y, len(l)
    """),
    case("li_insert_then_write_by_index", "x", (f(2),), """
        y = x + 1.0
        z = x + 2.0
        l = [y]
        l.insert(0, z)
        l[0].mul_(10.0)
        return y, z
    """),
    case("li_negative_index", "x, y", (f(2), f(2, start=10)), """
        l = [x, y]
        l[-1].zero_()
        return x + y
    """),
    case("li_index_from_outside", "x, k: int", (f(3, 2), 0), """
        l = [x[0], x[1], x[2]]
        l[k].fill_(0.0)
        return x
    """, other=(f(3, 2), 2)),
    case("li_comprehension_of_views", "x", (f(3, 2),), """
        rows = [x[k] for k in range(3)]
        rows[1].neg_()
        return torch.stack(rows)
    """),
    case("li_concatenated_lists", "x", (f(2, 2),), """
        l = [x[0]] + [x[1]]
        for v in l:
            v.add_(10.0)
        return x
    """),
    case("li_unpacked", "x", (f(3, 2),), """
        a, b, c = [x[0], x[1], x[2]]
        b.copy_(a)
        c.add_(b)
        return x
    """),
    case("li_nested_lists", "x, y", (f(2), f(2, start=10)), """
        l = [[x], [y, x]]
        l[1][0].add_(1.0)
        l[1][1].mul_(2.0)
        return l[0][0] + l[1][0]
    """),
    case("li_dict_replaced_value", "x", (f(2),), """
        d = {"a": x, "b": x * 2.0}
        d["b"] = d["a"]
        d["b"][0] = 9.0
        return d["a"] + d["b"]
    """),
    case("li_dict_iterated", "x", (f(2, 2),), """
        y = x.clone()
        d = {"a": y[0], "b": y[1]}
        for v in d.values():
            v.mul_(10.0)
        return y
    """),
    case("li_dict_returned_after_write", "x", (f(3),), """
        y = x + 0.0
        d = {"y": y, "v": y[1:]}
        y[2] = 100.0
        return d
    """),
    case("li_named_tuple", "x", (f(2, 2),), """
        y = x.clone()
        p = Pair(y[0], y[1])
        p.left.add_(p.right)
        return y, p.left
    """, top="""
        class Pair(NamedTuple):
            left: Tensor
            right: Tensor
    """),
    case("li_split_and_written_in_loop", "x", (f(6),), """
        for k, part in enumerate(x.split(2)):
            part.mul_(float(k))
        return x
    """),
    case("li_append_view_then_write_base", "x", (f(3),), """
        base = x.clone()
        l = [base[0:1]]
        l.append(base[1:])
        base.mul_(10.0)
        return torch.cat(l)
    """),
    case("li_tuple_swapped", "x", (f(2, 2),), """
        a, b = x[0], x[1]
        a, b = b, a
        a.fill_(0.0)
        return x, b
    """),
    case("li_append_views_in_loop_of_unknown_length", "x, n: int", (f(4), 3), """
        out: List[Tensor] = []
        for k in range(n):
            x[k] = x[k] * 10.0
            out.append(x[k] + 0.0)
        return torch.stack(out)
    """, other=(f(4), 2)),
    case("li_same_buffer_appended_each_time", "x", (f(2),), """
        buf = torch.zeros([2])
        out: List[Tensor] = []
        for _ in range(3):
            buf.add_(x)
            out.append(buf)
        return torch.stack(out)
    """),
    case("li_of_lists_from_unbind", "x", (f(2, 3),), """
        p = x.unbind(0)
        q = [v.unbind(0) for v in p]
        q[1][2].fill_(0.0)
        return x
    """),
    case("li_reversed_in_place", "x, y", (f(2), f(2, start=10)), """
        l = [x, y]
        l.reverse()
        l[0].add_(100.0)
        return l[0] * 1.0, l[1] * 1.0
    """),
    case("li_extend_and_clear", "x, y", (f(2), f(2, start=10)), """
        l: List[Tensor] = []
        l.extend([x, y])
        m = l[1]
        l.clear()
        m.neg_()
        return y * 1.0
    """),
    case("li_slice_of_list", "x", (f(4, 2),), """
        rows = x.unbind(0)
        some = rows[1:3]
        some[0].fill_(0.0)
        some[1].add_(100.0)
        return x
    """),
]
# fmt: on
