# Writes through x[:] with fill_diagonal_ and returns x: export fails to import it.
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
        x[:].fill_diagonal_(0)
        return x


def inputs():
    return (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),)


# export/direct says: RuntimeError: During torch.compile, encountered a mutation on a view chain of length 2, where view 1 was an as_strided() call. as_strided() is non-compositional, and therefore is not possible to functionalize properly today,so this behavior is banned in compile. As a workaround, you can either remove the mutation from the model code, or you can insert a graph break right before the mutation with torch._dynamo.graph_break(). If you would like this behavior to work properly, please comment on https://github.com/pytorch/pytorch/issues/104505.
# tvm/direct says: RuntimeError: During torch.compile, encountered a mutation on a view chain of length 2, where view 1 was an as_strided() call. as_strided() is non-compositional, and therefore is not possible to functionalize properly today,so this behavior is banned in compile. As a workaround, you can either remove the mutation from the model code, or you can insert a graph break right before the mutation with torch._dynamo.graph_break(). If you would like this behavior to work properly, please comment on https://github.com/pytorch/pytorch/issues/104505.
# tvm/legalised says: RuntimeError: During torch.compile, encountered a mutation on a view chain of length 2, where view 1 was an as_strided() call. as_strided() is non-compositional, and therefore is not possible to functionalize properly today,so this behavior is banned in compile. As a workaround, you can either remove the mutation from the model code, or you can insert a graph break right before the mutation with torch._dynamo.graph_break(). If you would like this behavior to work properly, please comment on https://github.com/pytorch/pytorch/issues/104505.
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="export")
