# Calls addcmul_ on x: onnxruntime-torchscript drops it.
#
# inplace-fuzz: 1
# onnxruntime-torchscript         direct      onnxruntime 1.32.0   mismatch(values)   known
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0   agree
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0   agree
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x.addcmul_(x, x)
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]),)


# output, 2 of 2 elements differ
#     eager                    [2, 6]
#     onnxruntime-torchscript  [1, 2]
#                               ^  ^
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="onnxruntime-torchscript")
