# Calls _foreach_mul_ on [v] and returns v: torchscript-graph gives wrong values.
#
# inplace-fuzz: 1
# torchscript          direct      torch 2.13.0              mismatch(values)   known   agrees with one-by-one
# torchscript          rewritten   torch 2.13.0              mismatch(values)   known   origin: torchscript; agrees with one-by-one
# torchscript-frozen   direct      torch 2.13.0              mismatch(values)   known   origin: torchscript; agrees with one-by-one
# torchscript-frozen   rewritten   torch 2.13.0              mismatch(values)   known   origin: torchscript; agrees with one-by-one
# torchscript-graph    direct      torch 2.13.0              mismatch(values)   known   agrees with one-by-one
# torchscript-graph    rewritten   torch 2.13.0              mismatch(values)   known   origin: torchscript; agrees with one-by-one
# torchscript-legacy   direct      torch 2.13.0              mismatch(values)   known   agrees with one-by-one
# torchscript-legacy   rewritten   torch 2.13.0              mismatch(values)   known   origin: torchscript; agrees with one-by-one
# export               direct      torch 2.13.0              agree
# export               rewritten   torch 2.13.0              agree
# torchscript-trace    direct      torch 2.13.0              agree
# torchscript-trace    rewritten   torch 2.13.0              agree
# tvm                  direct      apache-tvm 0.27.0.post1   refused(convert)
# tvm                  legalised   apache-tvm 0.27.0.post1   agree
# tvm                  rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        v = x * 1
        torch._foreach_mul_([v], 0)
        return v


def inputs():
    return (torch.tensor([1.0, 2.0]),)


# output, 2 of 2 elements differ
#     eager              [0, 0]
#     torchscript-graph  [1, 2]
#                         ^  ^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript")
