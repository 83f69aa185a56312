# Adds 1 to a corner of the input through a slice of a slice. TVM returns the right output, and its importer
# drops the write to the caller's tensor.
#
# inplace-fuzz: 1
# tvm-state           direct      apache-tvm 0.27.0.post1   mismatch(inputs)   known
# tvm-state           legalised   apache-tvm 0.27.0.post1   mismatch(inputs)   known
# tvm-state           rewritten   apache-tvm 0.27.0.post1   mismatch(inputs)   known   origin: tvm-state
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
    def forward(self, x):
        x[:5, :5] = x[:5, :5] + 1
        return x


def inputs():
    return (torch.arange(0.0, 100.0).reshape([10, 10]),)


# input x, 25 of 100 elements differ
#     eager      [0, 0] = 1, [0, 1] = 2, [0, 2] = 3, [0, 3] = 4 …
#     tvm-state  [0, 0] = 0, [0, 1] = 1, [0, 2] = 2, [0, 3] = 3 …
#                         ^           ^           ^           ^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="tvm-state")
