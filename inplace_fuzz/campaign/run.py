"""The campaign: draw, judge, triage, shrink, keep, until the budget is spent.

    1. ask a worker which backends can run, and read the corpus: every fault in it is known;
    2. draw programs in a process of their own, and hand them to backends as `schedule.py` decides;
    3. commit every finding to the store as it comes; those that no known cause explains wait to be shrunk;
    4. between results, shrink what waits, one at a time, for at most as long as has been spent exploring;
    5. a new root cause is run through every backend and lane, saved as a corpus file, and announced.

Time spent shrinking does not count as exploring. Ctrl-C ends any step with everything that was found on disk.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from inplace_fuzz import corpus
from inplace_fuzz.backends import DEFAULT
from inplace_fuzz.campaign.baseline import Baseline, BaselineError
from inplace_fuzz.campaign.causes import Causes, cause_of, has_message
from inplace_fuzz.campaign.reduce import expectations, reduce
from inplace_fuzz.campaign.schedule import Group, Schedule
from inplace_fuzz.campaign.store import Finding, Store, StoreError
from inplace_fuzz.campaign.text import entry_comment, entry_title
from inplace_fuzz.campaign.waiting import Waiting
from inplace_fuzz.core import Kind, Lane, Program, ProgramError, Verdict, base_name
from inplace_fuzz.core.features import features
from inplace_fuzz.core.intake import TRUST
from inplace_fuzz.core.vetting import vet_program
from inplace_fuzz.execute.drawing import DrawerDied, Drawing
from inplace_fuzz.execute.engine import Done, Engine, EngineError, Limits, Result, Target, Task
from inplace_fuzz.judge.bucket import bucket, normalise_message
from inplace_fuzz.shrink import rank
from inplace_fuzz.shrink.respell import BY_NAME, Respelling, respelled

_KEPT_PER_BUCKET = 400  # findings of one bucket that are stored; the tally counts them all
_GRACE = 5.0  # seconds that what is in flight may take when the time is over
_SAVE_EVERY = 5.0  # seconds between writes of the totals
_SHRINK_SECONDS = 45.0  # for one finding
_LOOK_SECONDS = 15.0  # for what there was no time to shrink, at the end
# Shares of the workers' time. Released compilers are what a campaign is for, and the slowest to answer.
_WEIGHTS = {"tvm": 4.0, "export": 1.0}


class CampaignError(RuntimeError):
    """The campaign cannot run at all; the message says what to do."""


@dataclass(frozen=True)
class Config:
    """What to run: `seconds` of exploring, or a number of `examples`, for which a seed means the same programs."""

    seconds: float | None = 60.0
    examples: int | None = None
    seed: int = 0
    backends: tuple[str, ...] = DEFAULT
    lanes: tuple[Lane, ...] = tuple(Lane)
    corpus: Path = Path("corpus")
    store: Path = Path(".inplace-fuzz/campaign.sqlite")
    workers: int = 2
    mix: str | None = None
    shard: tuple[int, int] = (1, 1)
    shrink_share: float = 1.0  # seconds of shrinking allowed for each second of exploring
    limits: Limits = field(default_factory=Limits)
    baseline: tuple[str, ...] = ()  # versions that must get a program right for a fault to be a finding
    save_entries: bool = True
    resume: bool = True  # shrink what earlier runs in this store left unshrunk


@dataclass
class Progress:
    """The run so far: what the heartbeat, the report and the pytest items are made from."""

    started: float = 0.0
    explored: float = 0.0
    shrunk: float = 0.0
    programs: int = 0
    phase: str = "starting"
    versions: dict[str, str] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)
    tallies: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    found: list[Finding] = field(default_factory=list)
    waiting: int = 0
    interrupted: bool = False
    baseline: Counter[tuple[str, str]] = field(default_factory=Counter)  # faults that the baseline has too
    known: Counter[str] = field(default_factory=Counter)  # corpus file -> how often it was met

    def kinds(self, key: tuple[str, str]) -> Counter[str]:
        """Verdict kinds of one backend and lane, details dropped."""
        counts: Counter[str] = Counter()
        for verdict, n in self.tallies[key].items():
            counts[verdict.partition("(")[0]] += n
        return counts


class Listener(Protocol):
    """Whoever wants to see the run as it goes."""

    def on_start(self, progress: Progress) -> None: ...
    def on_progress(self, progress: Progress) -> None: ...
    def on_found(self, finding: Finding, version: str) -> None: ...
    def on_note(self, text: str) -> None: ...


class Campaign:
    def __init__(self, config: Config, listener: Listener) -> None:
        self.config = config
        self.listener = listener
        self.progress = Progress()
        self.causes = Causes()
        self._waiting = Waiting(self.causes)
        self._targets: dict[tuple[str, str], Target] = {}
        self._baseline = Baseline()
        self._seconds: dict[tuple[str, str, str], float] = defaultdict(float)
        self._features: Counter[tuple[str, str]] = Counter()
        self._refusals: Counter[tuple[str, str, str, str]] = Counter()
        self._stored: Counter[str] = Counter()
        self._direct: dict[tuple[int, str], Verdict] = {}  # what the first lane of a backend gave, by task
        self._saved = 0.0
        self.unshrunk: list[Finding] = []
        self._at_start: set[str] = set()

    # ------------------------------------------------------------------------------------------------------- the run
    def run(self) -> Progress:
        """Runs to the end of the budget or Ctrl-C. Raises CampaignError, CorpusError, StoreError, EngineError."""
        config, progress = self.config, self.progress
        if config.save_entries:
            corpus.check_writable(config.corpus)
        if config.corpus.is_dir():
            self._learn_corpus()
        progress.started = time.monotonic()
        with Store(config.store) as store, Engine(workers=config.workers, limits=config.limits) as engine:
            store.begin(config.seed, self._config_json())
            try:
                self._prepare(engine, store)
                self.listener.on_start(progress)
                self._explore(engine, store)
                self._shrink_rest(engine, store)
            except KeyboardInterrupt:
                progress.interrupted = True
                self.listener.on_note("interrupted: everything found so far is in the store and the corpus")
            finally:
                progress.phase = "done"
                self._save(store, ended=True)
        return progress

    def _config_json(self) -> dict[str, object]:
        c = self.config
        config: dict[str, object] = {"seconds": c.seconds, "examples": c.examples, "backends": c.backends, "mix": c.mix}
        config["shard"] = c.shard
        return config | ({"baseline": c.baseline} if c.baseline else {})

    def _learn_corpus(self) -> None:
        for path in corpus.files(self.config.corpus):
            try:
                self.causes.learn_corpus([corpus.read_entry(path)])
            except corpus.CorpusError as error:
                self.listener.on_note(f"not read: {error}")
        self._at_start = set(self.causes.entries.values())

    def _prepare(self, engine: Engine, store: Store) -> None:
        answer = engine.versions(self.config.backends)
        for name in self.config.backends:
            data = answer[name]
            if "unavailable" in data:
                self.progress.unavailable[name] = data["unavailable"]
                store.set_version(name, "", data["unavailable"], ())
                continue
            self.progress.versions[name] = data["version"]
            store.set_version(name, data["version"], "", tuple(data["channels"]))
            for lane in data["lanes"]:
                if lane in self.config.lanes:
                    self._targets[name, lane] = Target(name, Lane(lane))
                    self.progress.tallies[name, lane] = Counter()
        if not self._targets:
            reasons = (
                "; ".join(f"{n}: {r}" for n, r in self.progress.unavailable.items()) or "no lane of them was asked for"
            )
            raise CampaignError(f"none of the backends can run here ({reasons})")
        try:
            self._baseline.prepare(engine, self.config.baseline, self._targets, self.progress.versions)
        except BaselineError as error:
            raise CampaignError(str(error)) from None
        for finding in store.findings(state="new") if self.config.resume else ():
            # What an earlier run left unshrunk, where its backend is still here. It may be from another machine.
            if (finding.backend, finding.lane) in self._targets and self._may_run(finding):
                self._waiting.add(finding)

    def _may_run(self, finding: Finding) -> bool:
        try:
            vet_program(finding.program, name=f"finding {finding.id} of {self.config.store}")
        except ProgramError as error:
            self.listener.on_note(f"not shrunk: {str(error).removesuffix(f'; {TRUST}')}")
            return False
        return True

    def _schedule(self, source: Iterator[Program | None]) -> Schedule:
        groups: dict[str, list[Target]] = {}
        for (backend, _), target in self._targets.items():
            groups.setdefault(backend, []).append(target)
        return Schedule(
            [Group(tuple(targets), _WEIGHTS.get(base_name(name), 1.0)) for name, targets in groups.items()],
            source,
            sharing=self.config.examples is None,
        )

    def _explore(self, engine: Engine, store: Store) -> None:
        config, progress = self.config, self.progress
        progress.phase = "exploring"
        shard, shards = config.shard
        seed = config.seed * shards + shard - 1
        with Drawing(
            seed, config.examples, mix=config.mix, limits=config.limits, wait=0.02, on_death=self._on_drawer_death
        ) as source:
            schedule = self._schedule(source)
            started, shrunk_before = 0.0, progress.shrunk
            for event in engine.events(schedule.tasks()):
                # The clock starts with the first verdict: importing torch and the compilers is nobody's exploring.
                started = started or time.monotonic()
                if isinstance(event, Done):
                    schedule.done(event.task)
                    for backend in {t.backend for t in event.task.targets}:
                        self._direct.pop((event.task.key, backend), None)
                else:
                    schedule.charge(event.task, event.seconds)
                    self._on_result(event, engine, store)
                progress.programs = schedule.drawn
                progress.explored = time.monotonic() - started - (progress.shrunk - shrunk_before)
                if config.seconds is not None and progress.explored >= config.seconds:
                    if not schedule.stopped:
                        schedule.stopped = True
                    elif progress.explored >= config.seconds + _GRACE:
                        break  # a slow compiler's last programs are let go of; they have no verdict
                elif progress.shrunk < config.shrink_share * progress.explored:
                    self._shrink_next(engine, store, _SHRINK_SECONDS)
                self._tick(store)

    def _on_drawer_death(self, death: DrawerDied) -> None:
        where = f" in {death.statement!r}" if death.statement else ""
        self.listener.on_note(f"eager died while drawing ({death.how}){where}; drawing goes on with another seed")

    # -------------------------------------------------------------------------------------------------------- triage
    def _on_result(self, result: Result, engine: Engine, store: Store) -> None:
        target, verdict = result.target, result.verdict
        key = (target.backend, str(target.lane))
        self.progress.tallies[key][str(verdict)] += 1
        self._seconds[(*key, str(verdict))] += result.seconds
        inherited = self._inherited(result)
        if verdict.kind is Kind.REFUSED:
            self._refusals[(*key, str(verdict), normalise_message(verdict.message))] += 1
        if not verdict.is_finding:
            return
        self._count_features(result.task.program)
        place = str(bucket(*key, verdict))
        finding = Finding(*key, place, verdict, result.task.program)
        if inherited:
            finding.state = "inherited"
            store.add(finding)
            return
        finding.cause = self.causes.explanation(*key, verdict, finding.program)
        if finding.cause:
            finding.state = "explained"
            self.progress.known[self.causes.known(finding.cause)] += 1
        if verdict.kind is Kind.FLAKY:
            finding.state = "unstable"
        if finding.state == "new" and self._baseline.shares(engine, finding, self.progress.versions[key[0]]):
            finding.state = "baseline"
            self.progress.baseline[key] += 1
        if self._stored[place] >= _KEPT_PER_BUCKET:
            return
        self._stored[place] += 1
        store.add(finding)
        if finding.id and finding.state not in {"unstable", "baseline"}:
            self._waiting.add(finding)

    def _inherited(self, result: Result) -> bool:
        """Whether a lane only repeats what the direct lane of its backend gave for the same program."""
        target, verdict = result.target, result.verdict
        here = self._direct.setdefault((result.task.key, target.backend), verdict)
        if target.lane is Lane.DIRECT or here is verdict or verdict.origin == "pass":
            return False
        if here.kind is Kind.ERROR and str(here) == str(verdict) and target.backend.startswith("torchscript"):
            return True  # a graph that cannot run, rewritten, cannot run either, and says so in other words
        same_message = normalise_message(here.message) == normalise_message(verdict.message)
        return str(here) == str(verdict) and (same_message or not has_message(verdict))

    def _count_features(self, program: Program) -> None:
        found = features(program)
        for kind in ("views", "indices", "writes", "targets"):
            for name in getattr(found, kind):
                self._features[kind, name] += 1

    def _next_waiting(self) -> Finding | None:
        finding = self._waiting.next()
        self.progress.waiting = len(self._waiting.unexplained())
        return finding

    # ----------------------------------------------------------------------------------------------------- shrinking
    def _shrink_next(self, engine: Engine, store: Store, seconds: float) -> bool:
        """Shrinks the most promising finding. Returns False when nothing waits."""
        finding = self._next_waiting()
        if finding is None:
            return False
        self._waiting.remove(finding)
        started = time.monotonic()
        base = self.progress.shrunk
        self.progress.phase = f"shrinking {finding.backend}/{finding.lane} {finding.verdict}"

        def on_progress(tried: int) -> None:
            del tried
            self.progress.shrunk = base + time.monotonic() - started
            self._tick(store)

        try:
            self._refresh(finding)
            key = (finding.backend, finding.lane)
            baseline = self._baseline.targets.get(key)
            if finding.state == "explained" and self._baseline.shares(engine, finding, self.progress.versions[key[0]]):
                return True
            known = self._known_in(finding)
            if known and self._is_cured(engine, store, finding, known):
                return True
            reduce(
                engine,
                finding,
                self._targets[key],
                max_seconds=seconds,
                baseline=baseline,
                known=tuple(known),
                progress=on_progress,
            )
            self._settle(engine, store, finding)
        except (EngineError, StoreError, corpus.CorpusError):
            raise
        except Exception as error:  # noqa: BLE001  a fault of the reducer may cost a minimal program, never a finding
            self._unshrinkable(store, finding, error)
        finally:
            self.progress.shrunk = base + time.monotonic() - started
            self.progress.phase = "exploring"
        return True

    def _unshrinkable(self, store: Store, finding: Finding, error: Exception) -> None:
        self.listener.on_note(
            f"our own fault: shrinking {finding.backend}/{finding.lane} {finding.verdict} raised "
            f"{type(error).__name__}: {error}; the finding is kept as it was drawn"
        )
        self._waiting.shrunk(finding.bucket)
        finding.state = "unshrunk"
        store.update(finding)
        self.unshrunk.append(finding)

    def _refresh(self, finding: Finding) -> None:
        """Looks again whether a cause found since explains it."""
        if finding.state == "new":
            cause = self.causes.explanation(finding.backend, finding.lane, finding.verdict, finding.program)
            if cause:
                finding.state, finding.cause = "explained", cause

    def _known_in(self, finding: Finding) -> dict[Respelling, str]:
        """The respellings of known causes that say something about this program, with the corpus file of each."""
        known = self.causes.respellings(finding.backend, finding.lane, finding.verdict)
        return {BY_NAME[name]: entry for name, entry in known.items() if respelled(finding.program, [BY_NAME[name]])}

    def _is_cured(self, engine: Engine, store: Store, finding: Finding, known: dict[Respelling, str]) -> bool:
        """Whether the program is right once all known causes in it are respelled: then it holds no other.

        Where it is wrong in another way then, `known` is emptied: the known causes have hidden part of it.
        """
        other = respelled(finding.program, known)
        assert other is not None
        (verdict,) = (r.verdict for r in engine.run([Task(other, (self._targets[finding.backend, finding.lane],), 0)]))
        if verdict.kind is Kind.AGREE:
            entry = next(iter(known.values()))
            self.progress.known[entry] += finding.state == "new"
            finding.state = "known" if entry in self._at_start else "duplicate"
            finding.cause, finding.entry = f"agrees with {', '.join(r.name for r in known)}", entry
            self._waiting.repeated(finding.bucket)
            store.update(finding)
            return True
        if str(bucket(finding.backend, finding.lane, verdict)) != finding.bucket:
            known.clear()
        return False

    def _settle(self, engine: Engine, store: Store, finding: Finding) -> None:
        """Decides what a shrunk finding is, saves a new root cause, and commits."""
        self._waiting.shrunk(finding.bucket)
        if finding.minimal is None or finding.minimal_verdict is None:
            finding.state = "unstable"
            store.update(finding)
            return
        verdict = finding.minimal_verdict
        finding.cause = cause_of(finding.backend, finding.lane, verdict, finding.minimal)
        entry = self.causes.known(finding.cause) or self.causes.family(
            finding.backend, finding.lane, verdict, finding.minimal
        )
        if entry:
            finding.state = "known" if entry in self._at_start else "duplicate"
            finding.entry = entry
            self._waiting.repeated(finding.bucket)
        else:
            self._waiting.repeated(finding.bucket, again=False)
            finding.state = "found"
            finding.entry = self._save_entry(engine, finding, verdict)
        store.update(finding)
        if finding.state == "found":
            self.progress.found.append(finding)
            self.listener.on_found(finding, self.progress.versions[finding.backend])

    def _save_entry(self, engine: Engine, finding: Finding, verdict: Verdict) -> str:
        """Runs the minimal program everywhere and saves it with what each backend gave. Returns the file's path."""
        minimal = finding.minimal
        assert minimal is not None
        targets = dict.fromkeys([*self._targets.values(), *self._baseline.targets.values()])
        versions = {**self._baseline.versions, **self.progress.versions}
        rows, verdicts = expectations(engine, minimal, tuple(targets), versions)
        cured = {(row.backend, row.lane): row.cures for row in rows}
        finding.cures = cured.get((base_name(finding.backend), finding.lane), ())
        own = self._targets[finding.backend, finding.lane]
        if not verdicts.get(own, verdict).is_finding:
            # It does not show every time: the row says what the reducer saw, and that it comes and goes.
            rows = [self._unsteady(r, verdict) if (r.backend, r.lane) == (own.backend, own.lane) else r for r in rows]
        shown = entry_comment(finding.backend, verdict)
        name = str(self.config.corpus)
        if self.config.save_entries:
            titled = replace(minimal, title=entry_title(minimal, finding.backend, verdict))
            name = str(corpus.write_entry(self.config.corpus, titled, rows, shown))
        file = Path(name).name
        for target, seen in verdicts.items():
            if seen.is_finding:
                cures = cured.get((base_name(target.backend), str(target.lane)), ())
                self.causes.learn(target.backend, str(target.lane), seen, minimal, file, cures)
        self.causes.learn(finding.backend, finding.lane, verdict, minimal, file)
        return name

    @staticmethod
    def _unsteady(row: corpus.Expectation, verdict: Verdict) -> corpus.Expectation:
        return replace(row, verdict=str(verdict), status="known", note="comes and goes", message=verdict.message)

    def _shrink_rest(self, engine: Engine, store: Store) -> None:
        """After exploring: shrinks what still waits, while the shrinking budget lasts."""
        budget = self.config.shrink_share * (self.config.seconds or max(self.progress.explored, 30.0))
        while self.progress.shrunk < budget:
            # What is begun gets its time: a finding shrunk half-way reads like another root cause.
            if not self._shrink_next(engine, store, _SHRINK_SECONDS):
                break
        self._look_at_rest(engine, store)
        self._next_waiting()

    def _look_at_rest(self, engine: Engine, store: Store) -> None:
        """Of what there was no time to shrink, what holds nothing but known causes is not new."""
        started = time.monotonic()
        for finding in self._waiting.unexplained():
            if time.monotonic() - started > _LOOK_SECONDS:
                break
            known = self._known_in(finding)
            if known and self._is_cured(engine, store, finding, known):
                self._waiting.remove(finding)
            self._tick(store)

    # ------------------------------------------------------------------------------------------------------ progress
    def _tick(self, store: Store) -> None:
        self.listener.on_progress(self.progress)
        if time.monotonic() - self._saved >= _SAVE_EVERY:
            self._save(store, ended=False)

    def _save(self, store: Store, *, ended: bool) -> None:
        self._saved = time.monotonic()
        progress = self.progress
        tallies = {
            (*key, verdict): (n, self._seconds[(*key, verdict)])
            for key, counter in progress.tallies.items()
            for verdict, n in counter.items()
        }
        store.progress(
            tallies,
            self._features,
            self._refusals,
            programs=progress.programs,
            draw_seconds=0.0,
            explore_seconds=progress.explored,
            shrink_seconds=progress.shrunk,
            ended=ended,
        )

    def new_findings(self) -> list[Finding]:
        """What a gate must fail on: new root causes, and findings that there was no time to shrink."""
        return [*self.progress.found, *self.unshrunk, *self._waiting.unexplained()]


def smallest(findings: list[Finding]) -> list[Finding]:
    """Findings with the simplest minimal program first."""
    return sorted(findings, key=lambda f: rank(f.minimal or f.program))
