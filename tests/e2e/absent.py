"""A backend whose compiler is not installed."""

from __future__ import annotations

from inplace_fuzz.core import Unavailable
from tests.planted.deaths import Deadly, nothing


class Absent(Deadly):
    def version(self) -> str:
        raise Unavailable("absent is not installed; pip install inplace-fuzz[absent]")


ABSENT = Absent("absent", nothing)
