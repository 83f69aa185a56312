"""The words that every room shares. Importing this needs no torch; `core.materialize` alone does."""

from inplace_fuzz.core.backend import (
    Backend,
    Compiled,
    Refusal,
    Requirements,
    Unavailable,
    base_name,
    installed_version,
    names_code,
    split_column,
)
from inplace_fuzz.core.observation import CallSeen, Observation, TensorSeen
from inplace_fuzz.core.program import Program, ProgramError
from inplace_fuzz.core.spec import Arg, SpecError, TensorSpec, default_spec
from inplace_fuzz.core.text import ParsedFile, parse, render
from inplace_fuzz.core.verdict import ALL_CHANNELS, OUTPUT_CHANNELS, Channel, Difference, Kind, Lane, Verdict, lane_key

__all__ = [
    "ALL_CHANNELS",
    "OUTPUT_CHANNELS",
    "Arg",
    "Backend",
    "CallSeen",
    "Channel",
    "Compiled",
    "Difference",
    "Kind",
    "Lane",
    "Observation",
    "ParsedFile",
    "Program",
    "ProgramError",
    "Refusal",
    "Requirements",
    "SpecError",
    "TensorSeen",
    "TensorSpec",
    "Unavailable",
    "Verdict",
    "base_name",
    "default_spec",
    "installed_version",
    "lane_key",
    "names_code",
    "parse",
    "render",
    "split_column",
]
