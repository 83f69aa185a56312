# Updates m2[m2 != 0] in place and returns m: tvm fails to import it.
#
# inplace-fuzz: 1
# tvm                 direct      apache-tvm 0.27.0.post1   error(convert)   known
# tvm                 legalised   apache-tvm 0.27.0.post1   error(convert)   known
# tvm                 rewritten   apache-tvm 0.27.0.post1   error(convert)   known
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
    def forward(self, m, m2):
        m2[m2 != 0] ^= m[0]
        return m


def inputs():
    return (torch.tensor([True, True]), torch.tensor([True, False]))


# tvm/direct says: TypeError: Take op requires the input indices to have integer dtype. However, the given indices dtype is T.bool
# tvm/legalised says: TypeError: Take op requires the input indices to have integer dtype. However, the given indices dtype is T.bool
# tvm/rewritten says: TypeError: Take op requires the input indices to have integer dtype. However, the given indices dtype is T.bool
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="tvm")
