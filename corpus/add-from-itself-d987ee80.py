# Calls add_ on x and returns x: tvm gives wrong values.
#
# inplace-fuzz: 1
# tvm                 direct      apache-tvm 0.27.0.post1   mismatch(values)   known   agrees with no-alpha
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# torchscript         direct      torch 2.13.0              agree
# torchscript         rewritten   torch 2.13.0              agree
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              agree
# torchscript-trace   direct      torch 2.13.0              agree
# torchscript-trace   rewritten   torch 2.13.0              agree
# tvm                 legalised   apache-tvm 0.27.0.post1   agree
# tvm                 rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x.add_(x, alpha=0)
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]),)


# output, 2 of 2 elements differ
#     eager  [1, 2]
#     tvm    [2, 4]
#             ^  ^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="tvm")
