# Compares in place: onnxruntime-torchscript and pnnx return bools.
#
# inplace-fuzz: 1
# onnxruntime-torchscript         direct      onnxruntime 1.32.0   mismatch(dtype)   known
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0   mismatch(dtype)   known
# pnnx                            direct      pnnx 20261020        mismatch(dtype)   known
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0   agree
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0   agree
# pnnx                            legalised   pnnx 20261020        agree
# pnnx                            rewritten   pnnx 20261020        agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x.eq_(2)
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]),)


# output
#     eager                          float32
#     onnxruntime-torchscript-trace  bool
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="onnxruntime-torchscript")
