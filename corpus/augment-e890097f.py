# Updates w in place and returns v: torchscript gives wrong values.
#
# inplace-fuzz: 1
# export               direct      torch 2.13.0              mismatch(values)   known
# torchscript          direct      torch 2.13.0              mismatch(values)   known
# torchscript-frozen   direct      torch 2.13.0              mismatch(values)   known   origin: torchscript
# torchscript-legacy   direct      torch 2.13.0              mismatch(values)   known
# tvm                  direct      apache-tvm 0.27.0.post1   mismatch(values)   known   origin: export
# tvm                  legalised   apache-tvm 0.27.0.post1   mismatch(values)   known   origin: export
# export               rewritten   torch 2.13.0              agree
# torchscript          rewritten   torch 2.13.0              agree
# torchscript-frozen   rewritten   torch 2.13.0              agree
# torchscript-graph    direct      torch 2.13.0              agree
# torchscript-graph    rewritten   torch 2.13.0              agree
# torchscript-legacy   rewritten   torch 2.13.0              agree
# torchscript-trace    direct      torch 2.13.0              agree
# torchscript-trace    rewritten   torch 2.13.0              agree
# tvm                  rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        v = x.clone()
        w = torch.nn.functional.dropout(v, 0.5, False)
        w += 1
        return v


def inputs():
    return (torch.tensor([1.0, 2.0]),)


# output, 2 of 2 elements differ
#     eager        [2, 3]
#     torchscript  [1, 2]
#                   ^  ^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="export")
