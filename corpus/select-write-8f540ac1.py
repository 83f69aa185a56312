# Writes an element of the input into a tensor made in forward, which compilers take for a constant.
#
# inplace-fuzz: 1
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# torchscript         direct      torch 2.13.0              agree
# torchscript         rewritten   torch 2.13.0              agree
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              agree
# torchscript-trace   direct      torch 2.13.0              agree
# torchscript-trace   rewritten   torch 2.13.0              agree
# tvm                 direct      apache-tvm 0.27.0.post1   agree
# tvm                 legalised   apache-tvm 0.27.0.post1   agree
# tvm                 rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, y):
        x = torch.zeros((1,))
        x[0] = y[0]
        return x


def inputs():
    return (torch.tensor([1.0]),)
