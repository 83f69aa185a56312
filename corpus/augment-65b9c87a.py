# Takes the remainder of negative integers in place: scripted, and in executorch, it has the dividend's sign.
#
# inplace-fuzz: 1
# executorch                      direct      executorch 1.5.1            mismatch(values)           known
# executorch                      legalised   executorch 1.5.1            mismatch(values, inputs)   known
# executorch                      rewritten   executorch 1.5.1            mismatch(values, inputs)   known   origin: torchscript
# iree                            direct      iree-base-compiler 3.13.0   error(build)               known
# onnxruntime-torchscript         direct      onnxruntime 1.32.0          mismatch(values)           known   origin: torchscript; agrees with arithmetic-method
# torchscript                     direct      torch 2.13.0                mismatch(values, inputs)   known   agrees with arithmetic-method
# torchscript                     rewritten   torch 2.13.0                mismatch(values, inputs)   known   origin: torchscript; agrees with arithmetic-method
# torchscript-frozen              direct      torch 2.13.0                mismatch(values, inputs)   known   origin: torchscript; agrees with arithmetic-method
# torchscript-frozen              rewritten   torch 2.13.0                mismatch(values, inputs)   known   origin: torchscript; agrees with arithmetic-method
# torchscript-graph               direct      torch 2.13.0                mismatch(values, inputs)   known   agrees with arithmetic-method
# torchscript-graph               rewritten   torch 2.13.0                mismatch(values, inputs)   known   origin: torchscript; agrees with arithmetic-method
# torchscript-legacy              direct      torch 2.13.0                mismatch(values, inputs)   known   agrees with arithmetic-method
# torchscript-legacy              rewritten   torch 2.13.0                mismatch(values, inputs)   known   origin: torchscript; agrees with arithmetic-method
# export                          direct      torch 2.13.0                agree
# export                          rewritten   torch 2.13.0                agree
# iree                            legalised   iree-base-compiler 3.13.0   agree
# iree                            rewritten   iree-base-compiler 3.13.0   agree
# onnxruntime                     direct      onnxruntime 1.32.0          agree
# onnxruntime                     legalised   onnxruntime 1.32.0          agree
# onnxruntime                     rewritten   onnxruntime 1.32.0          agree
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0          agree
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0          agree
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0          agree
# openvino                        direct      openvino 2026.4.1           agree
# openvino                        legalised   openvino 2026.4.1           agree
# openvino                        rewritten   openvino 2026.4.1           agree
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
        x %= 2
        return x


def inputs():
    return (torch.tensor([-3, 3]),)


# output, 1 of 2 elements differ
#     eager       [1, 1]
#     executorch  [-1, 1]
#                  ^^
# iree/direct says: CompilationFailed: failed to legalize unresolved target materialization from ('tensor<2xsi64>') to ('tensor<2xi64>') that remained live after conversion (no matching callback)
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="executorch")
