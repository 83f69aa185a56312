"""Buffers."""

from __future__ import annotations

from tests.rewrite.conformance.case import case, f

CASES = [
    case(
        "st_buffer_add",
        "x",
        """
        self.buf.add_(x)
        return self.buf * 2.0
    """,
        lambda: (f(3),),
        init="self.register_buffer('buf', torch.ones(3))",
    ),
    case(
        "st_counter",
        "x",
        """
        self.n += 1
        return x * self.n
    """,
        lambda: (f(3),),
        init="self.register_buffer('n', torch.tensor(1))",
    ),
    case(
        "st_buffer_view_written",
        "x",
        """
        v = self.buf.view(-1)
        v[2] = x.sum()
        return self.buf * 1.0
    """,
        lambda: (f(2),),
        init="self.register_buffer('buf', torch.zeros(2, 2))",
    ),
    case(
        "st_rebind_buffer",
        "x",
        """
        self.buf = torch.arange(3, dtype=torch.float32)
        self.buf += x
        return self.buf * 1.0
    """,
        lambda: (f(3),),
        init="self.register_buffer('buf', torch.zeros(3))",
    ),
    case(
        "st_rebind_in_loop",
        "x",
        """
        self.buf = torch.ones([3])
        for k in range(4):
            if k == 2:
                for j in range(2):
                    self.buf += x
        return self.buf + x
    """,
        lambda: (f(3),),
        init="self.register_buffer('buf', torch.zeros(3))",
    ),
    case(
        "st_input_written_from_buffer",
        "x",
        """
        x[0] = self.buf
        self.buf.mul_(2.0)
        return x + self.buf
    """,
        lambda: (f(2, 2),),
        init="self.register_buffer('buf', torch.tensor([5.0, 6.0]))",
    ),
]
