"""Named operations that the supervisor can ask of a worker, because they need torch or run a program's text.

Each takes a JSON object and returns one. A new one is a function and a row of the table at the end. What a function
raises reaches the asker as `OperationFailed` (a ProgramError as itself); what it breaks breaks its worker alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from inplace_fuzz.core.backend import Unavailable
from inplace_fuzz.core.program import Program, ProgramError
from inplace_fuzz.execute.classify import one_line
from inplace_fuzz.execute.graphs import graphs, rename
from inplace_fuzz.execute.sweeping import recheck, sweep

Payload = dict[str, Any]


def describe(payload: Payload) -> Payload:
    """`{"text", "name", "trust"}` -> `{"program"}`: a program file with its `inputs()` evaluated, as Program JSON."""
    from inplace_fuzz.core.materialize import describe_call, load_namespace
    from inplace_fuzz.core.text import parse

    name = payload.get("name", "this file")
    parsed = parse(payload["text"], name=name, trust=payload.get("trust", False))
    calls = parsed.calls
    if calls is None:
        try:
            names = load_namespace(parsed.runs)
            makers = [names[key] for key in sorted((k for k in names if _is_inputs(k)), key=_inputs_order)]
            made = [make() for make in makers]
        except BaseException as error:  # noqa: BLE001 - the file's own code may raise anything, SystemExit too
            raise ProgramError(f"running {name} to make its inputs raised {one_line(error)}") from None
        calls = tuple(describe_call(tuple(m) if isinstance(m, (tuple, list)) else (m,)) for m in made)
    program: Program = parsed.program(calls)
    return {"program": program.to_json()}


def _is_inputs(name: str) -> bool:
    return name == "inputs" or (name.startswith("inputs_") and name[7:].isdigit())


def _inputs_order(name: str) -> int:
    return int(name[7:] or 1)


def versions(payload: Payload) -> Payload:
    """`{"backends": [name...]}` -> for each name its version, channels and lanes, or why it is unavailable."""
    from inplace_fuzz.backends import load

    answer: Payload = {}
    for name in payload["backends"]:
        try:
            backend = load(name)
            answer[name] = {
                "version": backend.version(),
                "channels": sorted(backend.channels),
                "lanes": list(backend.lanes),
            }
        except Unavailable as error:
            answer[name] = {"unavailable": str(error)}
        except Exception as error:  # noqa: BLE001 - a broken installation is news about that backend, not an end of ours
            answer[name] = {"unavailable": f"{type(error).__name__}: {error}"}
    return answer


OPERATIONS: dict[str, Callable[[Payload], Payload]] = {
    #  name        what it takes and gives is the first line of its function
    "describe": describe,
    "versions": versions,
    "graphs": graphs,
    "rename": rename,
    "sweep": sweep,
    "recheck": recheck,
}
