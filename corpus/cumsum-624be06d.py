# Writes x.cumsum_(0) where x is empty: tvm dies of SIGSEGV when it runs.
#
# inplace-fuzz: 1
# tvm                 direct      apache-tvm 0.25.0         crash(SIGSEGV)   known
# tvm                 direct      apache-tvm 0.26.0         crash(SIGSEGV)   known
# tvm                 direct      apache-tvm 0.27.0.post1   crash(SIGSEGV)   known
# tvm                 legalised   apache-tvm 0.25.0         crash(SIGSEGV)   known
# tvm                 legalised   apache-tvm 0.26.0         crash(SIGSEGV)   known
# tvm                 legalised   apache-tvm 0.27.0.post1   crash(SIGSEGV)   known
# tvm                 rewritten   apache-tvm 0.25.0         crash(SIGSEGV)   known
# tvm                 rewritten   apache-tvm 0.26.0         crash(SIGSEGV)   known
# tvm                 rewritten   apache-tvm 0.27.0.post1   crash(SIGSEGV)   known
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
    def forward(self, x):
        x.cumsum_(0)
        return x


def inputs():
    return (torch.zeros([0]),)


# tvm/direct says: died of SIGSEGV in run
# tvm/legalised says: died of SIGSEGV in run
# tvm/rewritten says: died of SIGSEGV in run
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="tvm")
