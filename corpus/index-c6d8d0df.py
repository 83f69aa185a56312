# Writes 0 into dropout(x, 0.0), which is x itself: export loses the write.
#
# inplace-fuzz: 1
# aot-eager           direct      torch 2.13.0              mismatch(values, inputs)   known   origin: export
# export              direct      torch 2.13.0              mismatch(values, inputs)   known
# export-strict       direct      torch 2.13.0              mismatch(values, inputs)   known   origin: export
# inductor            direct      torch 2.13.0              mismatch(values, inputs)   known   origin: export
# torchscript         direct      torch 2.13.0              mismatch(values, inputs)   known
# tvm                 direct      apache-tvm 0.27.0.post1   mismatch(values)           known   origin: export
# tvm                 legalised   apache-tvm 0.27.0.post1   mismatch(values)           known   origin: export
# aot-eager           rewritten   torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# inductor            rewritten   torch 2.13.0              agree
# torchscript         rewritten   torch 2.13.0              agree
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              agree
# torchscript-trace   direct      torch 2.13.0              agree
# torchscript-trace   rewritten   torch 2.13.0              agree
# tvm                 rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x, i):
        torch.nn.functional.dropout(x, 0.0)[i] = 0
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]), torch.tensor([0, 1]))


# output, 2 of 2 elements differ
#     eager        [0, 0]
#     torchscript  [1, 2]
#                   ^  ^
# input x, 2 of 2 elements differ
#     eager        [0, 0]
#     torchscript  [1, 2]
#                   ^  ^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="aot-eager")
