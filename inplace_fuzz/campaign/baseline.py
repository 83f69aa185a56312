"""A baseline: another version of a backend, which must get a program right for a fault of the backend to be news."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.core import Kind, Lane, base_name
from inplace_fuzz.execute.engine import Engine, Target, Task

Key = tuple[str, str]  # backend and lane


class BaselineError(RuntimeError):
    """A baseline cannot be used; the message says what to do."""


class Baseline:
    """The baseline of each target that has one: `tvm@0.26.0` is that of every other version of `tvm`."""

    def __init__(self) -> None:
        self.targets: dict[Key, Target] = {}
        self.versions: dict[str, str] = {}  # of the baselines, by column

    def prepare(self, engine: Engine, columns: Iterable[str], targets: Iterable[Key], have: Mapping[str, str]) -> None:
        """Finds out what is judged against what. Raises BaselineError."""
        keys = list(targets)
        for column, data in engine.versions(columns).items():
            if "unavailable" in data:
                raise BaselineError(f"the baseline {column} cannot run here: {data['unavailable']}")
            name, version = base_name(column), data["version"]
            own = [key for key in keys if base_name(key[0]) == name]
            if not any(have[backend] != version for backend, _ in own):
                raise BaselineError(
                    f"the baseline {column} is {version}, and no other version of {name} is among the backends; "
                    f"add one, for example {name}"
                )
            self.versions[column] = version
            self.targets |= {(b, lane): Target(column, Lane(lane)) for b, lane in own if lane in data["lanes"]}

    def shares(self, engine: Engine, finding: Finding, version: str) -> bool:
        """Whether the baseline does not get the finding's program right either. A baseline shares all of its own."""
        target = self.targets.get((finding.backend, finding.lane))
        if target is None:
            return False
        if self.versions[target.backend] == version:
            return True
        (result,) = engine.run([Task(finding.program, (target,), 0)])
        return result.verdict.kind is not Kind.AGREE
