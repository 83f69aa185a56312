"""Lets campaigns import the planted backends, and sees what they leave behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inplace_fuzz.execute import processes

_ROOT = str(Path(__file__).resolve().parents[2])
if _ROOT not in sys.path:
    sys.path.insert(0, _ROOT)


@pytest.fixture(autouse=True)
def _subreaper() -> Iterator[None]:
    """Whatever escapes from its own parents becomes a child of this process."""
    processes.hold_subreaper()
    yield
    processes.release_subreaper()
