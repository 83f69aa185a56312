# Zeroes a window of x that leaves a rest: export, and openvino which starts from it, zero the rest too.
#
# inplace-fuzz: 1
# export     direct      torch 2.13.0        mismatch(values, inputs)   known
# openvino   direct      openvino 2026.4.1   mismatch(values)           known   origin: export
# openvino   legalised   openvino 2026.4.1   mismatch(values, inputs)   known   origin: export
# export     rewritten   torch 2.13.0        agree
# openvino   rewritten   openvino 2026.4.1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x.unfold(0, 2, 2).zero_()
        return x


def inputs():
    return (torch.tensor([1.0, 2.0, 3.0]),)


# output, 1 of 3 elements differ
#     eager     [0, 0, 3]
#     openvino  [0, 0, 0]
#                      ^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="openvino")
