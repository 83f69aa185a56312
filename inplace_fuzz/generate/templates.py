"""Short sequences of statements that public reports, and their neighbours, showed to break compilers.

A uniform generator rarely meets these combinations, so they are spliced in whole. One row each: the lines, what they
need, and how far they carry the elements of the tensors they touch. The first five groups are the patterns behind most
of what is silently wrong in compilers: a snapshot that must survive a later write; a write through a view or an index
and then one to the base; a read of the tensor itself at other positions; duplicate indices computed in the graph; and
a call that looks like a computation but gives the same memory.
"""

from __future__ import annotations

from inplace_fuzz.generate.template import Template, far, put

# fmt: off
TEMPLATES = (
    # 1. a snapshot, then a write to what it was taken from
    Template("snapshot_then_write", """
        {t} = :: COPIES
        LATER
    """),
    Template("copy_then_write", """
        {t} = torch.zeros_like({x})
        {t}[:] = :: {x} | {x}.clone() | {x}[:]
        LATER
    """),
    Template("copy_then_write", """
        {t} = torch.ones_like({x})
        {t}.copy_( :: {x}) | {x}.flip(0))
        LATER
    """),
    Template("part_then_write", """
        {t} = :: {x}[0].clone() | {x}[:1].clone() | {x}[-1] + 0 | {x}[::2].clone()
        LATER
    """),
    Template("part_then_write", """
        {t} = :: {x}.diagonal().clone() | {x}.t().clone()
        LATER
    """, rank=2, square=True),
    # 2. a write through a view or an index, then one to the base
    Template("view_then_base", """
        {v} = :: VIEW
        WRITE
        LATER
    """, far),
    Template("view_then_base", """
        {v} = :: {x}.diagonal() | {x}.t() | {x}[:, 0] | {x}[:, 1:] | {x}.t()[0]
        WRITE
        LATER
    """, far, rank=2, rows=2, square=True),
    Template("index_then_base", """
        {x}[[0]] = 7 | {x}[torch.tensor([0])] = {x}[:1] + 1 | {x}[{x} > 2] = 1 | {x}[torch.arange(1)] += 1
        LATER
    """, far),
    # 3. reads itself at other positions
    Template("self_read", """
        {x}.add_({x}.flip(0)) | {x} += {x}.roll(1, 0) | {x}.copy_({x}.flip(0)) | {x}[:] = {x}.flip(0)
          | {x}.mul_(0).add_({x}.flip(0))
    """),
    Template("self_read", """
        {x}.copy_({x}.t().clone()) | {x}.add_({x}.t().clone()) | {x}[:] = {x}.t() + 0 | {x} += {x}.t() * 1
    """, rank=2, square=True),
    Template("index_self_read", """
        {x}[[0]] = 5 | {x}[torch.tensor([0])] = 5 | {x}[0] = 5
        {x}.add_({x}.flip(0)) | {x}.copy_({x}.roll(1, 0)) | {x} += {x}.flip(0)
    """),
    Template("shift", """
        {x}[1:] = :: {x}[:-1].clone() | {x}[:-1].clone() + 1 | {x}[:-1] + 0 | {x}[:-1] * 1
    """, rows=2),
    Template("shift", """
        {x}[:-1] = :: {x}[1:].clone() | {x}[1:] + 1 | {x}[1:].flip(0)
    """, rows=2),
    Template("swap", """
        {t} = {x}[0].clone()
        {x}[0] = {x}[1]
        {x}[1] = {t}
    """, put, rows=2, categories="bif"),
    Template("swap", """
        {t} = {x}[:1].clone()
        {x}[:1] = {x}[-1:]
        {x}[-1:] = {t}
    """, put, rows=2, categories="bif"),
    # 4. duplicate indices, computed in the graph
    Template("computed_duplicates", """
        {i} = :: DUPLICATES
        {x}[{i}] = :: {x}[{i}] + 1 | {x}[{i}] * 2
        LATER
    """, far),
    Template("computed_duplicates", """
        {i} = :: DUPLICATES
        {x}[{i}] += 1 | {x}[{i}] *= 2 | {x}[{i}] = 7
    """),
    Template("computed_duplicates", """
        {i} = :: DUPLICATES
        {x}.index_put_(({i},), {x}[{i}] + 1, accumulate=True) | {x}.index_add_(0, {i}, {x}[{i}])
    """, far),
    # 5. looks like a computation, gives the same memory
    Template("alias_then_write", """
        {v} = :: NO_OPS
        WRITE
    """),
    Template("alias_then_write", """
        {v} = :: NO_OPS
        {v}[0] = 7 | {v}[:1] += 1 | {v}[-1].zero_() | {v}[[0]] = 5
        {r} = {x} + 0
    """),
)
# fmt: on
