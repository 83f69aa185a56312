"""Every feature that a program may use, with its weight.

A feature that is one of several alternatives is drawn in proportion to its weight. One that is a switch (those listed
under "percentages" below) is used in that share of the places where it applies, in programs that have it on.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Feature:
    """`example` is text of the kind that the feature puts into a program."""

    name: str
    weight: int
    example: str


def _group(text: str) -> tuple[Feature, ...]:
    """A table as text: name, weight, example, in columns."""
    rows = (line.split(None, 2) for line in text.strip().splitlines())
    return tuple(Feature(row[0], int(row[1]), row[2]) for row in rows)


STATEMENTS = _group("""
    assign             16  x[1:] = y
    augment             8  x[1:] += y
    method             14  x[1:].add_(y)
    indexed_method      5  x.index_add_(0, i, y)
    view                9  v = x.t()
    parts               2  v, w = x.chunk(2)
    make                4  t = torch.zeros([3])
    assign_buffer       1  self.buf = self.buf + 1
    alias               1  a = x
    pair               12  v = x.unfold(0, 2, 2); w = v[0]; w.square_()
    template            6  several statements known to break compilers
    snapshot            3  t = x.clone()
    read                5  r = x + y
""")
SHAPES = _group("""
    rank_2              8  x: [4, 3]
    rank_1              5  x: [3]
    square              3  x: [3, 3]
    rank_3              5  x: [2, 3, 4]
    rank_4              1  x: [2, 2, 2, 3]
    size_one            2  x: [1, 3]
    zero_dim            1  x: []
    empty_shape         1  x: [0, 3]
""")
INPUTS = _group("""
    f32                18  x: float32
    f64                 2  x: float64
    f16                 2  x: float16
    bf16                2  x: bfloat16
    i64                 4  x: int64
    i32                 2  x: int32
    u8                  1  x: uint8
    i8                  1  x: int8
    bool                1  x: bool
    plain_input        12  x contiguous
    transposed_input    2  x with its strides turned round
    strided_input       2  x in every second element of its storage
    offset_input        1  x from the third element of its storage
""")
INDICES = _group("""
    full_slice          8  x[:, 1]
    slice              10  x[1:3]
    open_slice          8  x[1:]
    select             10  x[0]
    negative_select     4  x[-1]
    negative_slice      4  x[-2:]
    step                4  x[::2]
    past_end            1  x[1:9]
    clamped_slice       1  x[-9:2]
    empty_slice         1  x[1:1]
    chain               1  x[1:][0]
    index_list          4  x[[0, 2]]
    index_tensor        5  x[torch.tensor([0, 2])]
    index_2d            3  x[torch.tensor([[0, 1], [1, 0]])]
    index_0d            1  x[torch.tensor(1)]
    index_by_input      8  x[i]
    index_arange        2  x[torch.arange(2)]
    index_computed      5  x[i.flip(0)]
""")
SOURCES = _group("""
    source_number       6  x[0] = 7
    source_tensor      10  x[0] = y[0]
    source_arithmetic   8  x[0] = y[0] + 1
    source_self         4  x[0] = x[0].flip(0)
    source_shifted      4  x[1:] = x[:-1].clone()
    source_zero_dim     2  x[0] = y.sum()
    source_made         2  x[0] = torch.ones([3])
    source_itself       2  x.add_(x)
    source_add          6  x[0] = y[0] + 1
    source_mul          4  x[0] = y[0] * 2
    source_sub          3  x[0] = y[0] - z[0]
    source_neg          2  x[0] = -y[0]
    source_where        2  x[0] = torch.where(y[0] > 2, y[0], z[0])
    source_max          2  x[0] = torch.maximum(y[0], z[0])
    source_compare      1  x[0] = y[0] > 2
    source_bits         2  x[0] = y[0] & z[0]
""")
WRITES = _group("""
    augmented_add       8  x[0] += y
    augmented_mul       4  x[0] *= 2
    augmented_sub       4  x[0] -= y
    add_               10  x.add_(y)
    copy_              10  x.copy_(y)
    fill_               4  x.fill_(7)
    zero_               4  x.zero_()
    mul_                6  x.mul_(2)
    sub_                4  x.sub_(y)
    alpha               3  x.add_(y, alpha=2)
    neg_                2  x.neg_()
    masked_fill_        4  x.masked_fill_(x > 2, 7)
    abs_                1  x.abs_()
    clamp_              1  x.clamp_(-2, 5)
    sign_               1  x.sign_()
    relu_               1  x.relu_()
    square_             1  x.square_()
    addcmul_            1  x.addcmul_(y, y, value=2)
    compare_            1  x.ge_(y)
    logical_            1  x.logical_not_()
    bitwise_            3  x.bitwise_or_(y)
    triangle_           1  x.tril_()
    fill_diagonal_      1  x.fill_diagonal_(7)
    cumsum_             1  x.cumsum_(0)
""")
INDEXED = _group("""
    index_put_          8  x.index_put_((i,), y)
    accumulate          4  x.index_put_((i,), y, accumulate=True)
    index_add_          3  x.index_add_(0, i, y)
    index_copy_         3  x.index_copy_(0, i, y)
    index_fill_         2  x.index_fill_(0, i, 7)
    index_reduce_       1  x.index_reduce_(0, i, y, 'amax')
    scatter_            3  x.scatter_(0, i, y)
    scatter_add_        2  x.scatter_add_(0, i, y)
    scatter_reduce_     1  x.scatter_reduce_(0, i, y, reduce='amax')
    out                 3  torch.add(y, z, out=x[0])
    foreach             1  torch._foreach_add_([x, y], 1)
    masked_scatter_     2  x.masked_scatter_(x > 2, y)
    put_                1  x.put_(i, y)
    index_put_two       2  x.index_put_((i, j), y)
""")
VIEWS = _group("""
    view_brackets      10  v = x[1:]
    view                6  v = x.view(-1)
    reshape             3  v = x.reshape(-1)
    transpose           4  v = x.transpose(0, 1)
    t                   3  v = x.t()
    permute             3  v = x.permute(1, 0)
    movedim             1  v = x.movedim(0, 1)
    swapaxes            1  v = x.swapaxes(0, 1)
    squeeze             2  v = x.squeeze(0)
    unsqueeze           3  v = x.unsqueeze(0)
    expand              2  v = x.expand(2, -1)
    diagonal            4  v = x.diagonal()
    narrow              2  v = x.narrow(0, 0, 2)
    select_call         2  v = x.select(0, 1)
    flatten             3  v = x.flatten()
    unflatten           1  v = x.unflatten(0, [2, 2])
    unfold              2  v = x.unfold(0, 2, 1)
    as_strided          3  v = x.as_strided([2], [2], 0)
    detach              1  v = x.detach()
    no_op_alias         3  v = x.contiguous()
    split               2  v, w = x.split(2)
    chunk               2  v, w = x.chunk(2)
    unbind              2  v, w = x.unbind(0)
    tensor_split        1  v, w = x.tensor_split(2)
    split_sizes         1  v, w = x.split([1, 2])
""")
MADE = _group("""
    zeros               6  t = torch.zeros([3])
    ones                3  t = torch.ones([3])
    full                3  t = torch.full([3], 7)
    empty_fill          2  t = torch.empty([3]).fill_(7)
    arange              2  t = torch.arange(3)
    literal             2  t = torch.tensor([0, 1, 2])
    zeros_like          3  t = torch.zeros_like(x)
    ones_like           1  t = torch.ones_like(x)
    full_like           1  t = torch.full_like(x, 7)
    new_zeros           2  t = x.new_zeros([3])
    new_full            1  t = x.new_full([3], 7)
    eye                 1  t = torch.eye(3)
""")
READS = _group("""
    sum                 4  r = x.sum(0)
    flip                2  r = x.flip(0)
    roll                2  r = x.roll(1, 0)
    cat                 2  r = torch.cat([x, y])
    stack               2  r = torch.stack([x, y])
    where               2  r = torch.where(x > 2, x, y)
    cumsum              1  r = x.cumsum(0)
    amax                1  r = x.amax(0)
    any                 1  r = (x > 2).any()
    cast                2  r = x.to(torch.float64)
    repeat              1  r = x.repeat(2)
    slice_scatter       1  r = torch.slice_scatter(x, x[:1] * 0, 0, 0, 1)
    select_scatter      1  r = torch.select_scatter(x, x[0], 0, -1)
    index_fill          1  r = x.index_fill(0, torch.tensor([0]), 3)
    masked_fill         1  r = x.masked_fill(x > 2, 1)
""")
RETURNS = _group("""
    return_tuple       10  return x, y
    return_nested       2  return x, (y, z)
    return_list         2  return [x, y]
    return_dict         2  return {"a": x, "b": y}
""")
PERCENTAGES = _group("""
    mixed_dtypes       20  y of another dtype than x
    shared_storage      0  two inputs that look into one storage
    index_input        60  forward(self, x, i)
    mask_input         35  forward(self, x, m)
    ellipsis           12  x[..., 0]
    ellipsis_index     20  x[..., torch.tensor([0, 2])]
    none_index         12  x[:, None]
    empty_tuple        40  x[()]
    duplicate_index    30  x[[0, 0]] += 1
    negative_index     30  x[[0, -1]]
    index              34  x[[0, 2]]
    mask               14  x[x > 2]
    mask_partial       40  x[x[:, 0] > 2]
    index_several      60  x[i, j]
    index_apart        60  x[i, :, j]
    augmented_bits      4  x[0] |= y
    write_to_copy      12  x[i].add_(1)
    buffer             14  self.buf
    return_twice       30  return x, x
    return_view        15  return x[0]
    return_computed    12  return x * 1
    mask_literal       30  x[torch.tensor([True, False])]
    named_result       12  r = x.add_(1)
""")
TEMPLATES = _group("""
    snapshot_then_write 10  t = x.clone(); x.zero_()
    copy_then_write      6  t = torch.zeros_like(x); t[:] = x; x.zero_()
    part_then_write      4  t = x[0].clone(); x.zero_()
    view_then_base       8  v = x[0]; v.fill_(7); x.add_(1)
    index_then_base      5  x[[0]] = 7; x.add_(1)
    self_read            8  x.add_(x.flip(0))
    index_self_read      4  x[[0]] = 7; x.add_(x.flip(0))
    shift                5  x[1:] = x[:-1].clone()
    swap                 3  t = x[0].clone(); x[0] = x[1]; x[1] = t
    computed_duplicates  5  x[torch.arange(2) // 2] += 1
    alias_then_write     6  v = x.contiguous(); v.add_(1)
    two_views            5  v = x[:2]; w = x[1:]; v.add_(1); w.mul_(2)
    base_then_view       4  v = x[0]; x.add_(1); r = v + 0
    temporary_view       6  x.t()[0] = 7
    chained_calls        3  x.add_(1).mul_(2)
    result_is_self       3  r = x.add_(1) + x.mul_(2)
    mask_snapshot        3  m = x > 2; x.zero_(); x[m] = 7
    written_mask         2  m = x > 2; m[0] = True; x.masked_fill_(m, 5)
    written_index        2  i = torch.arange(2); i[0] = 1; x[i] = 7
    compare_old_new      2  t = x + 0; x[0] = 7; r = torch.where(x == t, x, t)
    size_bound           3  x[: x.size(0) - 1] = 7
    cell                 3  c = x.view(-1)[0]; x.zero_(); r = c + 1
    expanded_read        3  v = x[:1].expand(3, 3); x.add_(1); r = v + 0
    metadata             3  v = x.clone(); v.unsqueeze_(0); v[0] = 7
    rebinding            3  t = x; t = t + 1; t.add_(1)
    dependent_rows       3  x[0] = x[1] + 1; x[1] = x[0] + 1
    container            2  u = [x, x + 1]; u[0].add_(1)
    dictionary           2  u = {"a": x}; u["a"].add_(1)
    parallel_assignment  2  x[0], x[1] = x[1].clone(), x[0].clone()
    empty_write          2  x[1:1] = 7
    unsqueezed_write     2  v = x[None]; v[0, 0] = 7; x.add_(1)
    foreach_self         1  torch._foreach_add_([x], [x.flip(0)])
    leading_ones         1  x[0] = y[None]
""")
ROUNDING = _group("""
    rounding_call       0  x.sin_()
    rounding_read       0  r = x.mean()
    rounding_source     0  x[0] = y[0] / 3
""")
CONTROL = _group("""
    branch              0  if x.sum() > 3:
    loop                0  for k in range(2):
""")
FEATURES = (
    *STATEMENTS, *SHAPES, *INPUTS, *INDICES, *SOURCES, *WRITES, *INDEXED, *VIEWS, *MADE, *READS, *RETURNS,
    *PERCENTAGES, *TEMPLATES, *ROUNDING, *CONTROL,
)  # fmt: skip
