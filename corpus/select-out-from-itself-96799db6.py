# Gives out= a view of another shape, which eager resizes: export fails to import it.
#
# inplace-fuzz: 1
# export              direct      torch 2.13.0              error(convert)     known
# export-dynamic      direct      torch 2.13.0              error(convert)     known
# tvm                 direct      apache-tvm 0.27.0.post1   error(convert)     known
# tvm                 legalised   apache-tvm 0.27.0.post1   error(export)      known
# export              rewritten   torch 2.13.0              refused(rewrite)
# export-dynamic      rewritten   torch 2.13.0              refused(rewrite)
# torchscript         direct      torch 2.13.0              agree
# torchscript         rewritten   torch 2.13.0              refused(run)
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              refused(run)
# torchscript-trace   direct      torch 2.13.0              agree
# torchscript-trace   rewritten   torch 2.13.0              refused(run)
# tvm                 rewritten   apache-tvm 0.27.0.post1   refused(rewrite)

import torch


class M(torch.nn.Module):
    def forward(self, x):
        torch.add(x[0], 1 - x, out=x[0])
        return x


def inputs():
    return (torch.tensor([1.0]),)


# export/direct says: RuntimeError: expand: the requested shape has too few dimensions!
# export-dynamic/direct says: RuntimeError: expand: the requested shape has too few dimensions!
# tvm/direct says: RuntimeError: expand: the requested shape has too few dimensions!
# tvm/legalised says: RuntimeError: expand: the requested shape has too few dimensions!
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="export")
