# Writes 0 into y.type_as(y)[:] and returns x: torchscript-graph leaves an input wrong.
#
# inplace-fuzz: 1
# torchscript          direct      torch 2.13.0              mismatch(inputs)   known   agrees with to-dtype
# torchscript          rewritten   torch 2.13.0              mismatch(inputs)   known   origin: torchscript; agrees with to-dtype
# torchscript-frozen   direct      torch 2.13.0              mismatch(inputs)   known   origin: torchscript; agrees with to-dtype
# torchscript-frozen   rewritten   torch 2.13.0              mismatch(inputs)   known   origin: torchscript; agrees with to-dtype
# torchscript-graph    direct      torch 2.13.0              mismatch(inputs)   known   agrees with to-dtype
# torchscript-graph    rewritten   torch 2.13.0              mismatch(inputs)   known   origin: torchscript; agrees with to-dtype
# torchscript-legacy   direct      torch 2.13.0              mismatch(inputs)   known   agrees with to-dtype
# torchscript-legacy   rewritten   torch 2.13.0              mismatch(inputs)   known   origin: torchscript; agrees with to-dtype
# torchscript-trace    direct      torch 2.13.0              mismatch(inputs)   known   agrees with to-dtype
# torchscript-trace    rewritten   torch 2.13.0              mismatch(inputs)   known   origin: torchscript; agrees with to-dtype
# export               direct      torch 2.13.0              agree
# export               rewritten   torch 2.13.0              agree
# tvm                  direct      apache-tvm 0.27.0.post1   agree
# tvm                  legalised   apache-tvm 0.27.0.post1   agree
# tvm                  rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x, y):
        y.type_as(y)[:] = 0
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))


# input y, 2 of 2 elements differ
#     eager              [0, 0]
#     torchscript-graph  [3, 4]
#                         ^  ^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript")
