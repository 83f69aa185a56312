# Calls clamp_ on x and returns x: tvm fails to build it.
#
# inplace-fuzz: 1
# tvm                 direct      apache-tvm 0.27.0.post1   error(build)   known
# tvm                 legalised   apache-tvm 0.27.0.post1   error(build)   known
# tvm                 rewritten   apache-tvm 0.27.0.post1   error(build)   known
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# torchscript         direct      torch 2.13.0              agree
# torchscript         rewritten   torch 2.13.0              agree
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              agree
# torchscript-trace   direct      torch 2.13.0              agree
# torchscript-trace   rewritten   torch 2.13.0              agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x.clamp_(min=0)
        return x


def inputs():
    return (torch.tensor([0, 1], dtype=torch.int8),)


# tvm/direct says: RuntimeError: Cannot convert infinity to BigInt
# tvm/legalised says: RuntimeError: Cannot convert infinity to BigInt
# tvm/rewritten says: RuntimeError: Cannot convert infinity to BigInt
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="tvm")
