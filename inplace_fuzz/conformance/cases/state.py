"""Buffers."""

from __future__ import annotations

from inplace_fuzz.conformance.case import case, f

# fmt: off
CASES = [
    case("st_buffer_add", "x", (f(3),), """
        self.buf.add_(x)
        return self.buf * 2.0
    """, init="self.register_buffer('buf', torch.ones(3))"),
    case("st_counter", "x", (f(3),), """
        self.n += 1
        return x * self.n
    """, init="self.register_buffer('n', torch.tensor(1))"),
    case("st_buffer_view_written", "x", (f(2),), """
        v = self.buf.view(-1)
        v[2] = x.sum()
        return self.buf * 1.0
    """, init="self.register_buffer('buf', torch.zeros(2, 2))"),
    case("st_rebind_buffer", "x", (f(3),), """
        self.buf = torch.arange(3, dtype=torch.float32)
        self.buf += x
        return self.buf * 1.0
    """, init="self.register_buffer('buf', torch.zeros(3))"),
    case("st_rebind_in_loop", "x", (f(3),), """
        self.buf = torch.ones([3])
        for k in range(4):
            if k == 2:
                for j in range(2):
                    self.buf += x
        return self.buf + x
    """, init="self.register_buffer('buf', torch.zeros(3))"),
    case("st_input_written_from_buffer", "x", (f(2, 2),), """
        x[0] = self.buf
        self.buf.mul_(2.0)
        return x + self.buf
    """, init="self.register_buffer('buf', torch.tensor([5.0, 6.0]))"),
    case("st_submodule_buffer", "x", (f(2),), """
        self.inner(x)
        return self.inner.total * 1.0
    """, init="self.inner = Inner()", top="""
        class Inner(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer('total', torch.zeros(2))

            def forward(self, x):
                self.total.add_(x)
                x.zero_()
    """),
    case("st_parameter_under_no_grad", "x", (f(2),), """
        with torch.no_grad():
            self.w.add_(x)
        return self.w.detach() * 2.0
    """, init="self.w = torch.nn.Parameter(torch.ones(2), requires_grad=False)"),
    case("st_parameter_row", "x", (f(2),), """
        self.w[1] = x
        return self.w * 1.0
    """, init="self.w = torch.nn.Parameter(torch.ones(2, 2), requires_grad=False)"),
    case("st_in_place_relu_module", "x", (f(3, start=-2),), """
        return self.act(x) + x
    """, init="self.act = torch.nn.ReLU(inplace=True)"),
    case("st_sequential_of_in_place_modules", "x", (f(4, start=-2),), """
        return self.net(x), x
    """, init="""
        self.net = torch.nn.Sequential(torch.nn.ReLU(inplace=True), torch.nn.Hardtanh(0.0, 1.0, inplace=True))
    """),
    case("st_buffer_in_one_branch", "x, flag: bool", (f(2), True), """
        if flag:
            self.buf.add_(x)
        return self.buf * 1.0
    """, other=(f(2), False), init="self.register_buffer('buf', torch.ones(2))"),
    case("st_buffer_written_on_content", "x", (f(2),), """
        if bool(x.sum() > 10.0):
            self.high.copy_(x)
        else:
            self.low.copy_(x)
        return self.high - self.low
    """, other=(f(2, start=10),), init="""
        self.register_buffer('high', torch.zeros(2))
        self.register_buffer('low', torch.zeros(2))
    """),
    case("st_buffer_reset_then_filled", "x", (f(3),), """
        self.buf.zero_()
        for k in range(3):
            self.buf[k] = x[2 - k]
        return self.buf + 0.0
    """, init="self.register_buffer('buf', torch.ones(3))"),
    case("st_buffer_itself_returned", "x", (f(3),), """
        self.buf.add_(x)
        return self.buf
    """, init="self.register_buffer('buf', torch.ones(3))"),
    case("st_view_of_buffer_returned", "x", (f(3),), """
        self.buf[1:].mul_(2.0)
        return self.buf[1:], x
    """, init="self.register_buffer('buf', torch.ones(3))"),
    case("st_ring_buffer", "x", (f(2),), """
        self.ring[self.at] = x
        self.at.add_(1)
        self.at.remainder_(3)
        return self.ring * 1.0
    """, init="""
        self.register_buffer('ring', torch.zeros(3, 2))
        self.register_buffer('at', torch.tensor(0))
    """),
    case("st_cache_at_position", "x, at: int", (f(1, 2, 3), 1), """
        self.cache[:, at : at + 2] = x
        return self.cache[:, : at + 2] * 1.0
    """, other=(f(1, 2, 3, start=50), 3), init="self.register_buffer('cache', torch.zeros(1, 5, 3))"),
    case("st_two_buffers_moved_between", "x", (f(2),), """
        self.a.copy_(self.b)
        self.b.copy_(x)
        return self.a + self.b
    """, init="""
        self.register_buffer('a', torch.zeros(2))
        self.register_buffer('b', torch.ones(2))
    """),
    case("st_one_buffer_two_names", "x", (f(2),), """
        self.a.add_(x)
        self.b.mul_(2.0)
        return self.a - 1.0
    """, init="""
        self.register_buffer('a', torch.ones(2))
        self.b = self.a
    """),
    case("st_running_mean", "x", (f(2, 3),), """
        self.mean.mul_(0.5).add_(x.mean(0), alpha=0.5)
        self.count += 1
        return x - self.mean
    """, init="""
        self.register_buffer('mean', torch.zeros(3))
        self.register_buffer('count', torch.tensor(0))
    """),
    case("st_batch_norm_in_eval", "x", (f(2, 2),), """
        y = self.bn(x)
        y[0] = 0.0
        return y
    """, init="self.bn = torch.nn.BatchNorm1d(2)"),
    case("st_buffer_rebound_to_a_view", "x", (f(2, 2),), """
        y = x * 1.0
        self.buf = y[0]
        self.buf.add_(10.0)
        return y
    """, init="self.register_buffer('buf', torch.zeros(2))"),
    case("st_buffer_rebound_to_its_update", "x", (f(2),), """
        self.buf = self.buf * 0.5 + x
        self.buf[0] = 9.0
        return self.buf * 1.0
    """, init="self.register_buffer('buf', torch.zeros(2))"),
    case("st_modules_in_a_list", "x", (f(2, 2),), """
        for layer in self.layers:
            x = layer(x)
        return x
    """, init="""
        self.layers = torch.nn.ModuleList([Step(1.0), Step(2.0)])
    """, top="""
        class Step(torch.nn.Module):
            def __init__(self, by: float):
                super().__init__()
                self.by = by
                self.register_buffer('seen', torch.zeros(1))

            def forward(self, x):
                self.seen.add_(self.by)
                x[0].add_(self.by)
                return x * self.seen
    """),
    case("st_written_through_an_argument", "x", (f(2),), """
        add_into(self.buf, x)
        add_into(x, self.buf)
        return x * 1.0
    """, init="self.register_buffer('buf', torch.ones(2))", top="""
        def add_into(target: Tensor, by: Tensor):
            target.add_(by)
    """),
    case("st_non_persistent_buffer", "x", (f(2),), """
        self.buf.add_(x)
        return self.buf * 1.0
    """, init="self.register_buffer('buf', torch.zeros(2), persistent=False)"),
    case("st_masked_buffer_write", "x", (f(3),), """
        self.buf[x > 1.0] = 5.0
        return self.buf + x
    """, other=(f(3, start=-1),), init="self.register_buffer('buf', torch.zeros(3))"),
]
# fmt: on
