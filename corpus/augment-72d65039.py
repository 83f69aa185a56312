# Divides integers with //= and a negative operand: openvino and onnxruntime-torchscript-trace round towards
# zero.
#
# inplace-fuzz: 1
# iree                            direct      iree-base-compiler 3.13.0   error(build)                      known
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0          mismatch(values)                  known
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0          mismatch(values, inputs)          known
# openvino                        direct      openvino 2026.4.1           mismatch(values)                  known
# openvino                        legalised   openvino 2026.4.1           mismatch(values, inputs)          known
# openvino                        rewritten   openvino 2026.4.1           mismatch(values, inputs)          known
# openvino-trace                  direct      openvino 2026.4.1           mismatch(values)                  known
# openvino-trace                  legalised   openvino 2026.4.1           mismatch(values, inputs)          known
# openvino-trace                  rewritten   openvino 2026.4.1           mismatch(values, inputs)          known
# pnnx                            legalised   pnnx 20261020               mismatch(values, dtype, inputs)   known
# tvm                             direct      apache-tvm 0.27.0.post1     error(convert)                    known
# tvm                             legalised   apache-tvm 0.27.0.post1     error(convert)                    known
# tvm                             rewritten   apache-tvm 0.27.0.post1     error(convert)                    known
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
# onnxruntime-torchscript         direct      onnxruntime 1.32.0          refused(convert)
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0          agree
# pnnx                            direct      pnnx 20261020               agree
# pnnx                            rewritten   pnnx 20261020               agree
# torchscript                     direct      torch 2.13.0                refused(convert)
# torchscript                     rewritten   torch 2.13.0                refused(convert)
# torchscript-trace               direct      torch 2.13.0                agree
# torchscript-trace               rewritten   torch 2.13.0                agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x //= 2
        return x


def inputs():
    return (torch.tensor([-3, 3]),)


# output, 1 of 2 elements differ
#     eager                          [-2, 1]
#     onnxruntime-torchscript-trace  [-1, 1]
#                                     ^^
# iree/direct says: CompilationFailed: failed to legalize unresolved target materialization from ('tensor<2xsi64>') to ('tensor<2xi64>') that remained live after conversion (no matching callback)
# tvm/direct says: TypeError: Binary operators must have the same datatype for both operands.  However, R.floor_divide(x, R.const(2, "int32")) uses datatype T.int64 on the LHS (Type of R.Tensor((2,), dtype="int64")), and datatype T.int32 on the RHS (Type of R.Tensor((), dtype="int32")).
# tvm/legalised says: TypeError: Binary operators must have the same datatype for both operands.  However, R.floor_divide(x, R.const(2, "int32")) uses datatype T.int64 on the LHS (Type of R.Tensor((2,), dtype="int64")), and datatype T.int32 on the RHS (Type of R.Tensor((), dtype="int32")).
# tvm/rewritten says: TypeError: Binary operators must have the same datatype for both operands.  However, R.floor_divide(x, R.const(2, "int32")) uses datatype T.int64 on the LHS (Type of R.Tensor((2,), dtype="int64")), and datatype T.int32 on the RHS (Type of R.Tensor((), dtype="int32")).
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="iree")
