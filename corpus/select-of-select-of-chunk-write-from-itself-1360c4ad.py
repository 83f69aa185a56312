# Writes torch.where(...) into a chunk of x: torchscript-legacy fails to run it.
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
        v = x.chunk(1)[0]
        v[0] = torch.where(x[0] > 0, x[0], x[0])
        return v


def inputs():
    return (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),)


# torchscript-legacy/direct says: RuntimeError: A view was created in no_grad mode and is being modified inplace with grad mode enabled. This view is the output of a function that returns multiple views. Such functions do not allow the output views to be modified inplace. You should replace the inplace operation by an out-of-place one.
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript-legacy")
