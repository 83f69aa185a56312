"""Backends for the plugin's own tests: one that is right, one that loses every write to an input, one that is not here.

Runs reach them as `planted_backends:RIGHT`; each compiles in no time, so that a whole campaign takes seconds.
"""

from dataclasses import dataclass

from inplace_fuzz.core import ALL_CHANNELS, Channel, Compiled, Lane, Refusal, Unavailable


@dataclass(frozen=True)
class Right:
    """Eager itself."""

    name: str = "right"
    channels: frozenset[Channel] = ALL_CHANNELS
    lanes: tuple[Lane, ...] = (Lane.DIRECT,)
    refusals: tuple[Refusal, ...] = ()
    form: str = "fx"
    per_fork: int = 32

    def version(self):
        return f"{self.name} 1.0"

    def compile(self, module, example, enter):
        return Compiled(module, lambda: dict(module.named_buffers()))


@dataclass(frozen=True)
class Wrong(Right):
    """Runs on copies of the inputs, so that the caller's tensors are never written."""

    name: str = "wrong"
    channels: frozenset[Channel] = frozenset({Channel.INPUTS})

    def compile(self, module, example, enter):
        import torch

        def call(*args):
            return module(*[a.clone() if isinstance(a, torch.Tensor) else a for a in args])

        return Compiled(call, lambda: dict(module.named_buffers()))


@dataclass(frozen=True)
class Absent(Right):
    name: str = "absent"

    def version(self):
        raise Unavailable("ABSENT is not installed; `pip install absent` brings it")


RIGHT = Right()
WRONG = Wrong()
ABSENT = Absent()
