# Negates uint8 in place: onnxruntime-torchscript makes an invalid graph.
#
# inplace-fuzz: 1
# onnxruntime-torchscript         direct      onnxruntime 1.32.0   error(build)   known
# onnxruntime-torchscript-trace   direct      onnxruntime 1.32.0   error(build)   known
# onnxruntime-torchscript-trace   legalised   onnxruntime 1.32.0   agree
# onnxruntime-torchscript-trace   rewritten   onnxruntime 1.32.0   agree

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x.neg_()
        return x


def inputs():
    return (torch.tensor([1, 2], dtype=torch.uint8),)


# onnxruntime-torchscript/direct says: InvalidGraph: [ONNXRuntimeError] : 10 : INVALID_GRAPH : This is an invalid model. Type Error: Type 'tensor(uint8)' of input parameter (x) of operator (Neg) in node (/Neg) is invalid.
# onnxruntime-torchscript-trace/direct says: InvalidGraph: [ONNXRuntimeError] : 10 : INVALID_GRAPH : This is an invalid model. Type Error: Type 'tensor(uint8)' of input parameter (x) of operator (Neg) in node (/Neg) is invalid.
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="onnxruntime-torchscript")
