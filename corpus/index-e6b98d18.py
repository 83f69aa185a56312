# Writes 0 at a negative index in a tensor: iree dies of SIGSEGV.
#
# inplace-fuzz: 1
# iree                            direct      iree-base-compiler 3.13.0   crash(SIGSEGV)   known
# pnnx                            legalised   pnnx 20261020               error(convert)   known
# pnnx                            rewritten   pnnx 20261020               error(convert)   known
# executorch                      direct      executorch 1.5.1            agree
# executorch                      legalised   executorch 1.5.1            agree
# executorch                      rewritten   executorch 1.5.1            agree
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
# torchscript-trace               direct      torch 2.13.0                agree
# torchscript-trace               rewritten   torch 2.13.0                agree
# tvm                             direct      apache-tvm 0.27.0.post1     agree
# tvm                             legalised   apache-tvm 0.27.0.post1     agree
# tvm                             rewritten   apache-tvm 0.27.0.post1     agree

import torch


class M(torch.nn.Module):
    def forward(self, x, i):
        x[i] = 0.0
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]), torch.tensor([-1, 0]))


# iree/direct says: died of SIGSEGV in run
# pnnx/legalised says: SyntaxError: invalid syntax (program_pnnx.py, line 44)
# pnnx/rewritten says: SyntaxError: invalid syntax (program_pnnx.py, line 44)
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="iree")
