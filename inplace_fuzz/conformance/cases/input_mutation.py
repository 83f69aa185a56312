"""What the caller sees of its own tensors."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, laid, t, transposed

# fmt: off
CASES = [
    case("inp_add", "x", (f(3),), """
        x.add_(1.0)
        return x * 2.0
    """),
    case("inp_only_effect_no_output_of_it", "x, y", (f(3, 2), f(2, start=100)), """
        x[1] = y
        return y + 1.0
    """),
    case("inp_second_argument", "x, y", (f(3, 2), f(2, 2, start=100)), """
        y[0] = x[1]
        return y
    """),
    case("inp_two_arguments", "x, y", (f(3, 2), f(3, 2, start=100)), """
        x[0] = 1.0
        y[1] = x[0]
        return x, y
    """),
    case("inp_through_transposed_view", "x, y", (f(2, 3), f(2, start=100)), """
        x.t()[1] = y
        return y * 1.0
    """),
    case("inp_untouched_argument_not_written", "x, y", (f(2, 2), f(2, 2, start=100)), """
        z = x.clone()
        z[0] = y[0]
        return z
    """),
    case("inp_tuple_of_tensors", "p: Tuple[Tensor, Tensor]", ((f(2), f(2, start=10)),), """
        p[0].add_(1.0)
        p[1].copy_(p[0])
        return p[0] + p[1]
    """),
    case("inp_dict_of_tensors", "d: Dict[str, Tensor]", ({"a": f(2), "b": f(2, start=10)},), """
        d["a"].mul_(2.0)
        d["b"][0] = d["a"][1]
        return d["a"] + d["b"]
    """),
    case("inp_copied_from_another", "x, y", (f(2, 2), f(2, 2, start=100)), """
        x.copy_(y)
        y.zero_()
        return x
    """),
    case("inp_swapped", "x, y", (f(3), f(3, start=100)), """
        keep = x.clone()
        x.copy_(y)
        y.copy_(keep)
        return x + y
    """),
    case("inp_written_and_returned_as_view", "x", (f(2, 3),), """
        x.add_(1.0)
        return x.t(), x[0]
    """),
    case("inp_int_counter", "n", (t(3, "int64"),), """
        n.add_(1)
        return n * 2
    """),
    case("inp_through_detach", "x", (f(3),), """
        x.detach().mul_(2.0)
        return x + 1.0
    """),
    case("inp_non_contiguous", "x", (transposed(f(2, 3)),), """
        x[0] = -1.0
        x.add_(1.0)
        return x
    """),
    case("inp_part_of_a_storage", "x", (laid(f(8), (2, 2), (3, 1), 1),), """
        x.mul_(10.0)
        x[1, 0] = -1.0
        return x
    """),
    case("inp_nothing_returned_but_none", "x", (f(3),), """
        x.zero_()
        return None
    """),
    case("inp_restored_before_return", "x", (f(3),), """
        keep = x.clone()
        x.zero_()
        s = x.sum()
        x.copy_(keep)
        return s
    """),
    case("inp_list_iterated", "l: List[Tensor]", ([f(2), f(2, start=10), f(2, start=20)],), """
        for v in l:
            v.mul_(2.0)
        return l[2]
    """),
]
# fmt: on
