# Copies floats into an integer tensor: onnxruntime-torchscript and pnnx return the floats.
#
# inplace-fuzz: 1
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0          mismatch(values, dtype)   known
# pnnx                            direct      pnnx 20261020               mismatch(values, dtype)   known
# executorch                      direct      executorch 1.5.1            agree
# executorch                      legalised   executorch 1.5.1            agree
# executorch                      rewritten   executorch 1.5.1            agree
# export                          direct      torch 2.13.0                agree
# export                          rewritten   torch 2.13.0                agree
# iree                            direct      iree-base-compiler 3.13.0   agree
# iree                            legalised   iree-base-compiler 3.13.0   agree
# iree                            rewritten   iree-base-compiler 3.13.0   agree
# onnxruntime                     direct      onnxruntime 1.32.0          agree
# onnxruntime                     legalised   onnxruntime 1.32.0          agree
# onnxruntime                     rewritten   onnxruntime 1.32.0          agree
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0          agree
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0          agree
# openvino                        direct      openvino 2026.4.1           agree
# openvino                        legalised   openvino 2026.4.1           agree
# openvino                        rewritten   openvino 2026.4.1           agree
# pnnx                            legalised   pnnx 20261020               agree
# pnnx                            rewritten   pnnx 20261020               agree
# torchscript-trace               direct      torch 2.13.0                agree
# torchscript-trace               rewritten   torch 2.13.0                agree
# tvm                             direct      apache-tvm 0.27.0.post1     agree
# tvm                             legalised   apache-tvm 0.27.0.post1     agree
# tvm                             rewritten   apache-tvm 0.27.0.post1     agree

import torch


class M(torch.nn.Module):
    def forward(self, x, y):
        x.copy_(y)
        return x


def inputs():
    return (torch.tensor([1, 2]), torch.tensor([1.5, -1.5]))


# output, 2 of 2 elements differ
#     eager                          [1, -1]
#     onnxruntime-torchscript-trace  [1.5, -1.5]
#                                     ^^^  ^^^^
# output
#     eager                          int64
#     onnxruntime-torchscript-trace  float32
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="onnxruntime-torchscript-trace")
