"""Draws programs that write in place through views: Hypothesis strategies that execute while they draw."""

from inplace_fuzz.generate.features import FEATURES, Feature
from inplace_fuzz.generate.mix import CONTROL_FLOW, DEFAULT, ROUNDING, SHARED_INPUTS, Mix
from inplace_fuzz.generate.strategy import draw_many, programs

__all__ = [
    "CONTROL_FLOW",
    "DEFAULT",
    "FEATURES",
    "ROUNDING",
    "SHARED_INPUTS",
    "Feature",
    "Mix",
    "draw_many",
    "programs",
]
