# Adds at one index twice with index_add_: openvino fails to import it.
#
# inplace-fuzz: 1
# openvino   direct      openvino 2026.4.1   error(convert)   known
# openvino   legalised   openvino 2026.4.1   agree
# openvino   rewritten   openvino 2026.4.1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x, i):
        x.index_add_(0, i, x * 1)
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]), torch.tensor([0, 0]))


# openvino/direct says: OpConversionFailure: Got less inputs 4 than expected 5
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="openvino")
