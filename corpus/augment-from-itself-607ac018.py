# Updates m in place and returns m: torchscript-graph shares other memory.
#
# inplace-fuzz: 1
# torchscript          direct      torch 2.13.0              mismatch(alias)   known   agrees with bitwise-method
# torchscript          rewritten   torch 2.13.0              mismatch(alias)   known   origin: torchscript; agrees with bitwise-method
# torchscript-frozen   direct      torch 2.13.0              mismatch(alias)   known   origin: torchscript; agrees with bitwise-method
# torchscript-frozen   rewritten   torch 2.13.0              mismatch(alias)   known   origin: torchscript; agrees with bitwise-method
# torchscript-graph    direct      torch 2.13.0              mismatch(alias)   known   agrees with bitwise-method
# torchscript-graph    rewritten   torch 2.13.0              mismatch(alias)   known   origin: torchscript; agrees with bitwise-method
# torchscript-legacy   direct      torch 2.13.0              mismatch(alias)   known   agrees with bitwise-method
# torchscript-legacy   rewritten   torch 2.13.0              mismatch(alias)   known   origin: torchscript; agrees with bitwise-method
# export               direct      torch 2.13.0              agree
# export               rewritten   torch 2.13.0              agree
# torchscript-trace    direct      torch 2.13.0              agree
# torchscript-trace    rewritten   torch 2.13.0              agree
# tvm                  direct      apache-tvm 0.27.0.post1   agree
# tvm                  legalised   apache-tvm 0.27.0.post1   agree
# tvm                  rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, m):
        m |= m
        return m


def inputs():
    return (torch.tensor([True, False]),)


# output
#     eager              shares memory with input m
#     torchscript-graph  memory of its own
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript")
