"""Further templates: neighbours of reported faults, and traps that functionalisation passes fall into."""

from __future__ import annotations

from inplace_fuzz.generate.template import Template, far

# fmt: off
NEIGHBOURS = (
    # sibling views of one base; a view read after its base changed
    Template("two_views", """
        {v} = :: {x}[:2] | {x}[:-1] | {x}[0]
        {w} = :: {x}[1:] | {x}[:1] | {x}[-1] | {x}.transpose(0, -1)
        {v}.add_(1) | {v} *= 2 | {v}.fill_(3)
        {w}.add_(1) | {w}.mul_(2) | {w}.zero_()
    """, far, rows=2),
    Template("base_then_view", """
        {v} = :: VIEW
        {x}.add_(1) | {x}.zero_() | {x}[0] = 7 | {x} *= 2
        {r} = :: {v} + 0 | {v} * 2 | {v}.clone()
    """, far),
    Template("unsqueezed_write", """
        {v} = :: {x}[None] | {x}.unsqueeze(0) | {x}[:, None]
        {v}[0, 0] = 7 | {v}[0] = 1 | {v}[:, 0] += 1
        LATER
    """, far),
    Template("expanded_read", """
        {v} = :: {x}[:1].expand_as({x}) | {x}[0].expand({x}.shape)
        {x}.add_(1) | {x}[0] = 7 | {x}.zero_()
        {r} = :: {v} + 0 | {v}.clone() | {x} + {v}
    """, far),
    Template("cell", """
        {v} = :: {x}.flatten()[0] | {x}.reshape(-1)[-1] | {x}[0]
        {x}.zero_() | {x}.add_(1) | {x}[:1] = 7
        {r} = :: {v} + 1 | {v} * 2
    """, far),
    # written through a view that has no name
    Template("temporary_view", """
        {x}.transpose(0, -1)[0] = 7 | {x}.flatten()[0] = 7 | {x}.view(-1)[0] = 7 | {x}.unbind(0)[0].add_(1)
          | {x}[None][0] = 7 | {x}.unsqueeze(0).add_(1) | {x}.chunk(2)[0].zero_()
          | {x}.select(0, 0).fill_(7) | {x}.narrow(0, 0, 1).mul_(2) | {x}.detach().add_(1)
          | {x}.view(-1)[:2] += 1 | {x}.split(1)[0].add_(1) | {x}[:, None][0].fill_(3)
    """),
    Template("temporary_view", """
        {x}.t()[0] = 7 | {x}.diagonal().fill_(7) | {x}.diagonal().add_(1) | {x}.T[:1] += 1
          | {x}.t()[0].mul_(2) | {x}.t().copy_({x} + 0) | {x}.diagonal()[0] = 5 | {x}.permute(1, 0)[1:] = 0
    """, rank=2, square=True),
    # what an in-place call returns is the tensor itself
    Template("chained_calls", """
        {x}.add_(1).mul_(2) | {x}[0].add_(1).mul_(2) | {x}.mul_(2)[0] = 7 | {x}.zero_().add_(1)
          | {x}[:1].fill_(7).add_(1) | {x}.neg_().add_(1)
    """, far),
    Template("result_is_self", """
        {r} = :: {x}.add_(1) + {x}.mul_(2) | {x}.add_(1) * 2 | {x}.add_(1)[0] + {x}.zero_()[0]
          | {x}.fill_(3).flip(0) + {x}.add_(1)
    """, far),
    Template("result_is_self", """
        {v} = :: {x}.add_(1) | {x}.mul_(2) | {x}.zero_()
        {v}[0] = 7
        LATER
    """, far),
    # masks and indices that are computed, kept and written
    Template("mask_snapshot", """
        {m} = {x} > 2
        {x}.zero_() | {x}.add_(1) | {x}[0] = 7
        {x}[{m}] = 7 | {x}.masked_fill_({m}, 5) | {x}[{m}] += 1
    """, far),
    Template("written_mask", """
        {m} = {x} > 2
        {m}[0] = True | {m}[-1:] = False | {m}.logical_not_() | {m}[0] = {m}[-1].clone()
        {x}.masked_fill_({m}, 5) | {x}[{m}] = 7 | {x}[{m}] += 1
    """),
    Template("written_index", """
        {i} = torch.arange(2)
        {i}[0] = 1 | {i}.fill_(0) | {i} *= 0 | {i}[1:] = 0
        {x}[{i}] = 7 | {x}[{i}] += 1 | {x}.index_fill_(0, {i}, 5)
    """, rows=2),
    Template("compare_old_new", """
        {t} = :: {x} + 0 | {x}.clone()
        {x}[0] = 7 | {x}.add_(1) | {x}[:1] *= 2
        {r} = :: torch.where({x} == {t}, {x}, {t}) | {x} - {t} | {x} + {t}
    """, far),
    # bounds that are computed from sizes; nothing selected
    Template("size_bound", """
        {x}[: {x}.size(0) - 1] = 7 | {x}[{x}.shape[0] // 2 :] += 1 | {x}[{x}.size(0) - 1] = 7
          | {x}[: {x}.size(-1)].zero_() | {x}[-{x}.size(0) :].add_(1)
    """),
    Template("empty_write", """
        {x}[1:1] = 7 | {x}[{n}:].add_(1) | {x}[:0] += 1 | {x}[torch.zeros([0], dtype=torch.int64)] = 7
          | {x}[{x} > 9999] = 7 | {x}[5:2].fill_(3)
        LATER
    """),
    # names and shapes that move
    Template("metadata", """
        {v} = :: {x}.clone() | {x}[:] | {x}.view_as({x})
        {v}.unsqueeze_(0) | {v}.transpose_(0, -1) | {v}.swapaxes_(0, -1) | {v}.squeeze_()
        {v}.add_(1) | {v}.fill_(7) | {v}.mul_(2)
    """),
    Template("rebinding", """
        {t} = {x}
        {t} = :: {t} + 1 | {t} * 2 | {t}.clone()
        {t}.add_(1) | {t}[0] = 7 | {t} *= 2
        LATER
    """, far),
    Template("dependent_rows", """
        {x}[0] = {x}[1] + 1
        {x}[1] = :: {x}[0] + 1 | {x}[0] * 2
        {x}[0] += {x}[1]
    """, far, rows=2),
    Template("parallel_assignment", """
        {x}[0], {x}[1] = {x}[1].clone(), {x}[0].clone() | {x}[0], {x}[1] = {x}[1] + 1, {x}[0] + 1
    """, rows=2),
    # containers
    Template("container", """
        {u} = :: [{x}, {x} + 1] | [{x}, {x}]
        {u}[0].add_(1) | {u}[0][0] = 7 | {u}[1].mul_(2)
        {r} = :: {u}[0] + {u}[1] | {u}[1] + 0
    """, far),
    Template("dictionary", """
        {u} = {{"a": {x}, "b": {x} + 1}}
        {u}["a"].add_(1) | {u}["a"][0] = 7 | {u}["b"].mul_(2)
        {r} = {u}["a"] + {u}["b"]
    """, far),
    Template("foreach_self", """
        torch._foreach_add_([{x}], [{x}.flip(0)]) | torch._foreach_mul_([{x}], 2)
          | torch._foreach_neg_([{x}])
    """, far),
    # Python drops the leading dimensions of size 1 of an assigned value; a copy does not
    Template("leading_ones", """
        {x}[0] = {x}[1][None].clone() | {x}[0] = ({x}[1] + 1)[None, None]
    """, rows=2, script=False),
)
# fmt: on
