"""The functionalisation pass: a program with in-place writes becomes one without, that does the same.

    functionalize(module_or_graph, example_inputs)   a module (or a graph) that writes nothing but its write-backs
    rewrite_graph(graph)                             the same for one TorchScript graph, as fast as it goes
    writing_operators(graph)                         what still writes in a graph; empty when it is functional
    graph_text(graph)                                a graph as a person reads it
    legalise(graph_module, "tvm")                    what one compiler cannot import, in words that it can
    without_state(graph_module)                      what it writes as outputs, for a compiler that keeps no state
    UnsupportedMutation                              raised for whatever the pass cannot prove

Importing this module does not import torch; using a name from it does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .errors import UnsupportedMutation

if TYPE_CHECKING:
    from .api import Explained, functionalize, rewrite_graph
    from .legal import legalise
    from .legality import writing_operators
    from .rules import DEFAULT_RULES, Policy, Rules
    from .stateless import Stateless, without_state
    from .text import graph_text

_HOME = {
    "functionalize": "api",
    "Explained": "api",
    "rewrite_graph": "api",
    "legalise": "legal",
    "Stateless": "stateless",
    "without_state": "stateless",
    "writing_operators": "legality",
    "DEFAULT_RULES": "rules",
    "Policy": "rules",
    "Rules": "rules",
    "graph_text": "text",
}

__all__ = [
    "DEFAULT_RULES",
    "Explained",
    "Policy",
    "Rules",
    "Stateless",
    "UnsupportedMutation",
    "functionalize",
    "graph_text",
    "legalise",
    "rewrite_graph",
    "without_state",
    "writing_operators",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
