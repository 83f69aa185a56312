"""A program made ready to run in this process: its class loaded once, its arguments made afresh for every run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from inplace_fuzz.core.materialize import CallMaker, forget_namespace, load_namespace, new_module
from inplace_fuzz.core.observation import Observation
from inplace_fuzz.core.program import Program
from inplace_fuzz.core.verdict import Channel, Kind
from inplace_fuzz.judge.compare import compare
from inplace_fuzz.judge.observe import observe


class Subject:
    """Holds a program's class and what eager shows of it. Loading raises whatever the program's text raises."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.makers = tuple(CallMaker(call) for call in program.calls)
        self._namespace = load_namespace(program.source)
        self._others: list[dict[str, Any]] = []
        self._scripted: dict[str, Any] | None = None
        self.not_opened: dict[str, Exception] = {}  # by backend: why it makes no graph of this program
        self._eager: dict[bool, Observation] = {}

    def close(self) -> None:
        for namespace in (self._namespace, *self._others):
            forget_namespace(namespace)

    def module(self) -> Any:
        """A fresh instance in eval mode."""
        return new_module(self._namespace)

    def module_of_its_own_class(self) -> Any:
        """A fresh instance of a fresh class: TorchScript remembers what it made of a class, failures included."""
        self._others.append(load_namespace(self.program.source))
        return new_module(self._others[-1])

    def module_to_script(self) -> Any:
        """A fresh instance of the one class whose graphs are read: making a second graph of a class is cheap."""
        if self._scripted is None:
            self._scripted = load_namespace(self.program.source)
            self._others.append(self._scripted)
        return new_module(self._scripted)

    def example(self) -> tuple[Any, ...]:
        """Fresh arguments of the first call, for a compiler to consume."""
        return self.makers[0].make()

    def observe(self, call: Any, buffers: Any, *, dirty: bool) -> Observation:
        """Runs a callable as the program's calls say. Raises CallFailed."""
        return observe(call, self.makers, names=self.program.parameters, buffers=buffers, dirty=dirty)

    def eager(self, *, dirty: bool) -> Observation:
        """What eager shows, run once and remembered. Raises CallFailed."""
        if dirty not in self._eager:
            self._eager[dirty] = self._run_eager(dirty=dirty)
        return self._eager[dirty]

    def repeats(self, *, dirty: bool, channels: frozenset[Channel]) -> bool:
        """Whether eager gives the same again; where it does not, nothing can be judged against it."""
        return compare(self.eager(dirty=dirty), self._run_eager(dirty=dirty), channels).kind is Kind.AGREE

    def _run_eager(self, *, dirty: bool) -> Observation:
        module = self.module()

        def buffers() -> Mapping[str, Any]:
            return dict(module.named_buffers())

        return self.observe(module, buffers, dirty=dirty)
