# Writes 0 into x[-2:] and returns x: tvm fails to import it.
#
# inplace-fuzz: 1
# tvm                 direct      apache-tvm 0.27.0.post1   error(convert)   known   agrees with positive-bound
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
    def forward(self, x):
        x[-2:] = 0
        return x


def inputs():
    return (torch.tensor([1.0]),)


# tvm/direct says: ValueError: SliceScatter op requires the src tensor's dimension at scatter axis (0) to match the number of elements in the slice. Actual src dimension at axis 0: T.int64(1), Expected elements in slice (num_elem): T.int64(2)
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="tvm")
