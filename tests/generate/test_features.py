"""Every feature can be drawn: one row each, with what it looks like in a program."""

from __future__ import annotations

import re

import pytest

from inplace_fuzz.core import Program
from inplace_fuzz.generate import DEFAULT, FEATURES
from tests.generate.program_checks import built

NAME = r"(?:self\.buf|[a-z]\d*)"
INT = r"-?\d+"

# Feature -> a pattern of the source, or of `layouts`, the line of input descriptions that stands above it.
LOOKS = {
    # statements
    "assign": r"\] = ",
    "augment": r" [-+*]= ",
    "method": r"\.\w+_\(",
    "indexed_method": r"\.(index|scatter|masked_scatter|put)\w*_\(|out=|_foreach",
    "view": rf"\n        [a-z]\d* = {NAME}\.(t|view|transpose|permute|diagonal|T|mT)\b",
    "parts": r"\.(split|chunk|unbind|tensor_split)\(",
    "make": r" = torch\.(zeros|ones|full|empty|arange|tensor|eye)",
    "alias": rf"\n        [a-d]\d* = {NAME}\n",
    "template": r"\n        [a-z]\d* = .*\n",
    "pair": r"\n        ([a-z]\d*) = \w+[.[].*\n        \1(\.|\[| [-+*]=)",
    "assign_buffer": r"\n        self\.buf = ",
    "snapshot": rf"\n        [a-z]\d* = {NAME}(\.clone\(\)| \+ 0)\n",
    "read": r"\n        [rsqp]\d* = ",
    # shapes and inputs
    "rank_1": r"x: \w+\[\d\]",
    "rank_2": r"x: \w+\[\d, \d\]",
    "square": r"x: \w+\[(\d), \1\]",
    "rank_3": r"x: \w+\[\d, \d, \d\]",
    "rank_4": r"x: \w+\[\d, \d, \d, \d\]",
    "size_one": r"x: \w+\[(.*, )?1[],]",
    "zero_dim": r"x: \w+\[\]",
    "empty_shape": r"x: \w+\[(.*, )?0[],]",
    **{short: rf"x: {short}\[" for short in ("f32", "f64", "f16", "bf16", "i64", "i32", "u8", "i8", "bool")},
    "mixed_dtypes": r"x: (\w+)\[.*y: (?!\1\[)",
    "plain_input": r"x: \w+\[[\d, ]*\](,|\n)",
    "transposed_input": r"x: \w+\[\d, \d\] strides \[1, ",
    "strided_input": r"x: \w+\[.*?\] strides \[(.*, )?2\]",
    "offset_input": r"x: \w+\[[^a-z]*\]( strides [^a-z]*)? offset 2",
    "shared_storage": r"in storage 0.*in storage 0",
    "index_input": r"\(self, .*\bi\b.*\):",
    "mask_input": r"\(self, .*\bm\b.*\):",
    # between the brackets
    "full_slice": r"\[:[],]",
    "slice": r"\[\d:\d[],]",
    "open_slice": r"[ \[]\d:[],]",
    "select": r"[ \[]\d[],].* = ",
    "negative_select": r"[ \[]-\d[],]",
    "negative_slice": r"[ \[]-\d:[],]|:-\d",
    "step": r"::[23]",
    "past_end": r"[ \[][0-6]:(7|8|9|1\d)[],]",
    "clamped_slice": r"-\d+:\d[],]",
    "empty_slice": r"[ \[](\d):\1[],]",
    "ellipsis": r"\[\.\.\., |, \.\.\.\]",
    "ellipsis_index": r"\[\.\.\., (torch|\[|\(?[ij]\b|\w+\[)",
    "none_index": r"\bNone\b",
    "empty_tuple": r"\[\(\)\]",
    "chain": r"\]\[",
    "index": rf"\[(:, )*(\[{INT}|torch\.tensor\()",
    "index_list": rf"\[\[{INT}(, {INT})*\]",
    "index_tensor": rf"\[torch\.tensor\(\[{INT}(, {INT})*\]\)",
    "index_2d": rf"torch\.tensor\(\[\[{INT}",
    "index_0d": rf"torch\.tensor\({INT}\)",
    "index_by_input": r"\[(.*, )?i[],]",
    "index_arange": r"\[torch\.arange\(\d\)[],]|\(torch\.arange\(\d\),\)",
    "index_computed": r"[(\[]\(?[ij]\b[^],]*[.+*/]|to\(torch\.int64\) % \d|- [ij] % \d",
    "index_several": r"\[(torch\.(tensor\([^]]*\]\)|arange\(\d\))|[ij]), (torch|[ij]\b)",
    "index_apart": r"\[(torch\.\w+\([^()]*\)|[ij]|\[[^]]*\]), [^],]*:[^],]*, (torch|[ij]\b|\[)",
    "duplicate_index": r"tensor\(\[(\d), (.*, )?\1\]",
    "negative_index": r"torch\.tensor\(\[(.*, )?-\d",
    "mask": r"\[\w+(\[[^]]*\])* (>|<|!=|>=|==) ",
    "mask_literal": r"\[torch\.tensor\(\[(True|False)",
    "mask_partial": r"\[\w+\[:, 0(, 0)*\] (>|<|!=|>=|==) ",
    # right-hand sides
    "source_number": r" = -?\d+(\.0)?\n",
    "source_tensor": r"\] = [a-z]\d*(\[[^]]*\])?\n",
    "source_arithmetic": r"= .* [-+*] ",
    "source_self": r"(x[^ ]*) = \1(\.flip|\.roll|\.clone| \+ 1| \* 2)",
    "source_shifted": r"\] = x\[[^]]*\](\.clone\(\)| \+ 0|\.flip\(0\))",
    "source_zero_dim": r"\.(sum|max|min)\(\)|= torch\.tensor\(-?\d",
    "source_made": r"\] = torch\.(ones|full|arange)\(",
    "source_itself": r"\n        (\w+)(\.add_|\.copy_|\.sub_|\.mul_| [+*-]= )\(?\1\b",
    "source_add": r"= .* \+ ",
    "source_mul": r"= .* \* ",
    "source_sub": r"= .* - ",
    "source_neg": r"= -[a-z]",
    "source_where": r"torch\.where\(",
    "source_max": r"torch\.(maximum|minimum)\(",
    "source_compare": r"= .* (>|==) ",
    "source_bits": r" [&^] ",
    # writes
    "named_result": r"\n        [abcd]\d* = .*\w_\(",
    "augmented_add": r" \+= ",
    "augmented_mul": r" \*= ",
    "augmented_sub": r" -= ",
    "augmented_bits": r" [|&^]= ",
    "alpha": r"alpha=",
    "write_to_copy": r"\[(\[|torch\.tensor|torch\.arange|[ij]\b).*\]\.\w+_\(",
    "compare_": r"\.(ge|eq|lt)_\(",
    "logical_": r"\.logical_(not|and)_\(",
    "bitwise_": r"\.bitwise_(or|and|xor|not)_\(",
    "triangle_": r"\.tri[lu]_\(",
    "clamp_": r"\.clamp(_max)?_\(",
    "accumulate": r"accumulate=True",
    "out": r"out=",
    "foreach": r"torch\._foreach_(add|mul)_\(",
    "index_put_two": r"\.index_put_\(\([^()]*(\([^()]*\))?[^()]*, (torch|i|j)",
    # views
    "view_brackets": rf"\n        [a-z]\d* = {NAME}\[",
    "t": r"\.(t\(\)|T|mT)\b",
    "select_call": r"\.select\(",
    "no_op_alias": r"\.(contiguous\(\)|to\(|reshape\(\w+\.shape|expand\(\w+\.shape|view_as|type_as)|dropout",
    "flatten": r"\.(flatten|ravel)\(",
    "split_sizes": r"\.split\(\[",
    # makers
    "empty_fill": r"torch\.empty\(.*\)\.fill_\(",
    "literal": r" = torch\.tensor\((\[|0|True)",
    "arange": r" = torch\.arange\(",
    "buffer": r"register_buffer",
    # reads
    "where": r"torch\.where\(",
    "cat": r"torch\.cat\(",
    "stack": r"torch\.stack\(",
    "any": r"\.any\(\)",
    "cast": r"\.to\(torch\.(float64|int64)\)",
    "slice_scatter": r"torch\.slice_scatter\(",
    "select_scatter": r"torch\.select_scatter\(",
    # returns
    "return_tuple": r"return [a-z]\w*, ",
    "return_nested": r"return (\w+, \(|\(\w+, \[)",
    "return_list": r"return \[",
    "return_dict": r"return \{",
    "return_twice": r"return .*\b(\w+)\b.*, \1\b",
    "return_view": r"return .*\[0\]",
    "return_computed": r"return .* \* 1",
    # templates, by their most telling line
    "snapshot_then_write": r"\n        (\w+) = .*\n        x(\.zero_\(\)|\.fill_\(7\)|\.add_\(1\)| [+*]= |\[0\] = 7|\[:1\]\.zero_|\.mul_\(2\))",
    "copy_then_write": r"(\w+) = torch\.\w+_like\(\w+\)\n        \1(\[:\] = |\.copy_)",
    "part_then_write": r" = x(\[.*\](\.clone\(\)| \+ 0)|\.diagonal\(\)\.clone\(\)|\.t\(\)\.clone\(\))\n",
    "view_then_base": r"(\w+) = (\w+)[.[].*\n        \1.*\n        \2",
    "index_then_base": r"(\w+)\[(\[0\]|torch|\w+ > 2).*\n        \1",
    "self_read": r"(\w+)(\.add_|\.copy_| \+= |\[:\] = |\.mul_\(0\)\.add_)\(?\1\.",
    "index_self_read": r"(\w+)\[.*\] = 5\n        \1(\.add_|\.copy_| \+= )",
    "shift": r"(\w+)\[(1:|:-1)\] = \1\[(1:|:-1)\]",
    "swap": r"(\w+)\[(0|:1)\] = \1\[(1|-1:)\]",
    "computed_duplicates": r"\n        ([ijkl]\d*) = torch.*\n        .*\[?\1",
    "alias_then_write": r"\n        (\w+) = .*\n        \1(\.|\[| [+*]=)",
    "two_views": r"\n        (\w+) = (\w+)\[.*\n        (\w+) = \2.*\n        \1.*\n        \3",
    "base_then_view": r"\n        (\w+) = (\w+).*\n        \2.*\n        [rsqp]\d* = \1",
    "temporary_view": r"\n        x\.(transpose|flatten|view|unbind|unsqueeze|chunk|select|narrow|detach|split|t|T|diagonal|permute)\b.*[\])](\[.*\] = |\.\w+_\()",
    "chained_calls": r"_\(\d?\)(\.\w+_\(|\[0\] = )",
    "result_is_self": r" = \w+\.\w+_\(",
    "mask_snapshot": r"([mnop]\d*) = \w+ > 2\n(.*\n)+.*\b\1\b",
    "written_mask": r"([mnop]\d*) = \w+ > 2\n        \1[.[]",
    "written_index": r"([ijkl]\d*) = torch\.arange\(2\)\n        \1",
    "compare_old_new": r"(torch\.where\(\w+ == \w+|x [-+] )",
    "size_bound": r"\.(size|shape)[([]",
    "cell": r"(flatten\(\)\[0\]|reshape\(-1\)\[-1\])\n",
    "expanded_read": r"(expand_as\(|\]\.expand\(\w+\.shape)",
    "metadata": r"\.(unsqueeze_|transpose_|swapaxes_|squeeze_)\(",
    "rebinding": r"\n        (\w+) = (\w+)\n        \1 = \1",
    "dependent_rows": r"(\w+)\[0\] = \1\[1\] \+ 1\n        \1\[1\] = \1\[0\]",
    "container": r"(\w+) = \[\w+, .*\]\n        \1\[",
    "dictionary": r" = \{\"a\": .*\}\n",
    "parallel_assignment": r"\[0\], \w+\[1\] = ",
    "empty_write": r"\[(1:1|:0|5:2|\w+ > 9999)\]|\[\d:\]\.add_|torch\.zeros\(\[0\], dtype",
    "unsqueezed_write": r"(\w+) = \w+(\[None\]|\.unsqueeze\(0\)|\[:, None\])\n        \1\[",
    "foreach_self": r"torch\._foreach_\w+_\(\[\w+\](, (\[|2)|\))",
    "leading_ones": r"\[None\]\.clone\(\)|\[None, None\]",
    # modes
    "rounding_call": r"\.(sin_|div_|sigmoid_|mul_\(0\.3|tanh_|lerp_)",
    "rounding_read": r"\.(mean|softmax|cos)\(| / 3\n",
    "rounding_source": r" / 3|torch\.sin\(",
    "branch": r"\n        if ",
    "loop": r"\n        (for|while) ",
}
# The others are called by the name of the feature.
LOOKS |= {f.name: rf"[. ]{f.name}(_like)?\(" for f in FEATURES if f.name not in LOOKS}
NEEDS = {"assign_buffer": ("buffer",)}  # features that do nothing on their own


def layouts(program: Program) -> str:
    return ", ".join(f"{n}: {s.layout()}" for n, s in zip(program.parameters, program.calls[0], strict=True))


@pytest.mark.parametrize("feature", [f.name for f in FEATURES])
def test_a_focused_mix_draws_the_feature(feature):
    looks = re.compile(LOOKS[feature])
    mix = DEFAULT.focus(feature, *NEEDS.get(feature, ()))
    assert any(looks.search(f"{layouts(b.program)}\n{b.program.source}") for b in built(400, 3, mix))


def test_every_feature_has_a_row_and_no_row_is_left_over():
    assert {f.name for f in FEATURES} == set(LOOKS)


def test_a_feature_of_weight_0_is_never_drawn():
    mix = DEFAULT.changed(view=0, parts=0, template=0, pair=0)
    assert not any(
        re.search(r"\.(split|chunk|unbind|permute|as_strided)\(", b.program.source) for b in built(150, 1, mix)
    )


def test_an_unknown_feature_is_refused_by_name():
    with pytest.raises(ValueError, match="there is no feature 'slices'"):
        DEFAULT.changed(slices=3)
