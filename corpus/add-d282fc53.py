# Adds 1 to a strided input and reshapes it to its own shape: aot-eager-dynamic reads it as if it were dense.
#
# inplace-fuzz: 1
# aot-eager-dynamic   direct      torch 2.13.0              mismatch(values)   known
# inductor-dynamic    direct      torch 2.13.0              mismatch(values)   known
# aot-eager           direct      torch 2.13.0              agree
# aot-eager           rewritten   torch 2.13.0              agree
# aot-eager-dynamic   rewritten   torch 2.13.0              agree
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# inductor            direct      torch 2.13.0              agree
# inductor            rewritten   torch 2.13.0              agree
# inductor-dynamic    rewritten   torch 2.13.0              agree
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
        x.add_(1)
        return x.reshape(x.shape)


def inputs():
    return (torch.tensor([1.0, 2.0, 3.0]).as_strided([2], [2], 0),)


# output, 1 of 2 elements differ
#     eager              [2, 4]
#     aot-eager-dynamic  [2, 2]
#                            ^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="aot-eager-dynamic")
