# Writes rows picked by a list of indices into a tensor made in forward, through a slice of it.
#
# inplace-fuzz: 1
# tvm                 direct      apache-tvm 0.27.0.post1   error(convert)   known
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
    def forward(self, y):
        x = torch.zeros((3, 2))
        idx = torch.tensor([0, 2])
        x[idx, :] = y[idx, :]
        return x


def inputs():
    return (torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),)


# tvm/direct says: ValueError: IndexPut requires the number of index tensors (1) to match the data tensor dimensions (2)
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="tvm")
