"""The run as it goes: a live table on a terminal, a line every few seconds elsewhere.

Both are listeners of a campaign (`campaign.run.Listener`) and context managers; leaving one says the last totals and
gives the terminal back:

    with choose(sys.stdout) as listener:
        Campaign(config, listener).run()
"""

from __future__ import annotations

import atexit
import time
from collections import Counter
from typing import Protocol, Self, TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from inplace_fuzz.campaign.run import Listener, Progress
from inplace_fuzz.campaign.store import Finding
from inplace_fuzz.core import Kind
from inplace_fuzz.report.words import KINDS, counted, counts, duration, found_lines, rate

_REFRESH = 0.25  # seconds between redraws of the table
_HEARTBEAT = 5.0  # seconds between lines where there is no terminal
_MEASURED = 3.0  # seconds of exploring before a rate means anything
_STYLES = {
    Kind.AGREE: "green",
    Kind.MISMATCH: "bold red",
    Kind.CRASH: "bold red",
    Kind.TIMEOUT: "red",
    Kind.OUT_OF_MEMORY: "red",
    Kind.ERROR: "yellow",
    Kind.FLAKY: "magenta",
}


class Display(Listener, Protocol):
    """A listener that holds a terminal or a stream until it is closed. `finish` shows this last state and closes."""

    def finish(self, progress: Progress) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *error: object) -> None: ...


def choose(stream: TextIO) -> Display:
    """The live table where `stream` is a terminal that can show one, else heartbeat lines."""
    console = Console(file=stream)
    if console.is_terminal and not console.is_dumb_terminal:
        return RichListener(console)
    return PlainListener(stream)


class PlainListener:
    """One heartbeat line every few seconds; findings and notes as they come."""

    def __init__(self, stream: TextIO, *, every: float = _HEARTBEAT) -> None:
        self.stream = stream
        self.every = every
        self._last = 0.0
        self._progress: Progress | None = None

    def on_start(self, progress: Progress) -> None:
        for line in start_lines(progress):
            self._say(line)
        self._last = time.monotonic()

    def on_progress(self, progress: Progress) -> None:
        self._progress = progress
        if time.monotonic() - self._last >= self.every:
            self._last = time.monotonic()
            self._say(heartbeat(progress))

    def on_found(self, finding: Finding, version: str) -> None:
        self._say("\n".join(["", *found_lines(finding, version), ""]))

    def on_note(self, text: str) -> None:
        self._say(f"note: {text}")

    def finish(self, progress: Progress) -> None:
        self._progress = progress
        self.close()

    def close(self) -> None:
        """Says the last totals, once."""
        if self._progress is not None:
            self._say(heartbeat(self._progress))
            self._progress = None

    def _say(self, text: str) -> None:
        self.stream.write(text + "\n")
        self.stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class RichListener:
    """A table that redraws in place, with findings and notes printed above it."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._live: Live | None = None
        self._progress: Progress | None = None
        self._drawn = 0.0

    def on_start(self, progress: Progress) -> None:
        for line in start_lines(progress):
            self.console.print(Text(line))
        self._live = Live(console=self.console, auto_refresh=False, vertical_overflow="visible")
        self._live.start()
        atexit.register(self.close)  # a caller that forgets to close would leave the cursor hidden
        self._redraw(progress)

    def on_progress(self, progress: Progress) -> None:
        if time.monotonic() - self._drawn >= _REFRESH:
            self._redraw(progress)

    def on_found(self, finding: Finding, version: str) -> None:
        head, *rest = found_lines(finding, version)
        self.console.print(Text(""), Text(head, style="bold red"), *map(Text, rest), Text(""), sep="\n", soft_wrap=True)

    def on_note(self, text: str) -> None:
        self.console.print(Text(f"note: {text}", style="dim"))

    def finish(self, progress: Progress) -> None:
        self._progress = progress
        self.close()

    def close(self) -> None:
        """Leaves the last table on the screen and gives the cursor back. Safe to call twice."""
        if self._live is not None:
            if self._progress is not None:
                self._redraw(self._progress)
            self._live.stop()
            self._live = None
            atexit.unregister(self.close)

    def _redraw(self, progress: Progress) -> None:
        self._progress = progress
        self._drawn = time.monotonic()
        if self._live is not None:
            self._live.update(picture(progress), refresh=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


# ------------------------------------------------------------------------------------------------------------ in words
def start_lines(progress: Progress) -> list[str]:
    """What runs, and what does not and why."""
    lines = [f"backends  {', '.join(f'{name} ({version})' for name, version in progress.versions.items())}"]
    return lines + [f"not here  {name}: {reason}" for name, reason in progress.unavailable.items()]


def totals(progress: Progress) -> str:
    """Elapsed, programs, programs per second once that can be told, and what the time went into."""
    elapsed = time.monotonic() - progress.started if progress.started else 0.0
    parts = [duration(elapsed), counted(progress.programs, "program")]
    if progress.explored >= _MEASURED:
        parts.append(f"{rate(progress.programs, progress.explored)}/s")
    if progress.shrunk:
        parts += [f"explored for {duration(progress.explored)}", f"shrunk for {duration(progress.shrunk)}"]
    return "  ".join(parts)


def findings_line(progress: Progress) -> str:
    """`2 new findings, 1 to shrink, 31 times a known one`."""
    parts = [counted(len(progress.found), "new finding")]
    if progress.waiting:
        parts.append(f"{progress.waiting} to shrink")
    if met := sum(progress.known.values()):
        parts.append("a known one met once" if met == 1 else f"known ones met {met} times")
    return ", ".join(parts)


def per_backend(progress: Progress) -> dict[str, Counter[str]]:
    """Verdict kinds of each backend, its lanes together."""
    sums: dict[str, Counter[str]] = {}
    for key in progress.tallies:
        sums.setdefault(key[0], Counter()).update(progress.kinds(key))
    return sums


def heartbeat(progress: Progress) -> str:
    """The whole state in one line."""
    backends = "  ".join(f"{name}: {counts(kinds) or 'nothing yet'};" for name, kinds in per_backend(progress).items())
    doing = f"  {progress.phase}" if progress.phase.startswith("shrinking") else ""  # nothing else moves meanwhile
    return f"{totals(progress)}{doing}  {findings_line(progress)}  {backends}".rstrip(" ;")


def picture(progress: Progress) -> Group:
    """The live table."""
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    table.add_column("backend")
    table.add_column("lane")
    tallies = {key: progress.kinds(key) for key in progress.tallies}
    seen = [kind for kind in KINDS if kind is Kind.AGREE or any(t[kind] for t in tallies.values())]
    for kind in seen:
        table.add_column(kind.replace("_", " "), justify="right")
    before = ""
    for (backend, lane), tally in tallies.items():
        cells = [
            Text(str(tally[k]) if tally[k] else "·", style=_STYLES.get(k, "") if tally[k] else "dim") for k in seen
        ]
        table.add_row(backend if backend != before else "", lane, *cells)
        before = backend
    found = Text(findings_line(progress), style="bold" if progress.found else "")
    return Group(Text(""), table, Text(""), Text(f"{totals(progress)}  {progress.phase}"), found)
