"""Every distinct selection of a small tensor, and programs that write through two of them, or through a chain of two.

Two selections are one where they pick the same elements in the same order into the same shape; the first spelling
stands. Spellings are slices (with steps, empty ones too), selects, `None`, lists of ints in any order, and masks.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import torch

from inplace_fuzz.rewrite import UnsupportedMutation, rewrite_graph, writing_operators

SHAPES = ((3, 3), (2, 2, 2))
BATCH = 32  # cases in one graph: compiling and rewriting have a cost for each graph


@dataclass(frozen=True)
class Selection:
    """What stands between brackets, and what it picks: `view` when it is a view and not a copy."""

    text: str
    shape: tuple[int, ...]
    view: bool


@cache
def selections(shape: tuple[int, ...]) -> tuple[Selection, ...]:
    """All of a shape, in a fixed order."""
    positions = torch.arange(torch.Size(shape).numel()).reshape(shape)
    found: dict[object, Selection] = {}
    for text, view in (*_basic(shape), *_indexed(shape), *_masks(shape)):
        try:
            picked = eval(f"x[{text}]", {"x": positions, "torch": torch})
        except IndexError:  # there is nothing to select from in an empty dimension
            continue
        found.setdefault((picked.shape, tuple(picked.reshape(-1).tolist())), Selection(text, tuple(picked.shape), view))
    return tuple(found.values())


def _slices(n: int) -> list[str]:
    """Every distinct slice of a dimension: the whole, the contiguous ones, steps, an empty one."""
    texts: dict[tuple[int, ...], str] = {}
    for a, b, step in [(0, n, 1), *itertools.product(range(n), range(1, n + 1), range(1, n))]:
        text = f"{a or ''}:{'' if b == n else b}" + (f":{step}" if step > 1 else "")
        texts.setdefault(tuple(range(n))[a:b:step], text)
    return list(texts.values())


def _ones(n: int) -> list[str]:
    return [*_slices(n), *map(str, range(n))]


def _basic(shape: tuple[int, ...]) -> Iterator[tuple[str, bool]]:
    if not shape:
        yield "None", True
        return
    for texts in itertools.product(*map(_ones, shape)):
        yield ", ".join(texts), True
    rest = [":"] * (len(shape) - 1)
    for one in (":", "1:", "0"):
        for at in range(len(shape) + 1):
            texts = [one, *rest]
            texts.insert(at, "None")
            yield ", ".join(texts), True


def _lists(n: int) -> list[str]:
    return [str(list(order)) for k in range(1, n + 1) for order in itertools.permutations(range(n), k)]


def _indexed(shape: tuple[int, ...]) -> Iterator[tuple[str, bool]]:
    """Lists in one dimension or several, with slices and selects in the others."""
    for where in itertools.product((False, True), repeat=len(shape)):
        if any(where):
            kinds = [_lists(n) if listed else _ones(n) for n, listed in zip(shape, where, strict=True)]
            for texts in itertools.product(*kinds):
                lengths = {text.count(",") for text, listed in zip(texts, where, strict=True) if listed}
                if len(lengths) == 1:
                    yield ", ".join(texts), False


def _masks(shape: tuple[int, ...]) -> Iterator[tuple[str, bool]]:
    for d, n in enumerate(shape):
        for bits in itertools.product((False, True), repeat=n) if n else ():
            yield ", ".join([":"] * d + [f"torch.tensor({list(bits)})"]), False
    size = torch.Size(shape).numel()
    for bits in itertools.product((False, True), repeat=size) if size and shape else ():
        mask = torch.tensor(bits).reshape(shape).tolist()
        yield f"torch.tensor({mask})", False


@dataclass(frozen=True)
class Case:
    """One program, as lines; `{x}` stands for its base, `{k}` for its number in a batch."""

    lines: tuple[str, ...]
    results: tuple[str, ...]

    def text(self, k: int) -> list[str]:
        return [line.format(x=f"x{k}", k=k) for line in self.lines]


def source_name(shape: tuple[int, ...]) -> str:
    return "s" + "_".join(map(str, shape))


def two_writes(shape: tuple[int, ...], first: Selection) -> Iterator[Case]:
    """`first` and then each other: views are taken before the writes, and looked at after them."""
    for second in selections(shape):
        looks = tuple(f"{n}{{k}} = {{x}}[{s.text}]" for n, s in (("v", first), ("w", second)) if s.view)
        writes = (
            _store("v{k}" if first.view else "", "{x}", first),
            f"w{{k}} += {source_name(second.shape)}" if second.view else _store("", "{x}", second),
        )
        yield Case((*looks, *writes), ("{x}", *(["v{k}"] if first.view else []), *(["w{k}"] if second.view else [])))


def chains(shape: tuple[int, ...], first: Selection) -> Iterator[Case]:
    """Each selection of the view that `first` gives."""
    for second in selections(first.shape) if first.view else ():
        looks = (f"v{{k}} = {{x}}[{first.text}]", *([f"w{{k}} = v{{k}}[{second.text}]"] if second.view else []))
        write = _store("w{k}" if second.view else "", "v{k}", second)
        yield Case((*looks, write), ("{x}", "v{k}", *(["w{k}"] if second.view else [])))


def _store(view: str, base: str, to: Selection) -> str:
    return f"{view}.copy_({source_name(to.shape)})" if view else f"{base}[{to.text}] = {source_name(to.shape)}"


# ------------------------------------------------------------------------------------------------------------- running
def disagreements(shape: tuple[int, ...], cases: list[Case]) -> list[str]:
    """The cases whose graph and rewritten graph differ, as text; they run in one graph, and again one by one."""
    why = ""
    try:
        if _agree(shape, cases):
            return []
    except (RuntimeError, UnsupportedMutation) as error:
        why = f"\n{error}"
    if len(cases) == 1:
        return ["\n".join([*cases[0].text(0), f"return {', '.join(cases[0].results)}"]) + why]
    return [text for case in cases for text in disagreements(shape, [case])]


def _agree(shape: tuple[int, ...], cases: list[Case]) -> bool:
    body = [line for k, case in enumerate(cases) for line in (f"x{k} = x.clone()", *case.text(k))]
    # Masks are passed in: made in the graph they would be most of its nodes, and the same for every case.
    masks = {text: f"m{k}" for k, text in enumerate(sorted({m for line in body for m in _MASK.findall(line)}))}
    body = [_MASK.sub(lambda found: masks[found.group()], line) for line in body]
    names = sorted({word for case in cases for line in case.lines for word in _sources(line)})
    results = [r.format(x=f"x{k}", k=k) for k, case in enumerate(cases) for r in case.results]
    lines = [f"def f({', '.join(['x', *masks.values(), *names])}):", *body, f"return {', '.join(results)},"]
    graph = torch.jit.CompilationUnit("\n    ".join(lines) + "\n").f.graph
    rewritten = rewrite_graph(graph)
    if writing_operators(rewritten):
        return False
    seen = []
    for each in (graph, rewritten):
        outputs = torch._C._jit_interpret_graph(each, (_filled(shape), *map(_mask, masks), *map(_named, names)))
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        storages: dict[int, int] = {}  # by address, in order of appearance
        places = [storages.setdefault(t.untyped_storage().data_ptr(), len(storages)) for t in outputs if t.numel()]
        seen.append((outputs, places))
    (first, first_places), (second, second_places) = seen
    return first_places == second_places and all(map(torch.equal, first, second))


_MASK = re.compile(r"torch\.tensor\([^)]*\)")


@cache
def _mask(text: str) -> torch.Tensor:
    return torch.tensor(ast.literal_eval(text.removeprefix("torch.tensor")))


def _sources(line: str) -> list[str]:
    return re.findall(r"\bs(?:\d+(?:_\d+)*)?\b", line)


def _filled(shape: tuple[int, ...], start: int = 1) -> torch.Tensor:
    n = torch.Size(shape).numel()
    return torch.arange(start, start + n, dtype=torch.float32).reshape(shape)


@cache
def _named(name: str) -> torch.Tensor:
    return _filled(tuple(map(int, name[1:].split("_"))) if name[1:] else (), 101)
