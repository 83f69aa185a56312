# Returns y.view(0): tvm fails to run it.
#
# inplace-fuzz: 1
# tvm                 direct      apache-tvm 0.27.0.post1   error(run)   known
# tvm                 legalised   apache-tvm 0.27.0.post1   error(run)   known
# tvm                 rewritten   apache-tvm 0.27.0.post1   error(run)   known
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# torchscript         direct      torch 2.13.0              agree
# torchscript         rewritten   torch 2.13.0              agree
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              agree
# torchscript-trace   direct      torch 2.13.0              agree
# torchscript-trace   rewritten   torch 2.13.0              agree

import torch


class M(torch.nn.Module):
    def forward(self, x, y):
        return y.view(0)


def inputs():
    return (torch.tensor([1.0, 2.0]), torch.zeros([2, 0]))


# tvm/direct says: ValueError: Mismatched y.strides on argument #0 when calling:
# tvm/legalised says: ValueError: Mismatched y.strides on argument #0 when calling:
# tvm/rewritten says: ValueError: Mismatched y.strides on argument #0 when calling:
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="tvm")
