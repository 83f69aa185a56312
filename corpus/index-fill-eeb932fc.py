# Fills at an index with index_fill_: openvino fails to import it.
#
# inplace-fuzz: 1
# openvino   direct      openvino 2026.4.1   error(convert)   known
# openvino   legalised   openvino 2026.4.1   agree
# openvino   rewritten   openvino 2026.4.1   agree

import torch


class M(torch.nn.Module):
    def forward(self, x, i):
        x.index_fill_(0, i, 0)
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]), torch.tensor([0]))


# openvino/direct says: OpConversionFailure: Exception happened during conversion of operation index_fill/aten.index_fill.int_Scalar with schema NONE
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="openvino")
