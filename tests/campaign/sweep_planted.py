"""Passes for sweeps to judge: one that kills its process now and then, and one that raises what a pass may not."""

from __future__ import annotations

import os
import signal
from typing import Any

from inplace_fuzz.rewrite import rewrite_graph


def kills(graph: Any, example: Any) -> Any:
    """Dies of every program that takes a diagonal."""
    if "aten::diagonal" in str(graph):
        os.kill(os.getpid(), signal.SIGSEGV)
    return rewrite_graph(graph, example)


def raises(graph: Any, example: Any) -> Any:
    """Raises KeyError for every program that takes a diagonal."""
    if "aten::diagonal" in str(graph):
        raise KeyError("aten::diagonal")
    return rewrite_graph(graph, example)
