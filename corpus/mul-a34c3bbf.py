# Multiplies in place by True: pnnx writes a module that does not run.
#
# inplace-fuzz: 1
# pnnx   direct      pnnx 20261020   error(run)       known
# pnnx   legalised   pnnx 20261020   error(convert)   known
# pnnx   rewritten   pnnx 20261020   error(convert)   known

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x.mul_(True)
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]),)


# pnnx/direct says: TypeError: unsupported operand type(s) for *: 'Tensor' and 'NoneType'
# pnnx/legalised says: ConversionFailed: frame #24: /work/cache/inplace-fuzz/environments/pnnx@20261020/lib/python3.11/site-packages/pnnx/pnnx() [0x50de1e]
# pnnx/rewritten says: RuntimeError: 0 INTERNAL ASSERT FAILED at "/__w/pytorch/pytorch/torch/csrc/jit/ir/alias_analysis.cpp":623, please report a bug to PyTorch. We don't have an op for aten::mul but it isn't a special case.  Argument types: Tensor, bool,
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="pnnx")
