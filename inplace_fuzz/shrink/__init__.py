"""Shrinking: from a program that shows a fault to the one that a person would report."""

from inplace_fuzz.shrink.abstract import canonical, canonical_key
from inplace_fuzz.shrink.engine import Shrunk, shrink
from inplace_fuzz.shrink.measure import operators, rank, size, statements
from inplace_fuzz.shrink.passes import PASSES, Reducer

__all__ = [
    "PASSES",
    "Reducer",
    "Shrunk",
    "canonical",
    "canonical_key",
    "operators",
    "rank",
    "shrink",
    "size",
    "statements",
]
