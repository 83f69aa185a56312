"""What the warm process does for a backend before it forks workers, so that none of them pays for it again.

The first program through a compiler loads modules, fills caches and compiles built-in functions; in a worker that
lives for one batch that would be most of its time. So the warm process first runs a tiny program of our own through
each lane, where the backend says that this starts no thread (threads do not survive a fork): `starts_no_threads`. For
the others, a `warm()` of their own does what is safe.
"""

from __future__ import annotations

import warnings

from inplace_fuzz.core.program import Program
from inplace_fuzz.core.spec import TensorSpec

_SOURCE = """import torch


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("buf", torch.zeros([2]))

    def forward(self, x, i, m):
        v = x[1:, None].t()
        v.add_(1)
        y = torch.zeros([2, 2])
        y[i] = x[:2, None] * 2
        y[:, m] = 3
        self.buf[0] = x[0]
        return y, {"x": x, "buf": self.buf.clone()}
"""
TINY = Program(
    _SOURCE,
    (
        (
            TensorSpec((3,), "float32", (1.0, 2.0, 3.0)),
            TensorSpec((2,), "int64", (0, 1)),
            TensorSpec((2,), "bool", (True, False)),
        ),
    ),
)


def warm_backend(name: str) -> None:
    """Makes a backend and the lanes that it has ready to be forked. What fails here fails again in a worker."""
    from inplace_fuzz.backends import load
    from inplace_fuzz.core.verdict import Lane
    from inplace_fuzz.execute.evaluate import evaluate

    backend = load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if getattr(backend, "starts_no_threads", False):
            lanes = [(backend, lane) for lane in backend.lanes]
            evaluate(TINY, lanes, enter=lambda _where, _stage: None, emit=lambda _where, _verdict: None)
            return
        hook = getattr(backend, "warm", None)
        if hook is not None:
            hook()
        if backend.form == "fx" and Lane.REWRITTEN in backend.lanes:
            _warm_pass(name)


def _warm_pass(name: str) -> None:
    from inplace_fuzz.core.materialize import load_module, make_call
    from inplace_fuzz.rewrite import functionalize, legalise

    legalise(functionalize(load_module(TINY), make_call(TINY.calls[0]), target="fx"), name)
