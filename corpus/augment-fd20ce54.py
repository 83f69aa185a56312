# Adds to an int32 arange in place: onnxruntime-torchscript-trace returns int64.
#
# inplace-fuzz: 1
# onnxruntime-torchscript         direct      onnxruntime 1.32.0   mismatch(dtype)   known   agrees with cloned-constant
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0   mismatch(dtype)   known   agrees with cloned-constant
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0   agree
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        y = torch.arange(2, dtype=torch.int32)
        y += x
        return y


def inputs():
    return (torch.tensor([1, 2], dtype=torch.int32),)


# output
#     eager                          int32
#     onnxruntime-torchscript-trace  int64
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="onnxruntime-torchscript")
