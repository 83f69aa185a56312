# Divides whole numbers in place and rounds towards zero: pnnx rounds down.
#
# inplace-fuzz: 1
# pnnx   direct      pnnx 20261020   mismatch(values)           known
# pnnx   legalised   pnnx 20261020   mismatch(values, inputs)   known
# pnnx   rewritten   pnnx 20261020   mismatch(values, inputs)   known   origin: pnnx

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x.div_(2, rounding_mode='trunc')
        return x


def inputs():
    return (torch.tensor([-3, 3]),)


# output, 1 of 2 elements differ
#     eager  [-1, 1]
#     pnnx   [-2, 1]
#             ^^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="pnnx")
