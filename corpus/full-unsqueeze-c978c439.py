# Writes through x[:] with unsqueeze_ and returns x: export fails to import it.
#
# inplace-fuzz: 1
# export              direct      torch 2.13.0              error(convert)   known
# tvm                 direct      apache-tvm 0.27.0.post1   error(convert)   known
# tvm                 legalised   apache-tvm 0.27.0.post1   error(export)    known
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
        x[:].unsqueeze_(0)
        return x


def inputs():
    return (torch.tensor([1.0, 2.0, 3.0]).as_strided([2], [2], 0),)


# export/direct says: AttributeError: 'NoneType' object has no attribute 'size'
# tvm/direct says: AttributeError: 'NoneType' object has no attribute 'size'
# tvm/legalised says: AttributeError: 'NoneType' object has no attribute 'size'
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="export")
