# Writes y into x[0] and returns x: torchscript-graph fails to run it.
#
# inplace-fuzz: 1
# torchscript          direct      torch 2.13.0              error(run)   known
# torchscript          rewritten   torch 2.13.0              error(run)   known
# torchscript-frozen   direct      torch 2.13.0              error(run)   known
# torchscript-frozen   rewritten   torch 2.13.0              error(run)   known
# torchscript-graph    direct      torch 2.13.0              error(run)   known
# torchscript-graph    rewritten   torch 2.13.0              error(run)   known
# torchscript-legacy   direct      torch 2.13.0              error(run)   known
# torchscript-legacy   rewritten   torch 2.13.0              error(run)   known
# export               direct      torch 2.13.0              agree
# export               rewritten   torch 2.13.0              agree
# torchscript-trace    direct      torch 2.13.0              agree
# torchscript-trace    rewritten   torch 2.13.0              agree
# tvm                  direct      apache-tvm 0.27.0.post1   agree
# tvm                  legalised   apache-tvm 0.27.0.post1   agree
# tvm                  rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x, y):
        x[0] = y
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]), torch.tensor([3.0]))


# torchscript/direct says: RuntimeError: output with shape [] doesn't match the broadcast shape [1]
# torchscript/rewritten says: RuntimeError: expand(torch.FloatTensor{[1]}, size=[]): the number of sizes provided (0) must be greater or equal to the number of dimensions in the tensor (1)
# torchscript-frozen/direct says: RuntimeError: output with shape [] doesn't match the broadcast shape [1]
# torchscript-frozen/rewritten says: RuntimeError: expand(torch.FloatTensor{[1]}, size=[]): the number of sizes provided (0) must be greater or equal to the number of dimensions in the tensor (1)
# torchscript-graph/direct says: RuntimeError: output with shape [] doesn't match the broadcast shape [1]
# torchscript-graph/rewritten says: RuntimeError: expand(CPUFloatType{[1]}, size=[]): the number of sizes provided (0) must be greater or equal to the number of dimensions in the tensor (1)
# torchscript-legacy/direct says: RuntimeError: output with shape [] doesn't match the broadcast shape [1]
# torchscript-legacy/rewritten says: RuntimeError: expand(torch.FloatTensor{[1]}, size=[]): the number of sizes provided (0) must be greater or equal to the number of dimensions in the tensor (1)
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript")
