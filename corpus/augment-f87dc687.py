# Updates v in place and returns v: torchscript-trace gives wrong values.
#
# inplace-fuzz: 1
# torchscript         rewritten   torch 2.13.0              mismatch(again)    known   origin: torchscript
# torchscript-trace   direct      torch 2.13.0              mismatch(values)   known
# torchscript-trace   rewritten   torch 2.13.0              mismatch(values)   known   origin: torchscript
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# torchscript         direct      torch 2.13.0              agree
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              agree
# tvm                 direct      apache-tvm 0.27.0.post1   agree
# tvm                 legalised   apache-tvm 0.27.0.post1   agree
# tvm                 rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self):
        v = torch.tensor([0])
        v += 1
        return v


def inputs():
    return ()


# output
#     eager              [1]
#     torchscript-trace  [2]
#                         ^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript", lane="rewritten")
