# Updates x in place, writes 0 into x[:] and returns x: torchscript-graph leaves an input wrong and shares other
# memory.
#
# inplace-fuzz: 1
# torchscript         direct      torch 2.13.0              mismatch(inputs, alias)   known   agrees with bitwise-method
# torchscript         rewritten   torch 2.13.0              mismatch(inputs, alias)   known   origin: torchscript; agrees with bitwise-method
# torchscript-graph   direct      torch 2.13.0              mismatch(inputs, alias)   known   agrees with bitwise-method
# torchscript-graph   rewritten   torch 2.13.0              mismatch(inputs, alias)   known   origin: torchscript; agrees with bitwise-method
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# torchscript-trace   direct      torch 2.13.0              agree
# torchscript-trace   rewritten   torch 2.13.0              agree
# tvm                 direct      apache-tvm 0.27.0.post1   agree
# tvm                 legalised   apache-tvm 0.27.0.post1   agree
# tvm                 rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x ^= 0
        x[:] = 0
        return x


def inputs():
    return (torch.tensor([0, 1], dtype=torch.int32),)


# input x, 1 of 2 elements differ
#     eager              [0, 0]
#     torchscript-graph  [0, 1]
#                            ^
# output
#     eager              shares memory with input x
#     torchscript-graph  memory of its own
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript")
