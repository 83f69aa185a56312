"""A finding becomes an entry: shrink it in isolated workers, then see what every backend gives for the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.core import Kind, Program, Verdict, base_name
from inplace_fuzz.corpus import Expectation
from inplace_fuzz.execute.engine import Engine, Target, Task
from inplace_fuzz.judge.bucket import bucket
from inplace_fuzz.shrink import Shrunk, shrink


def reduce(
    engine: Engine,
    finding: Finding,
    target: Target,
    *,
    max_seconds: float,
    baseline: Target | None = None,
    progress: Callable[[int], None] | None = None,
) -> Shrunk:
    """Shrinks the finding's program without leaving its bucket, and fills in `minimal` and `minimal_verdict`.

    With a `baseline`, no candidate is taken that the baseline does not get right.
    Leaves `minimal` unset when the finding cannot be shown again even once (its verdict is then flaky).
    """
    last: dict[str, Verdict] = {}

    def keeps(candidates: Sequence[Program]) -> Sequence[bool]:
        targets = (target,) if baseline is None else (target, baseline)
        tasks = [Task(candidate, targets, k) for k, candidate in enumerate(candidates)]
        kept = [False] * len(tasks)
        right = [baseline is None] * len(tasks)
        for result in engine.run(tasks, confirm=False):
            verdict = result.verdict
            if result.target == baseline:
                right[result.task.key] = verdict.kind is Kind.AGREE
            elif verdict.is_finding and str(bucket(target.backend, target.lane, verdict)) == finding.bucket:
                kept[result.task.key] = True
                last[result.task.program.digest] = verdict
        return [k and r for k, r in zip(kept, right, strict=True)]

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
    rows = []
    for target in targets:
        verdict = verdicts.get(target)
        if verdict is None or verdict.kind is Kind.INVALID:
            continue
        note = f"origin: {verdict.origin}" if verdict.origin else ""
        if verdict.nondeterministic:
            note = f"{note}; differs from run to run" if note else "differs from run to run"
        row = Expectation(
            base_name(target.backend),
            str(target.lane),
            versions[target.backend],
            str(verdict),
            "known" if verdict.is_finding else "",
            note,
            verdict.message,
        )
        if row not in rows:  # `tvm` and `tvm@0.27.0` may be one environment
            rows.append(row)
    return rows, verdicts
