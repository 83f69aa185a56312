"""The pairs that a sweep counts: view x view, view x write, write x alias pattern; and which of them cannot be.

A pair is counted once for each program that was really compared and has it:

    view x view     one view is taken of another, and the memory below is written in the program
    view x write    the operator writes through this view, as the last of its chain
    write x alias   the operator writes what has other names in this way

What the graph calls an operator is its word here, so `swapaxes` is `transpose`, `split_with_sizes` is `split`, and
`|=` is `bitwise_or_`. `slice[:]` is a slice that leaves nothing out, and an `index_put_` that accumulates is a write of
its own, because the pass treats them by other rules. Not counted are operators that write no element (`unsqueeze_`) and
those that TorchScript drops from a program (`_foreach_add_`).
"""

from __future__ import annotations

Pair = tuple[str, str, str]  # the table, and the two words

VIEW_WORDS = {
    f"aten::{name}": name
    for name in (
        "select", "slice", "narrow", "diagonal", "unfold", "as_strided", "transpose", "t", "numpy_T", "mT",
        "permute", "movedim", "view", "view_as", "unflatten", "squeeze", "unsqueeze", "expand", "detach", "reshape",
        "flatten", "ravel", "contiguous", "to", "type_as", "dropout",
    )
}  # fmt: skip
# A view or a copy: strides and dtypes decide at run time.
MAYBE = frozenset(f"aten::{n}" for n in ("reshape", "flatten", "ravel", "contiguous", "to", "type_as"))
SEVERAL = {f"aten::{n}": n for n in ("unbind", "split", "chunk", "tensor_split")}
VIEWS = (*sorted({*VIEW_WORDS.values(), *SEVERAL.values(), "slice[:]"}),)

WRITE_WORDS = {
    f"aten::{name}": name
    for name in (
        "add_", "sub_", "mul_", "copy_", "fill_", "zero_", "neg_", "masked_fill_", "abs_", "clamp_", "clamp_max_",
        "sign_", "relu_", "square_", "addcmul_", "ge_", "eq_", "lt_", "logical_not_", "logical_and_", "bitwise_or_",
        "bitwise_and_", "bitwise_xor_", "bitwise_not_", "tril_", "triu_", "fill_diagonal_", "cumsum_",
        "index_put_", "index_add_", "index_copy_", "index_fill_", "index_reduce_", "scatter_", "scatter_add_",
        "scatter_reduce_", "masked_scatter_", "put_",
    )
}  # fmt: skip
WRITES = (*sorted({*WRITE_WORDS.values(), "index_put_ accumulate", "out="}),)

METADATA = frozenset({"squeeze_", "transpose_", "unsqueeze_"})  # come up in graphs, write no element, are not counted

PATTERNS = (
    "a tensor made inside", "part of a tensor made inside", "a copy", "part of a copy", "an input", "part of an input",
    "a buffer", "part of a buffer", "part of a repeating view", "inputs share a storage", "reads its own memory",
    "its result is used", "an older view is read after", "the base is read after", "a view older than another write",
    "two views are written", "a view is returned", "the base is returned", "two outputs share it",
)  # fmt: skip

SHARED = "inputs share a storage"
_OWN = "reads its own memory"
_NO_TENSOR = frozenset(
    [
        "zero_",
        "neg_",
        "abs_",
        "sign_",
        "relu_",
        "square_",
        "logical_not_",
        "bitwise_not_",
        "tril_",
        "triu_",
        "fill_diagonal_",
        "cumsum_",
    ]
)
_OF_MATRICES = {"mT": 2, "diagonal": 2, "tril_": 2, "triu_": 2, "fill_diagonal_": 2}  # the least rank each takes
_NO_MATRIX = frozenset({"ravel"})  # their result has one dimension


def impossible(what: str, first: str, second: str, *, shared: bool = False) -> str:
    """Why no program has this pair; empty where one may. `shared`: whether inputs are drawn that share a storage."""
    if what == "write x alias":
        if second == _OWN and first in _NO_TENSOR:
            return "it takes no tensor but the one that it writes"
        if second == SHARED and not shared:
            return "the mix draws no inputs that share a storage"
        return ""
    if first in _NO_MATRIX and second in _OF_MATRICES:
        return "it takes two dimensions, and ravel gives one"
    return ""


# Mixes that leave out what a table lists: there is no saying there which pairs are possible.
PARTIAL_MIXES = frozenset({"rounding"})
TABLES = {
    name: (name, firsts, seconds)
    for name, firsts, seconds in (
        ("view x view", VIEWS, VIEWS), ("view x write", VIEWS, WRITES), ("write x alias", WRITES, PATTERNS),
    )
}  # fmt: skip


def possible(*, shared: bool = False) -> list[Pair]:
    """Every pair that some program may have, table by table."""
    return [
        (table, first, second)
        for table, firsts, seconds in TABLES.values()
        for first in firsts
        for second in seconds
        if not impossible(table, first, second, shared=shared)
    ]
