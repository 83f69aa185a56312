# Returns x.diagonal(0): tvm fails to build it.
#
# inplace-fuzz: 1
# tvm                 direct      apache-tvm >=0.27.0,<=0.27.0.post1   error(build)       known
# tvm                 legalised   apache-tvm 0.27.0.post1              error(build)       known
# tvm                 rewritten   apache-tvm 0.27.0.post1              error(build)       known
# export              direct      torch 2.13.0                         agree
# export              rewritten   torch 2.13.0                         agree
# torchscript         direct      torch 2.13.0                         agree
# torchscript         rewritten   torch 2.13.0                         agree
# torchscript-graph   direct      torch 2.13.0                         agree
# torchscript-graph   rewritten   torch 2.13.0                         agree
# torchscript-trace   direct      torch 2.13.0                         agree
# torchscript-trace   rewritten   torch 2.13.0                         agree
# tvm                 direct      apache-tvm 0.26.0                    refused(convert)

import torch


class M(torch.nn.Module):
    def forward(self, x):
        return x.diagonal(0)


def inputs():
    return (torch.zeros([2, 0]),)


# tvm/direct says: InternalError: Check failed: (it != this->var_arg_map_.end()) is false: Var lv1 is not defined
# tvm/legalised says: InternalError: Check failed: (it != this->var_arg_map_.end()) is false: Var lv1 is not defined
# tvm/rewritten says: InternalError: Check failed: (it != this->var_arg_map_.end()) is false: Var lv1 is not defined
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="tvm")
