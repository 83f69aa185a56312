# Writes 0 into x[-2] and returns x: tvm fails to build it.
#
# inplace-fuzz: 1
# tvm                 direct      apache-tvm 0.27.0.post1   error(build)   known
# tvm                 legalised   apache-tvm 0.27.0.post1   error(build)   known
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# torchscript         direct      torch 2.13.0              agree
# torchscript         rewritten   torch 2.13.0              agree
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              agree
# torchscript-trace   direct      torch 2.13.0              agree
# torchscript-trace   rewritten   torch 2.13.0              agree
# tvm                 rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x[-2] = 0
        return x


def inputs():
    return (torch.zeros([2, 0, 3], dtype=torch.float64),)


# tvm/direct says: ValueError: Reshape expects the new shape to be convertible from the old shape. However, the old shape is R.shape([0, 3]), with product T.int64(0), while the new shape is R.shape([1, 3, 3]), with product T.int64(9)
# tvm/legalised says: ValueError: Reshape expects the new shape to be convertible from the old shape. However, the old shape is R.shape([0, 3]), with product T.int64(0), while the new shape is R.shape([1, 3, 3]), with product T.int64(9)
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="tvm")
