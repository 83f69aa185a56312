"""Values that people type, for the command line and the pytest plugin alike."""

from __future__ import annotations

import re

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)$")


def parse_duration(text: str) -> float:
    """`90`, `90s`, `10m` or `2h`, in seconds. Raises ValueError, with an example, for anything else and for nothing."""
    match = _DURATION.match(text.strip())
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if seconds <= 0:
        raise ValueError(f"{text!r} is not a length of time above zero; write for example 60s, 10m or 2h")
    return seconds


def parse_shard(text: str) -> tuple[int, int]:
    """`2/4` as (2, 4). Raises ValueError, with an example, unless 1 <= i <= n."""
    match = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ValueError(f"{text!r} is not a shard; write i/n with i from 1 to n, for example 2/4")
    return int(match[1]), int(match[2])
