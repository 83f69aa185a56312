"""`write_report`: a campaign's store as files that people and machines read.

report.html   one file that works offline: plots inline, no script, nothing fetched
report.md     the same in Markdown, for a job summary or an issue
runs.csv      one row per run × backend × lane × verdict
junit.xml     one test case per backend and lane
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from inplace_fuzz.corpus import write_atomically
from inplace_fuzz.report import plots
from inplace_fuzz.report.causes import by_section
from inplace_fuzz.report.frames import read_frames, run_rows
from inplace_fuzz.report.junit import render_junit
from inplace_fuzz.report.tables import LANES, Content, content, gain, percent


@dataclass(frozen=True)
class Report:
    """What was written, and the sentence that it begins with."""

    paths: tuple[Path, ...]
    headline: str

    @property
    def page(self) -> Path:
        """The file for people."""
        return self.paths[0]


def write_report(store_path: Path, directory: Path, *, corpus: Path, runs: Sequence[int] | None = None) -> Report:
    """Writes the report of a store's runs, all of them by default, into a directory, which is made where it is missing.

    Raises StoreError for a store that cannot be read, and CorpusError for a directory that cannot be written.
    """
    frames = read_frames(store_path, runs)
    said = content(frames, corpus)
    links = _corpus_links(corpus, directory)
    texts = {
        "report.html": render_html(said, links),
        "report.md": render_markdown(said, links),
        "runs.csv": run_rows(frames).to_csv(index=False, float_format="%.3f"),
        "junit.xml": render_junit(said),
    }
    for name, text in texts.items():
        write_atomically(directory / name, text)
    return Report(tuple(directory / name for name in texts), said.headline)


def _corpus_links(corpus: Path, directory: Path) -> str:
    """The corpus as the report's files reach it, relative where both are on one disk tree."""
    return Path(os.path.relpath(corpus.resolve(), directory.resolve())).as_posix()


def render_html(said: Content, links: str) -> str:
    drawn = {
        "verdicts": plots.verdict_bars(said) if said.lanes else "",
        "lift": plots.lift_bars(said) if said.lift else "",
        "over_time": plots.causes_over_time(said) if any(c.standing == "new" for c in said.causes) else "",
    }
    return _environment().get_template("report.html").render(plots=drawn, **_names(said, links)) + "\n"


def render_markdown(said: Content, links: str) -> str:
    return _environment().get_template("report.md").render(**_names(said, links)).rstrip() + "\n"


def _names(said: Content, links: str) -> dict[str, Any]:
    return {
        "content": said,
        "sections": by_section(said.causes),
        "links": links,
        "percent": percent,
        "gain": gain,
        "lanes": LANES,
        "colours": {str(kind): colour for kind, colour in plots.COLOURS.items()},
    }


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("inplace_fuzz.report", "templates"),
        autoescape=select_autoescape(["html"]),  # Markdown shows programs in fences, as they are
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
