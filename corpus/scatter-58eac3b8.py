# Calls scatter_ on x and returns x: torchscript-trace fails to import it.
#
# inplace-fuzz: 1
# torchscript-trace   direct      torch 2.13.0              error(convert)   known   agrees with number-for-bool
# torchscript-trace   rewritten   torch 2.13.0              error(convert)   known   agrees with number-for-bool
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# torchscript         direct      torch 2.13.0              agree
# torchscript         rewritten   torch 2.13.0              agree
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              agree
# tvm                 direct      apache-tvm 0.27.0.post1   agree
# tvm                 legalised   apache-tvm 0.27.0.post1   agree
# tvm                 rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x, i):
        x.scatter_(0, i, True)
        return x


def inputs():
    return (torch.tensor([0.0, 1.0]), torch.tensor([0, 1]))


# torchscript-trace/direct says: RuntimeError: 0 INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/torch/csrc/jit/ir/alias_analysis.cpp":623, please report a bug to PyTorch. We don't have an op for aten::scatter_ but it isn't a special case.  Argument types: Tensor, int, Tensor, bool,
# torchscript-trace/rewritten says: RuntimeError: 0 INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/torch/csrc/jit/ir/alias_analysis.cpp":623, please report a bug to PyTorch. We don't have an op for aten::scatter_ but it isn't a special case.  Argument types: Tensor, int, Tensor, bool,
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript-trace")
