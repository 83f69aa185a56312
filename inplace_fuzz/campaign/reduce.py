"""A finding becomes an entry: shrink it in isolated workers, then see what every backend gives for the result."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.core import Kind, Program, Verdict, base_name
from inplace_fuzz.corpus import CURED, Expectation
from inplace_fuzz.execute.engine import Engine, Target, Task
from inplace_fuzz.judge.bucket import bucket
from inplace_fuzz.shrink import Shrunk, shrink
from inplace_fuzz.shrink.respell import RESPELLINGS, Respelling, respelled


def reduce(
    engine: Engine,
    finding: Finding,
    target: Target,
    *,
    max_seconds: float,
    baseline: Target | None = None,
    known: Sequence[Respelling] = (),
    progress: Callable[[int], None] | None = None,
) -> Shrunk:
    """Shrinks the finding's program without leaving its bucket, and fills in `minimal` and `minimal_verdict`.

    With a `baseline`, no candidate is taken that the baseline does not get right. With `known` respellings, none that
    is right when it is respelled: what is looked for is another fault than those that they cure.
    Leaves `minimal` unset when the finding cannot be shown again even once (its verdict is then flaky).
    """
    last: dict[str, Verdict] = {}

    def keeps(candidates: Sequence[Program]) -> Sequence[bool]:
        targets = (target,) if baseline is None else (target, baseline)
        tasks = [Task(candidate, targets, k) for k, candidate in enumerate(candidates)]
        others = [respelled(candidate, known) for candidate in candidates] if known else []
        tasks += [Task(other, (target,), -1 - k) for k, other in enumerate(others) if other is not None]
        wrong = [False] * len(candidates)
        right = [baseline is None] * len(candidates)
        cured = [other is not None for other in others] or [False] * len(candidates)
        for result in engine.run(tasks, confirm=False):
            verdict, key = result.verdict, result.task.key
            if result.target == baseline:
                right[key] = verdict.kind is Kind.AGREE
            elif verdict.is_finding and str(bucket(target.backend, target.lane, verdict)) == finding.bucket:
                if key < 0:
                    cured[-1 - key] = False
                    continue
                wrong[key] = True
                last[result.task.program.digest] = verdict
        return [w and r and not c for w, r, c in zip(wrong, right, cured, strict=True)]

    def on_progress(best: Program, tried: int) -> None:
        del best
        if progress is not None:
            progress(tried)

    shrunk = shrink(finding.program, keeps, max_seconds=max_seconds, progress=on_progress)
    finding.candidates = shrunk.candidates
    finding.shrink_seconds = shrunk.seconds
    if shrunk.program.digest in last:
        finding.minimal = shrunk.program
        finding.minimal_verdict = last[shrunk.program.digest]
    return shrunk


def expectations(
    engine: Engine, program: Program, targets: Sequence[Target], versions: dict[str, str]
) -> tuple[list[Expectation], dict[Target, Verdict]]:
    """What each target gives for a program, as corpus rows: faults are `known`; a refusal is a row too."""
    verdicts = {r.target: r.verdict for r in engine.run([Task(program, tuple(targets), 0)])}
    cured = cures(engine, program, verdicts)
    rows = []
    for target in targets:
        verdict = verdicts.get(target)
        if verdict is None or verdict.kind is Kind.INVALID:
            continue
        notes = [f"origin: {verdict.origin}"] if verdict.origin else []
        notes += ["differs from run to run"] if verdict.nondeterministic else []
        notes += [CURED + ", ".join(cured[target])] if cured.get(target) else []
        row = Expectation(
            base_name(target.backend),
            str(target.lane),
            versions[target.backend],
            str(verdict),
            "known" if verdict.is_finding else "",
            "; ".join(notes),
            verdict.message,
        )
        if row not in rows:  # `tvm` and `tvm@0.27.0` may be one environment
            rows.append(row)
    return rows, verdicts


def cures(engine: Engine, program: Program, verdicts: Mapping[Target, Verdict]) -> dict[Target, tuple[str, ...]]:
    """The names of the respellings of the program that each target gets right, of those that have it wrong."""
    wrong = tuple(target for target, verdict in verdicts.items() if verdict.is_finding and verdict.origin != "pass")
    others = {r.name: other for r in RESPELLINGS if (other := respelled(program, [r])) is not None} if wrong else {}
    names = list(others)
    found: dict[Target, list[str]] = defaultdict(list)
    tasks = [Task(other, wrong, k) for k, other in enumerate(others.values())]
    for result in sorted(engine.run(tasks, confirm=False), key=lambda r: r.task.key):
        if result.verdict.kind is Kind.AGREE:
            found[result.target].append(names[result.task.key])
    return {target: tuple(cured) for target, cured in found.items()}
