"""A program in words: a file-name stem and a sentence, from its features."""

from __future__ import annotations

import ast
import re

from inplace_fuzz.core.program import Program
from inplace_fuzz.core.reading import Features, Reader, Write
from inplace_fuzz.core.verdict import Kind, Verdict

_LENGTH = 48
_LATER = {
    "zero_": "zero",
    "fill_": "fill",
    "add_": "add",
    "mul_": "mul",
    "copy_": "copy",
    "setitem": "write",
    "augmented": "augment",
}
_WRITE_WORD = {"setitem": "write", "augmented": "augment", "out=": "out", "data": "data-swap", "setattr": "rebind"}


def slug(program: Program) -> str:
    """A short, readable file-name stem, such as `snapshot-then-zero`, `separated-indices`, `slice-of-select-add`."""
    reader = Reader(program)
    found = reader.read()
    words = _pattern_words(reader, found) or _index_words(found) or _view_words(reader, found)
    if "loop" in found.control or "if" in found.control:
        words.append("in-loop" if "loop" in found.control else "in-if")
    if any(t in found.targets for t in ("buffer", "parameter", "attribute")):
        words.insert(0, "buffer")
    stem = re.sub(r"[^a-z0-9]+", "-", "-".join(words).lower()).strip("-")
    return stem[:_LENGTH].rstrip("-") or "program"


def title(program: Program, verdict: Verdict | None = None) -> str:
    """One plain sentence that says what the program does, and what came of it where a verdict is given."""
    reader = Reader(program)
    found = reader.read()
    clauses = [_clause(w) for w in reader.writes[:3]]
    if len(reader.writes) > 3:
        clauses.append(f"makes {len(reader.writes) - 3} more writes")
    text = _joined([*clauses, _return_clause(program)]) if clauses else _functional(program, found)
    where = " in a loop" if "loop" in found.control else " under an if" if "if" in found.control else ""
    sentence = text[:1].upper() + text[1:] + where
    return f"{sentence}{_outcome(verdict)}."


def _pattern_words(reader: Reader, found: Features) -> list[str]:
    if "snapshot" in found.patterns:
        copies = {v.copied for v in reader.returned if v.copied}
        later = [w for w in reader.writes if w.into.memory in copies]
        return ["snapshot", "then", _LATER.get(later[-1].how, later[-1].how.strip("_="))]
    return []


def _index_words(found: Features) -> list[str]:
    for kind, word in (
        ("separated", "separated-indices"),
        ("several", "index-pair"),
        ("bool_mask", "mask"),
        ("int_list", "list-index"),
        ("index_tensor", "index"),
    ):
        if kind in found.indices:
            words = [word] + (["with", "slice"] if "mixed" in found.indices and kind != "separated" else [])
            if "accumulate" in found.writes:
                words.append("accumulate")
            how = [h for h in found.writes if h not in ("setitem", "accumulate", "index_put_") and ":" not in h]
            return words + [_WRITE_WORD.get(h, h.strip("_=")) for h in how[:1]]
    return []


def _view_words(reader: Reader, found: Features) -> list[str]:
    words: list[str] = []
    if reader.writes:
        last = reader.writes[-1]
        chain = _chain(last, reader)
        words = "-of-".join(chain[:3]).split("-") if chain else []
        words.append(_WRITE_WORD.get(last.how, last.how.strip("_=")))
        if "self_read" in found.patterns:
            words.append("from-itself")
        elif "two_writes" in found.patterns:
            words = ["two-writes", *words]
    else:
        words = [w.removeprefix("functional:") for w in found.writes[:1]] or list(found.views[:2]) or ["no-write"]
    return words


def _chain(write: Write, reader: Reader) -> list[str]:
    """The view steps of a write's target, outermost last, a named view followed to where it was made."""
    steps: list[str] = []
    node: ast.expr = write.target
    views = {s.targets[0].id: s.value for s in ast.walk(reader.program.forward)
             if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)}  # fmt: skip
    while len(steps) < 4:
        match node:
            case ast.Subscript(value=value):
                kinds = [k for k in reader.kinds(node) if k not in ("full", "mixed", "several")]
                steps.append("step" if "step" in kinds else kinds[0] if kinds else "full")
                node = value
            case ast.Call(func=ast.Attribute(value=value, attr=attr)) if not attr.endswith("_"):
                if isinstance(value, ast.Name) and value.id == "torch":
                    break
                steps.append(attr)
                node = value
            case ast.Attribute(value=value, attr="T" | "mT"):
                steps.append("transpose")
                node = value
            case ast.Name(id=name) if name in reader.named_views and name in views:
                node = views.pop(name)
            case _:
                break
    return [s for s in steps if s != "clone"]


def _clause(write: Write) -> str:
    target = _short(write.target)
    value = "" if write.value is None else _short(write.value)
    match write.how:
        case "setitem":
            return f"writes {value} into {target}"
        case "augmented":
            return f"updates {target} in place"
        case "out=":
            return f"computes into {target}"
        case "setattr" | "data":
            return f"sets {target}"
        case "zero_":
            return f"zeroes {target}"
        case "fill_":
            return f"fills {target} with {value}"
        case "copy_":
            return f"copies {value} into {target}"
    return (
        f"writes through {target} with {write.how}"
        if isinstance(write.target, (ast.Subscript, ast.Call))
        else f"calls {write.how} on {target}"
    )


def _return_clause(program: Program) -> str:
    for node in reversed(program.forward.body):
        if isinstance(node, ast.Return) and node.value is not None:
            return f"returns {_short(node.value)}"
    return "returns nothing"


def _functional(program: Program, found: Features) -> str:
    used = [w.removeprefix("functional:") for w in found.writes]
    return _return_clause(program) + (f", using {', '.join(used)}" if used else "")


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    if isinstance(node, ast.Tuple) and text.startswith("("):
        text = text[1:-1]
    return text if len(text) <= 40 else text[:37] + "..."


def _joined(clauses: list[str]) -> str:
    return clauses[0] if len(clauses) == 1 else ", ".join(clauses[:-1]) + " and " + clauses[-1]


def _outcome(verdict: Verdict | None) -> str:
    if verdict is None or verdict.kind is Kind.AGREE:
        return ""
    match verdict.kind:
        case Kind.MISMATCH:
            seen = ", ".join(verdict.channels)
            return f": {seen or 'what the caller sees'} differ" + (
                " from run to run" if verdict.nondeterministic else ""
            )
        case Kind.CRASH:
            return f": the process dies ({verdict.signal or 'no signal'})"
        case Kind.TIMEOUT:
            return ": it does not end in time"
        case Kind.OUT_OF_MEMORY:
            return ": it runs out of memory"
        case Kind.FLAKY:
            return ": the result is not always right"
        case Kind.REFUSED:
            return ": not supported"
    return f": fails{f' in {verdict.stage}' if verdict.stage else ''}"
