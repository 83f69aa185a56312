"""Tensors made in forward, then written."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f, idx

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
]

CASES = [
    *[
        case(
            f"local_{nm}",
            "x",
            f"""
                t = {expr}
                t[1] = x[0]
                t[:, 1] += 10.0
                return t
            """,
            lambda: (f(3, 2),),
        )
        for nm, expr in LOCALS
    ],
    case(
        "local_empty_all_parts_written",
        "x",
        """
        t = torch.empty([2, 3])
        t[0] = x
        t[1] = x * 2.0
        return t
    """,
        lambda: (f(3),),
    ),
    case(
        "local_empty_copy_whole",
        "x",
        """
        t = torch.empty(x.size())
        t.copy_(x)
        return t
    """,
        lambda: (f(2, 3),),
    ),
    case(
        "local_zeros_copy_broadcast_return_value",
        "v",
        """
        a = torch.zeros([2, 4])
        c = a.copy_(v)
        return c
    """,
        lambda: (f(4),),
    ),
    case(
        "local_constant_reused_across_calls",
        "x",
        """
        t = torch.tensor([1.0, 2.0, 3.0])
        t.add_(x)
        return t
    """,
        lambda: (f(3, start=10),),
    ),
    case(
        "local_shape_from_input",
        "x, k",
        """
        out = torch.zeros([x.size(0), 5, x.size(2)])
        out[:, k] = x[:, k]
        return out
    """,
        lambda: (f(1, 5, 2), idx(3, 0)),
    ),
]
