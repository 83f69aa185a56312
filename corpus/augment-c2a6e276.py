# Subtracts below 0 in uint8: openvino stops at 0 where eager wraps around.
#
# inplace-fuzz: 1
# iree                            direct      iree-base-compiler 3.13.0   crash(SIGSEGV)             known
# iree                            legalised   iree-base-compiler 3.13.0   crash(SIGSEGV)             known
# iree                            rewritten   iree-base-compiler 3.13.0   crash(SIGSEGV)             known
# openvino                        direct      openvino 2026.4.1           mismatch(values)           known
# openvino                        legalised   openvino 2026.4.1           mismatch(values, inputs)   known
# executorch                      direct      executorch 1.5.1            agree
# executorch                      legalised   executorch 1.5.1            agree
# executorch                      rewritten   executorch 1.5.1            agree
# export                          direct      torch 2.13.0                agree
# export                          rewritten   torch 2.13.0                agree
# onnxruntime                     direct      onnxruntime 1.32.0          agree
# onnxruntime                     legalised   onnxruntime 1.32.0          agree
# onnxruntime                     rewritten   onnxruntime 1.32.0          agree
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0          agree
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0          agree
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0          agree
# openvino                        rewritten   openvino 2026.4.1           refused(convert)
# pnnx                            direct      pnnx 20261020               agree
# pnnx                            legalised   pnnx 20261020               agree
# pnnx                            rewritten   pnnx 20261020               agree
# torchscript-trace               direct      torch 2.13.0                agree
# torchscript-trace               rewritten   torch 2.13.0                agree
# tvm                             direct      apache-tvm 0.27.0.post1     agree
# tvm                             legalised   apache-tvm 0.27.0.post1     agree
# tvm                             rewritten   apache-tvm 0.27.0.post1     agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x -= 2
        return x


def inputs():
    return (torch.tensor([1, 2], dtype=torch.uint8),)


# output, 1 of 2 elements differ
#     eager     [255, 0]
#     openvino  [0, 0]
#                ^
# iree/direct says: died of SIGSEGV in build
# iree/legalised says: died of SIGSEGV in build
# iree/rewritten says: died of SIGSEGV in build
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="iree")
