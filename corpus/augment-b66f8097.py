# Adds to a tensor filled with a whole number: onnxruntime-torchscript-trace returns floats.
#
# inplace-fuzz: 1
# onnxruntime-torchscript         direct      onnxruntime 1.32.0   mismatch(dtype)   known   agrees with cloned-constant
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0   mismatch(dtype)   known   agrees with cloned-constant
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0   agree
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        y = torch.full([2], 1)
        y += x
        return y


def inputs():
    return (torch.tensor([1, 2]),)


# output
#     eager                          int64
#     onnxruntime-torchscript-trace  float32
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="onnxruntime-torchscript")
