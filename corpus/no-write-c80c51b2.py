# Returns torch.where(m > False, m, m): torchscript-trace fails to import it.
#
# inplace-fuzz: 1
# torchscript-trace   direct      torch 2.13.0              error(convert)   known   agrees with number-for-bool
# torchscript-trace   rewritten   torch 2.13.0              error(convert)   known   agrees with number-for-bool
# tvm                 direct      apache-tvm 0.27.0.post1   error(build)     known
# tvm                 legalised   apache-tvm 0.27.0.post1   error(build)     known
# tvm                 rewritten   apache-tvm 0.27.0.post1   error(build)     known
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# torchscript         direct      torch 2.13.0              agree
# torchscript         rewritten   torch 2.13.0              agree
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              agree

import torch


class M(torch.nn.Module):
    def forward(self, m):
        return torch.where(m > False, m, m)


def inputs():
    return (torch.tensor([True, False]),)


# torchscript-trace/direct says: RuntimeError: 0 INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/torch/csrc/jit/ir/alias_analysis.cpp":623, please report a bug to PyTorch. We don't have an op for aten::gt but it isn't a special case.  Argument types: Tensor, bool,
# torchscript-trace/rewritten says: RuntimeError: 0 INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/torch/csrc/jit/ir/alias_analysis.cpp":623, please report a bug to PyTorch. We don't have an op for aten::gt but it isn't a special case.  Argument types: Tensor, bool,
# tvm/direct says: InternalError: Check failed: (t.MatchesCode(DLDataTypeCode::kDLFloat)) is false:
# tvm/legalised says: InternalError: Check failed: (t.MatchesCode(DLDataTypeCode::kDLFloat)) is false:
# tvm/rewritten says: InternalError: Check failed: (t.MatchesCode(DLDataTypeCode::kDLFloat)) is false:
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript-trace")
