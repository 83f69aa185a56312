"""The worker's end of drawing: runs a generator for one stretch and sends what it gives.

`generator` is `module:function`, called as `function(seed, count, emit)`, and emits Programs: the same for the same
seed. It may also take `announce`, to be called with the text of each statement before it is run, so that a crash of
eager can be told with the statement that did it. A mix is given by name: as `mix`, or, to a generator that takes
`features`, as the constant of its module that has this name (`control-flow` is `CONTROL_FLOW`).
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from mmap import mmap
from typing import Any

from inplace_fuzz.core.program import Program
from inplace_fuzz.execute import frames


def draw(request: dict[str, Any], send: Callable[[dict[str, Any]], None], page: mmap) -> bool:
    """Sends each program as it is drawn. False, after sending `failed`, when the generator raises."""

    def emit(program: Program) -> None:
        send({"program": program.to_json()})

    def announce(statement: str) -> None:
        frames.write_statement(page, statement)

    module, _, name = request["generator"].partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
        takes = inspect.signature(function).parameters
        options: dict[str, Any] = {"announce": announce} if "announce" in takes else {}
        if request["mix"] is not None:
            options |= mix_options(request["mix"], module, takes)
        function(request["seed"], request["count"], emit, **options)
    except Exception as error:  # noqa: BLE001 - a generator that raises is told to whoever draws, and drawing goes on
        send({"failed": [type(error).__name__, str(error)]})
        return False
    return True


def mix_options(name: str, module: str, takes: Mapping[str, inspect.Parameter]) -> dict[str, Any]:
    """The options by which a generator takes the mix of this name."""
    if "features" not in takes:
        return {"mix": name}
    known = vars(importlib.import_module(module))
    constant = name.upper().replace("-", "_")
    if constant not in known:
        kind = type(known.get("DEFAULT"))
        names = sorted(k.lower().replace("_", "-") for k, v in known.items() if k.isupper() and type(v) is kind)
        raise ValueError(f"there is no mix {name!r}; choose from {', '.join(names)}")
    return {"features": known[constant]}
