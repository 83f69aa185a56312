# Writes a sum through out=: onnxruntime-torchscript drops it, traced it fails to import.
#
# inplace-fuzz: 1
# onnxruntime-torchscript         direct      onnxruntime 1.32.0   mismatch(values)   known
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0   error(convert)     known
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0   agree
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0   agree

import torch


class M(torch.nn.Module):
    def forward(self, x, y):
        torch.add(x, 1, out=y)
        return y


def inputs():
    return (torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]))


# output, 2 of 2 elements differ
#     eager                    [2, 3]
#     onnxruntime-torchscript  [3, 4]
#                               ^  ^
# onnxruntime-torchscript-trace/direct says: TypeError: add() takes from 3 to 4 positional arguments but 5 were given
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="onnxruntime-torchscript")
