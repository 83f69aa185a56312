"""Reports and the live display. Nothing is imported until it is asked for: pandas and matplotlib take a second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inplace_fuzz.report.live import PlainListener, RichListener, choose
    from inplace_fuzz.report.write import Report, write_report

__all__ = ["PlainListener", "Report", "RichListener", "choose", "write_report"]


def __getattr__(name: str) -> Any:
    if name in ("Report", "write_report"):
        from inplace_fuzz.report import write

        return getattr(write, name)
    if name in ("PlainListener", "RichListener", "choose"):
        from inplace_fuzz.report import live

        return getattr(live, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
