# Returns torch.zeros([2]): torchscript hands out one tensor twice.
#
# inplace-fuzz: 1
# torchscript          direct      torch 2.13.0              mismatch(again)   known
# torchscript-frozen   direct      torch 2.13.0              mismatch(again)   known
# torchscript-legacy   direct      torch 2.13.0              mismatch(again)   known
# torchscript-trace    direct      torch 2.13.0              mismatch(again)   known
# export               direct      torch 2.13.0              agree
# export               rewritten   torch 2.13.0              agree
# torchscript          rewritten   torch 2.13.0              agree
# torchscript-frozen   rewritten   torch 2.13.0              agree
# torchscript-graph    direct      torch 2.13.0              agree
# torchscript-graph    rewritten   torch 2.13.0              agree
# torchscript-legacy   rewritten   torch 2.13.0              agree
# torchscript-trace    rewritten   torch 2.13.0              agree
# tvm                  direct      apache-tvm 0.27.0.post1   agree
# tvm                  legalised   apache-tvm 0.27.0.post1   agree
# tvm                  rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self):
        return torch.zeros([2])


def inputs():
    return ()


# output, call 2, 2 of 2 elements differ
#     eager        [0, 0]
#     torchscript  [77, 77]
#                   ^^  ^^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript")
