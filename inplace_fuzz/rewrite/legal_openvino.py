"""OpenVINO, from an ExportedProgram: what its front end has no converter for or trips over.

Seen with 2026.4: no `index_put` and no `scatter_reduce`; a `clone` of something that is returned too ends in "Tensor
name is not a number".
"""

from __future__ import annotations

from typing import Any

from .legal_parts import CHOOSE, PUT, by_scatter
from .legal_rules import COMMON, COPIES, VIEWS

_RULES: dict[Any, Any] = {**COMMON, **COPIES, **VIEWS, PUT: by_scatter, CHOOSE: True}
PASSES = (_RULES, COPIES)
