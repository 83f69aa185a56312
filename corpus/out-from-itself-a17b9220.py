# Writes through out= from torch.where(x > 0, x, x): torchscript-legacy fails to run it.
#
# inplace-fuzz: 1
# torchscript-legacy   direct      torch 2.13.0              error(run)   known
# export               direct      torch 2.13.0              agree
# export               rewritten   torch 2.13.0              agree
# torchscript          direct      torch 2.13.0              agree
# torchscript          rewritten   torch 2.13.0              agree
# torchscript-frozen   direct      torch 2.13.0              agree
# torchscript-frozen   rewritten   torch 2.13.0              agree
# torchscript-graph    direct      torch 2.13.0              agree
# torchscript-graph    rewritten   torch 2.13.0              agree
# torchscript-legacy   rewritten   torch 2.13.0              agree
# torchscript-trace    direct      torch 2.13.0              agree
# torchscript-trace    rewritten   torch 2.13.0              agree
# tvm                  direct      apache-tvm 0.27.0.post1   agree
# tvm                  legalised   apache-tvm 0.27.0.post1   agree
# tvm                  rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        torch.mul(torch.where(x > 0, x, x), x, out=x)
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]),)


# torchscript-legacy/direct says: RuntimeError: mul(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires grad.
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript-legacy")
