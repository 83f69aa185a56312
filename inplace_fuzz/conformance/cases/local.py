"""Tensors made in forward, then written."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f, idx, t

# fmt: off
# name, a matrix of three rows and two columns that forward makes
LOCALS = [
    ("zeros", "torch.zeros([3, 2])"),
    ("ones", "torch.ones([3, 2])"),
    ("full", "torch.full([3, 2], 4.0)"),
    ("empty_fill", "torch.empty([3, 2]).fill_(2.0)"),
    ("new_zeros", "x.new_zeros([3, 2])"),
    ("new_ones", "x.new_ones([3, 2])"),
    ("zeros_like", "torch.zeros_like(x)"),
    ("ones_like", "torch.ones_like(x)"),
    ("full_like", "torch.full_like(x, 6.0)"),
    ("clone", "x.clone()"),
    ("arange", "torch.arange(6, dtype=torch.float32).view(3, 2)"),
    ("literal", "torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])"),
    ("computed", "x * 2.0"),
    ("cat", "torch.cat([x[:1], x[1:]])"),
    ("eye", "torch.eye(3, 2)"),
    ("stack", "torch.stack([x[0], x[1], x[2]])"),
    ("relu", "torch.relu(x)"),
    ("linspace", "torch.linspace(0.0, 5.0, 6).view(3, 2)"),
    ("new_full", "x.new_full([3, 2], 3.0)"),
    ("new_empty_zero", "x.new_empty([3, 2]).zero_()"),
    ("empty_like_copied", "torch.empty_like(x).copy_(x)"),
    ("where", "torch.where(x > 2.0, x, -x)"),
    ("repeat", "x[:1].repeat(3, 1)"),
    ("expanded_clone", "x[:1].expand(3, 2).clone()"),
    ("tril", "torch.tril(x)"),
    ("flip", "x.flip(0)"),
    ("roll", "torch.roll(x, 1, 0)"),
    ("pad", "torch.nn.functional.pad(x[:2], [0, 0, 0, 1])"),
    ("gathered", "x[torch.tensor([2, 0, 1])]"),
    ("sorted", "torch.sort(x, 0, descending=True)[0]"),
    ("matmul", "torch.mm(x, torch.eye(2))"),
    ("transposed_clone", "x.t().clone().t()"),
    ("cumulative", "x.cumsum(0)"),
    ("scalar_expanded", "torch.tensor(2.0).expand(3, 2).contiguous()"),
    ("slice_scatter", "torch.slice_scatter(x, torch.zeros([1, 2]), 0, 1, 2)"),
    ("double_and_back", "x.double().float()"),
]

CASES = [
    *[case(f"local_{name}", "x", (f(3, 2),), f"""
        t = {made}
        t[1] = x[0]
        t[:, 1] += 10.0
        return t
    """) for name, made in LOCALS],
    case("local_empty_all_parts_written", "x", (f(3),), """
        t = torch.empty([2, 3])
        t[0] = x
        t[1] = x * 2.0
        return t
    """),
    case("local_empty_copy_whole", "x", (f(2, 3),), """
        t = torch.empty(x.size())
        t.copy_(x)
        return t
    """),
    case("local_zeros_copy_broadcast_return_value", "v", (f(4),), """
        a = torch.zeros([2, 4])
        c = a.copy_(v)
        return c
    """),
    case("local_constant_reused_across_calls", "x", (f(3, start=10),), """
        t = torch.tensor([1.0, 2.0, 3.0])
        t.add_(x)
        return t
    """),
    case("local_shape_from_input", "x, k", (f(1, 5, 2), idx(3, 0)), """
        out = torch.zeros([x.size(0), 5, x.size(2)])
        out[:, k] = x[:, k]
        return out
    """),
    case("local_masked_select_written", "x", (f(4),), """
        s = x[x > 2.0]
        s.neg_()
        return x, s.sum()
    """, other=(f(4, start=-1),)),
    case("local_scalar_literal_changes", "x", (f(3),), """
        s = torch.tensor(0.0)
        for k in range(3):
            s += x[k]
        return s
    """),
    case("local_int_zeros_filled_from_loop", "x", (f(4),), """
        n = torch.zeros([4], dtype=torch.int64)
        for k in range(4):
            n[k] = k * k
        return x + n
    """),
    case("local_one_hot_rows", "k", (idx(2, 0, 1),), """
        h = torch.zeros([3, 3])
        h.scatter_(1, k.unsqueeze(1), 1.0)
        return h
    """, other=(idx(0, 0, 2),)),
    case("local_constant_list_of_literals", "x", (f(2),), """
        l = [torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])]
        l[0].add_(x)
        l[1].sub_(l[0])
        return l[0], l[1]
    """),
    case("local_size_one_grows_by_cat", "x", (f(2),), """
        t = x[:1].clone()
        t[0] = 9.0
        t = torch.cat([t, x])
        t[1] = 8.0
        return t
    """),
    case("local_max_values_and_positions", "x", (t([[1.0, 5.0], [7.0, 2.0]]),), """
        v, k = x.max(1)
        v[0] = 0.0
        k.add_(10)
        x.zero_()
        return v, k
    """, other=(t([[6.0, 5.0], [1.0, 2.0]]),)),
]
# fmt: on
