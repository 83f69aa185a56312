# Sets self.buf and returns self.buf: torchscript-trace shares other memory.
#
# inplace-fuzz: 1
# torchscript-trace   direct      torch 2.13.0              mismatch(alias)   known
# torchscript-trace   rewritten   torch 2.13.0              mismatch(alias)   known   origin: torchscript
# export              direct      torch 2.13.0              agree
# export              rewritten   torch 2.13.0              agree
# torchscript         direct      torch 2.13.0              agree
# torchscript         rewritten   torch 2.13.0              agree
# torchscript-graph   direct      torch 2.13.0              agree
# torchscript-graph   rewritten   torch 2.13.0              agree
# tvm                 direct      apache-tvm 0.27.0.post1   agree
# tvm                 legalised   apache-tvm 0.27.0.post1   agree
# tvm                 rewritten   apache-tvm 0.27.0.post1   agree

import torch


class M(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('buf', torch.arange(9, dtype=torch.float64).reshape([3, 3]))

    def forward(self):
        self.buf = self.buf.clone()
        return self.buf


def inputs():
    return ()


# output
#     eager              shares memory with buffer buf
#     torchscript-trace  memory of its own
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="torchscript-trace")
