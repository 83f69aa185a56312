"""Three plots as inline SVG: verdicts per backend and lane, root causes over time, and what the pass is worth.

They use matplotlib's figures without pyplot, so that no display and no global state is involved, and fixed ids, so that
the same store gives the same file.
"""

from __future__ import annotations

import io
import re
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from inplace_fuzz.core import Kind
from inplace_fuzz.report.causes import SILENT
from inplace_fuzz.report.tables import LANES, Content, LaneRow, percent

COLOURS = {
    Kind.AGREE: "#8fbf9f",
    Kind.MISMATCH: "#c0392b",
    Kind.CRASH: "#6c1f1a",
    Kind.TIMEOUT: "#8e5a2b",
    Kind.OUT_OF_MEMORY: "#b08050",
    Kind.ERROR: "#e0a030",
    Kind.FLAKY: "#8e63a8",
    Kind.REFUSED: "#b8c4d0",
    Kind.INVALID: "#e4e4e4",
}
_LANE_COLOURS = dict(zip(LANES, ("#9aa7b4", "#5d88b0", "#1f4e79"), strict=True))
_STYLE: Any = {
    "svg.fonttype": "none",  # text stays text: small, sharp, and found by a browser's search
    "svg.hashsalt": "inplace-fuzz",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#999999",
    "xtick.color": "#555555",
    "ytick.color": "#222222",
}


def verdict_bars(content: Content) -> str:
    """Shares of verdicts, one bar per backend and lane."""
    rows = content.lanes
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(7.6, 0.9 + 0.27 * len(rows))
        left = [0.0] * len(rows)
        for kind in content.kinds:
            shares = [100 * row.counts.get(kind, 0) / max(sum(row.counts.values()), 1) for row in rows]
            axes.barh(range(len(rows)), shares, left=left, color=COLOURS[Kind(kind)], label=kind.replace("_", " "))
            left = [x + share for x, share in zip(left, shares, strict=True)]
        axes.set_yticks(range(len(rows)), [f"{row.backend}  {row.lane}" for row in rows])
        for k, row in enumerate(rows):
            axes.text(101, k, f"{sum(row.counts.values()):,}", va="center", color="#555555", fontsize=8)
        _percent_axis(axes)
        axes.invert_yaxis()
        axes.legend(
            ncols=len(content.kinds),
            columnspacing=1.0,
            handlelength=1.2,
            loc="lower left",
            bbox_to_anchor=(0, 1.0),
            frameon=False,
            fontsize=8,
            borderpad=0,
        )
        return _svg(figure)


def lift_bars(content: Content) -> str:
    """Agreement per lane of the compilers that are reached by several."""
    rows = [row for row in content.lanes if row.backend in {lift.backend for lift in content.lift}]
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(7.6, 0.6 + 0.27 * len(rows))
        places, labels = _places(rows)
        shares = [100 * (row.agreement or 0.0) for row in rows]
        axes.barh(places, shares, color=[_LANE_COLOURS[row.lane] for row in rows], height=0.8)
        for place, row, share in zip(places, rows, shares, strict=True):
            axes.text(share + 0.8, place, percent(row.agreement), va="center", fontsize=8, color="#333333")
        axes.set_yticks(places, labels)
        _percent_axis(axes)
        axes.invert_yaxis()
        return _svg(figure)


def _places(rows: list[LaneRow]) -> tuple[list[float], list[str]]:
    """Where each bar stands, with a gap between backends."""
    places, labels, place = [], [], 0.0
    for k, row in enumerate(rows):
        place += 0.5 if k and row.backend != rows[k - 1].backend else 0.0
        places.append(place)
        labels.append(f"{row.backend}  {row.lane}")
        place += 1.0
    return places, labels


def causes_over_time(content: Content) -> str:
    """How many new root causes there were after so many seconds of a run, silent wrong values apart."""
    new = [c for c in content.causes if c.standing == "new"]
    with mpl.rc_context(_STYLE):
        figure, axes = _figure(7.6, 2.3)
        for label, colour, times in (
            ("all new root causes", "#444444", sorted(c.first for c in new)),
            ("silent wrong values", COLOURS[Kind.MISMATCH], sorted(c.first for c in new if c.section == SILENT)),
        ):
            xs = [0.0, *times]
            axes.step(xs, range(len(xs)), where="post", color=colour, label=label, linewidth=1.6)
            axes.plot(xs[1:], range(1, len(xs)), ".", color=colour, markersize=5)
        axes.set_xlabel("seconds after the run began")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.legend(loc="upper left", frameon=False, fontsize=8)
        return _svg(figure)


def _figure(width: float, height: float) -> tuple[Figure, Any]:
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def _percent_axis(axes: Any) -> None:
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    axes.tick_params(length=0)


def _svg(figure: Figure) -> str:
    """The figure as an `<svg>` element that scales with the page, and nothing of the file around it."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", text[text.index("<svg") :], flags=re.DOTALL)
    return re.sub(
        r'<svg ([^>]*?)height="[\d.]+pt"([^>]*?)width="([\d.]+)pt"', r'<svg \1\2style="width:\3pt"', svg, count=1
    )
