"""The score as a person or a program reads it: text, Markdown, CSV, JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from inplace_fuzz.conformance.score import OUTCOMES, Row, Score, as_data

_HEAD = ("", "cases", *OUTCOMES, "read so", "second inputs", "right", "refused", "wrong", "still write")
_LEGEND = (
    "read so: of those that do not agree, what script, trace or export, from which the row starts, gets wrong already.",
    "second inputs: cases right on the first inputs that have others, of the same types, which take another path.",
    "still write: programs made that hold an operator that writes, beside one write-back for each input or buffer.",
)


def rendered(scores: Sequence[Score], versions: Sequence[str], form: str) -> str:
    """The whole report in one of `conformance.FORMATS`."""
    if form == "json":
        return json.dumps({"versions": list(versions), "scores": as_data(scores)}, indent=1)
    if form == "csv":
        out = io.StringIO()
        data = as_data(scores)
        writer = csv.DictWriter(out, list(data[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(data)
        return out.getvalue().rstrip("\n")
    table = _markdown if form == "md" else _text
    rows = list(dict.fromkeys(s.row for s in scores))
    parts = [", ".join(versions), table(_HEAD, [_line(row, scores) for row in rows]), *_LEGEND]
    parts += ["Agreement per family, with all inputs:", table(*_families(rows, scores))]
    parts += _failures(rows, scores, form)
    return "\n\n".join(parts)


def _line(row: Row, scores: Sequence[Score]) -> list[str]:
    mine = [s for s in scores if s.row is row]
    others = [s for s in mine if s.second is not None]
    counts = [str(sum(s.outcome == o for s in mine)) for o in OUTCOMES]
    second = [
        str(sum(s.outcome == "agree" for s in others)),
        str(sum(s.outcome == "refused" for s in others)),
        str(sum(s.outcome in ("mismatch", "error") for s in others)),
    ]
    made = str(sum(bool(s.still_writes) for s in mine)) if row.pure else "-"
    blame = str(sum(s.reader_too and s.outcome != "agree" for s in mine)) if row.reader else "-"
    return [row.label, str(len(mine)), *counts, blame, str(len(others)), *second, made]


def _families(rows: Sequence[Row], scores: Sequence[Score]) -> tuple[tuple[str, ...], list[list[str]]]:
    """Families downwards, rows across by number; the numbers are those of the lines of the first table."""
    head = ("", "cases", *(f"({k})" for k in range(1, len(rows) + 1)))
    lines = []
    for family in dict.fromkeys(s.family for s in scores):
        mine = [s for s in scores if s.family == family]
        agreed = [sum(s.outcome == "agree" for s in mine if s.row is row) for row in rows]
        lines.append([family, str(len({s.case.name for s in mine})), *map(str, agreed)])
    return head, lines


def _failures(rows: Sequence[Row], scores: Sequence[Score], form: str) -> list[str]:
    """Every case that does not agree, by row, with the reason in one line."""
    parts = []
    for row in rows:
        wrong = [s for s in scores if s.row is row and s.outcome != "agree"]
        if wrong:
            title = f"{row.label}: {len(wrong)} that do not agree"
            parts.append(f"**{title}**" if form == "md" else title)
            parts.append("\n".join(_failure(s, form) for s in wrong))
    return parts


def _failure(score: Score, form: str) -> str:
    reason = score.reason.replace("\n", " ")[:200] + (" (read so)" if score.reader_too else "")
    if form == "md":
        quoted = reason.replace("`", "'").replace("|", "\\|")
        return f"- `{score.case.name}`: {score.verdict}. {quoted}"
    return f"  {score.case.name:44} {score.verdict!s:28} {reason}".rstrip()


def _text(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    table = [head, *lines]
    widths = [max(len(line[k]) for line in table) for k in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in table
    )


def _markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rule, *lines))
