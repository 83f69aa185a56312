# Zeroes x through its diagonal: onnxruntime-torchscript and pnnx lose the write, onnxruntime fails to import
# it.
#
# inplace-fuzz: 1
# onnxruntime                     direct      onnxruntime 1.32.0          error(convert)     known
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0          mismatch(values)   known
# pnnx                            direct      pnnx 20261020               mismatch(values)   known
# executorch                      direct      executorch 1.5.1            refused(convert)
# executorch                      legalised   executorch 1.5.1            agree
# executorch                      rewritten   executorch 1.5.1            agree
# export                          direct      torch 2.13.0                agree
# export                          rewritten   torch 2.13.0                agree
# iree                            direct      iree-base-compiler 3.13.0   refused(build)
# iree                            legalised   iree-base-compiler 3.13.0   agree
# iree                            rewritten   iree-base-compiler 3.13.0   agree
# onnxruntime                     legalised   onnxruntime 1.32.0          agree
# onnxruntime                     rewritten   onnxruntime 1.32.0          agree
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0          agree
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0          agree
# openvino                        direct      openvino 2026.4.1           refused(convert)
# openvino                        legalised   openvino 2026.4.1           agree
# openvino                        rewritten   openvino 2026.4.1           agree
# pnnx                            legalised   pnnx 20261020               agree
# pnnx                            rewritten   pnnx 20261020               agree
# torchscript-trace               direct      torch 2.13.0                agree
# torchscript-trace               rewritten   torch 2.13.0                agree
# tvm                             direct      apache-tvm 0.27.0.post1     refused(convert)
# tvm                             legalised   apache-tvm 0.27.0.post1     agree
# tvm                             rewritten   apache-tvm 0.27.0.post1     agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x.diagonal().zero_()
        return x


def inputs():
    return (torch.tensor([[1.0, 2.0], [3.0, 4.0]]),)


# output, 2 of 4 elements differ
#     eager                          [[0, 2], [3, 0]]
#     onnxruntime-torchscript-trace  [[1, 2], [3, 4]]
#                                      ^          ^
# onnxruntime/direct says: AssertionError: aot_autograd expected to have an entirely functional graph, but found %copy_to : [num_users=0] = call_function[target=torch.ops.prims.copy_to.default](args = (%diagonal_1, %zeros_like), kwargs = {})
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="onnxruntime")
