"""`pytest --fuzz`: one item per backend and lane, and one campaign for all of them.

The first item that runs starts the campaign; the others read what it came to. A new finding fails the item of its
backend and lane with the finding itself; known ones are counted, and pass. Deselected backends do not run.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from inplace_fuzz.campaign.run import Campaign, CampaignError, Config, Progress
from inplace_fuzz.campaign.store import Finding, Store, StoreError
from inplace_fuzz.core import Lane, lane_key
from inplace_fuzz.core.verdict import FINDINGS
from inplace_fuzz.corpus import CorpusError, check_writable
from inplace_fuzz.execute.drawing import DrawingFailed
from inplace_fuzz.execute.engine import Engine, EngineError, OperationFailed
from inplace_fuzz.plugin.options import Settings
from inplace_fuzz.plugin.shown import Fault, shown
from inplace_fuzz.report.live import Display, choose
from inplace_fuzz.report.words import counted, counts, duration, found_lines, rate

GATE = pytest.StashKey["Gate"]()


@dataclass
class Outcome:
    """What the campaign came to."""

    progress: Progress
    new: dict[tuple[str, str], list[Finding]] = field(default_factory=lambda: defaultdict(list))
    interrupted: bool = False
    failed: str = ""  # why there was no campaign, or not to its end
    report: Path | None = None


class Gate:
    """The campaign of one pytest session."""

    def __init__(self, settings: Settings, config: pytest.Config) -> None:
        self.settings = settings
        self.config = config
        self.lanes: dict[str, list[str]] = {}
        self.unavailable: dict[str, str] = {}
        self._outcome: Outcome | None = None

    # --------------------------------------------------------------------------------------------------- collecting
    def prepare(self) -> None:
        """Asks a worker, which may import torch, what can run. Raises UsageError."""
        settings = self.settings
        if not self.config.option.collectonly:
            for directory, option in ((settings.report, "report"), (settings.corpus, "corpus")):
                self._check_writable(directory, f"{settings.option}-{option}")
        try:
            with Engine(workers=1) as engine:
                answer = engine.versions(settings.backends)
        except (EngineError, OperationFailed) as error:
            raise pytest.UsageError(str(error)) from None
        for name in settings.backends:
            if "unavailable" not in answer[name]:
                self.lanes[name] = [str(lane) for lane in answer[name]["lanes"]]
            elif settings.asked:
                raise pytest.UsageError(
                    f"{settings.option}-backends: {name} cannot run here: {answer[name]['unavailable']}"
                )
            else:
                self.unavailable[name] = answer[name]["unavailable"]

    def _check_writable(self, directory: Path | None, option: str) -> None:
        if directory is None:
            return
        try:
            check_writable(directory)
        except CorpusError as error:
            text = str(error) if option.endswith("-corpus") else str(error).replace("corpus directory", "directory")
            raise pytest.UsageError(text.replace("--corpus", option)) from None

    def _in_our_words(self, text: str) -> str:
        """Errors of the rooms below, with this command line's names for their options."""
        option = self.settings.option
        return text.replace("--corpus", f"{option}-corpus").replace("--store", f"{option}-report")

    def items(self, session: pytest.Session) -> list[pytest.Item]:
        parent = GateCollector.from_parent(session, name="inplace-fuzz", nodeid="inplace-fuzz")
        return list(session.genitems(parent))

    # ------------------------------------------------------------------------------------------------------ running
    def outcome(self, session: pytest.Session) -> Outcome:
        """Runs the campaign, the first time."""
        if self._outcome is None:
            self._outcome = Outcome(Progress(), failed="the campaign was broken off")
            self._outcome = self._run(session)
        return self._outcome

    @property
    def finished(self) -> Outcome | None:
        return self._outcome

    def _run(self, session: pytest.Session) -> Outcome:
        settings = self.settings
        wanted = {(i.backend, i.lane) for i in session.items if isinstance(i, GateItem) and i.lane}
        backends = tuple(b for b in settings.backends if any(b == backend for backend, _ in wanted))
        lanes = tuple(lane for lane in Lane if any(lane == name for _, name in wanted))
        with contextlib.ExitStack() as stack:
            if settings.report is not None:
                store = settings.report / "campaign.sqlite"
            else:
                directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="inplace-fuzz-"))
                store = Path(directory) / "campaign.sqlite"
            # Warnings of pandas and matplotlib are ours to bear, also where this project makes them errors.
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            listener = stack.enter_context(self._listener())
            config = Config(
                seconds=settings.seconds,
                examples=settings.examples,
                seed=settings.seed,
                backends=backends,
                lanes=lanes,
                corpus=_short(settings.corpus),
                store=store,
                workers=settings.workers,
                shrink_share=settings.shrink_share,
                baseline=settings.baseline,
                resume=False,
            )
            campaign = Campaign(config, listener)
            outcome = Outcome(campaign.progress)
            try:
                campaign.run()
            except (CampaignError, CorpusError, StoreError, DrawingFailed, EngineError, OperationFailed) as error:
                outcome.failed = self._in_our_words(str(error))
            outcome.interrupted = listener.interrupted
            for finding in campaign.new_findings():
                if (finding.backend, finding.lane) in wanted:
                    outcome.new[finding.backend, finding.lane].append(finding)
            if settings.report is not None and not outcome.failed:
                outcome.report = self._write_report(store, settings.report)
        return outcome

    def _write_report(self, store: Path, directory: Path) -> Path:
        from inplace_fuzz.report.write import write_report

        with Store(store, read_only=True) as opened:
            last = int(opened.rows("SELECT max(id) AS id FROM run")[0]["id"])
        return write_report(store, directory, corpus=self.settings.corpus, runs=[last]).page

    @contextlib.contextmanager
    def _listener(self) -> Iterator[_Listener]:
        """The live display on the real terminal, whatever pytest captures meanwhile."""
        reporter: Any = self.config.pluginmanager.get_plugin("terminalreporter")
        capture: Any = self.config.pluginmanager.get_plugin("capturemanager")
        with contextlib.ExitStack() as stack:
            if capture is not None:
                stack.enter_context(capture.global_and_fixture_disabled())
            silent = reporter is None or self.config.option.verbose < -1
            if not silent:
                reporter.ensure_newline()
            yield _Listener(stack.enter_context(choose(io.StringIO() if silent else sys.stdout)))

    # -------------------------------------------------------------------------------------------------- in few words
    def summary(self) -> list[str]:
        outcome = self._outcome
        if outcome is None:
            return []
        progress = outcome.progress
        ran = f"{counted(progress.programs, 'program')} in {duration(progress.explored)}"
        lines = [f"{ran}, {rate(progress.programs, progress.explored)}/s; {duration(progress.shrunk)} spent shrinking"]
        lines += [f"{lane_key(*key)}: {self.said(key)}" for key in progress.tallies]
        if outcome.interrupted:
            lines.append("interrupted: this is what was found until then")
        if outcome.report is not None:
            lines.append(f"report  {outcome.report}")
        lines.append(f"again with  pytest {self.settings.again}")
        return lines

    def said(self, key: tuple[str, str]) -> str:
        """`agree 60, error 20; 20 findings, none new`."""
        assert self._outcome is not None
        kinds = self._outcome.progress.kinds(key)
        findings = sum(n for kind, n in kinds.items() if kind in FINDINGS)
        text = counts(kinds) or "nothing was run"
        if findings:
            new = len(self._outcome.new.get(key, ()))
            text += f"; {counted(findings, 'finding')}, {f'{new} new' if new else 'none new'}"
            shared = self._outcome.progress.baseline[key]
            text += f", {shared} of them the baseline's too" if shared else ""
        return text


def _short(path: Path) -> Path:
    """Relative to where pytest runs, if it is below: that is how a person would type it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


class _Listener:
    """Says a finding in one line, because its item will show it whole, and remembers an interrupt."""

    def __init__(self, display: Display) -> None:
        self.display = display
        self.interrupted = False
        self.on_start = display.on_start
        self.on_progress = display.on_progress

    def on_found(self, finding: Finding, version: str) -> None:
        head = found_lines(finding, version)[0]
        self.display.on_note(f"{head}  {finding.entry}")

    def on_note(self, text: str) -> None:
        self.interrupted = self.interrupted or text.startswith("interrupted")
        self.display.on_note(text)


class GateCollector(pytest.Collector):
    """The node above the items; there is no file behind it."""

    def collect(self) -> Iterator[pytest.Item]:
        gate = self.config.stash[GATE]
        for backend in gate.settings.backends:
            for lane in gate.lanes.get(backend, ()):
                yield GateItem.from_parent(self, name=lane_key(backend, lane), backend=backend, lane=lane)
            if backend in gate.unavailable:
                item = GateItem.from_parent(self, name=backend, backend=backend, lane="")
                item.add_marker(pytest.mark.skip(reason=gate.unavailable[backend]))
                yield item


class GateItem(pytest.Item):
    def __init__(self, *, backend: str, lane: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.backend = backend
        self.lane = lane

    def runtest(self) -> None:
        gate = self.config.stash[GATE]
        outcome = gate.outcome(self.session)
        key = (self.backend, self.lane)
        if outcome.failed:
            raise Fault(outcome.failed)
        said = gate.said(key)
        self.user_properties += [*outcome.progress.kinds(key).items()]
        found = outcome.new.get(key, [])
        if found:
            raise Fault(_summary(found), _text(found, outcome.progress.versions.get(self.backend, "")))
        if outcome.interrupted:
            pytest.skip(f"interrupted; until then {said}")
        if not any(outcome.progress.kinds(key).values()):
            pytest.skip(f"no program reached it in the time there was; give more with {gate.settings.option}-time=5m")
        self.add_report_section("call", "inplace-fuzz", said)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return shown(excinfo.value) or super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.config.rootpath / "inplace-fuzz", 0, self.name


def _summary(found: list[Finding]) -> str:
    verdicts = dict.fromkeys(str(f.minimal_verdict or f.verdict) for f in found)
    return f"{counted(len(_distinct(found)), 'new finding')}: {', '.join(verdicts)}"


def _distinct(found: list[Finding]) -> list[tuple[Finding, int]]:
    """Each new root cause; of what there was no time to shrink, the shortest of each bucket, and how many."""
    distinct = [(f, 1) for f in found if f.minimal is not None]
    waiting: dict[str, list[Finding]] = defaultdict(list)
    for finding in found:
        if finding.minimal is None:
            waiting[finding.bucket].append(finding)
    shortest = ((min(group, key=lambda f: len(f.program.source)), len(group)) for group in waiting.values())
    return [*distinct, *shortest]


def _text(found: list[Finding], version: str) -> str:
    blocks = []
    for finding, count in _distinct(found):
        lines = found_lines(finding, version)
        if count > 1:
            lines.append(f"    and {count - 1} more like it")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
