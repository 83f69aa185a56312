"""What a sweep prints: a line of progress, the table at the end, its pairs, and a program that disagreed."""

from __future__ import annotations

from collections.abc import Iterator

from inplace_fuzz.campaign.sweep_state import Finding, SweepState
from inplace_fuzz.campaign.text import program_lines
from inplace_fuzz.execute.pairs import PARTIAL_MIXES, TABLES, impossible, possible
from inplace_fuzz.execute.sweeping import DISAGREE, OUTCOMES, REFUSED

ENOUGH = 30  # programs that hold a pair
_LOWEST = 5


def progress_line(state: SweepState, mix: str, wanted: int) -> str:
    counts = state.outcomes(mix)
    told = ", ".join(f"{counts[o]:,} {o}" for o in OUTCOMES if counts.get(o))
    return f"{state.programs(mix):,} of {wanted:,} programs: {told}"


def table_lines(state: SweepState) -> Iterator[str]:
    """The table for each mix that the state holds."""
    if not state.mixes():
        yield "no program has been judged yet"
    for k, mix in enumerate(state.mixes()):
        if k:
            yield ""
        yield from _mix_lines(state, mix)


def _mix_lines(state: SweepState, mix: str) -> Iterator[str]:
    total = state.programs(mix)
    yield f"mix {mix}: {total:,} programs, {1000 * state.cpu(mix) / max(total, 1):.1f} ms of CPU each"
    counts = state.outcomes(mix)
    for outcome in OUTCOMES:
        n = counts.get(outcome, 0)
        yield f"  {outcome:14} {n:>10,}  {100 * n / max(total, 1):8.4f} %"
        if outcome in (REFUSED, DISAGREE):
            for detail, times in state.details(mix, outcome):
                yield f"      {times:>10,}  {100 * times / total:8.4f} %  {detail}"
    found = list(state.findings(mix))
    if found:
        agree, refused = (sum(f.now == word for f in found) for word in ("agree", REFUSED))
        still = sum(not f.mended for f in found)
        yield f"  of {len(found)} that disagreed, by now {agree} agree, {refused} are refused, {still} do neither"
    for source, programs in state.passes(mix):
        wrong = state.outcomes(mix, source).get(DISAGREE, 0)
        yield f"  judged with pass {source}: {programs:,} programs, {wrong} disagree"
    if mix not in PARTIAL_MIXES:
        yield from _pair_summary(state, mix)


def _pair_summary(state: SweepState, mix: str) -> Iterator[str]:
    hits = state.pairs(mix)
    wanted = possible(shared=_shares(mix))
    yield f"  pairs           possible  judged  under {ENOUGH}  lowest"
    for table in TABLES:
        counted = sorted((hits.get(pair, 0), pair) for pair in wanted if pair[0] == table)
        lowest = ", ".join(f"{n} {a} / {b}" for n, (_, a, b) in counted[:_LOWEST])
        met, few = sum(n > 0 for n, _ in counted), sum(n < ENOUGH for n, _ in counted)
        yield f"  {table:15} {len(counted):>8}  {met:>6}  {few:>8}  {lowest}"
    for line in surprises(state, mix):
        yield f"  {line}"


def surprises(state: SweepState, mix: str) -> Iterator[str]:
    """Pairs that came up although `execute.pairs` says that they cannot."""
    for (table, a, b), n in state.pairs(mix).items():
        why = impossible(table, a, b, shared=_shares(mix))
        if why:
            yield f"judged {n} times, and thought impossible: {table}, {a} / {b} ({why})"


def pair_lines(state: SweepState, mix: str) -> Iterator[str]:
    """Every pair, the rarest first; then those that cannot be, with the reason."""
    hits, shared = state.pairs(mix), _shares(mix)
    for table, firsts, seconds in TABLES.values():
        for n, a, b in sorted((hits.get((table, a, b), 0), a, b) for a in firsts for b in seconds):
            why = impossible(table, a, b, shared=shared)
            yield f"{table}  {'-' if why else n:>7}  {a} / {b}" + (f"  impossible: {why}" if why else "")


def _shares(mix: str) -> bool:
    return mix == "shared-inputs"


def finding_text(finding: Finding) -> str:
    now = f"{finding.now} {finding.now_detail}".strip()
    checked = f"with pass {finding.checked}: {now}" if finding.checked else "not judged again"
    head = f"{finding.detail}  pass {finding.found_by}, mix {finding.mix}, seed {finding.seed}, program {finding.place}"
    return "\n".join([head, f"  {checked}", *program_lines(finding.program)])
