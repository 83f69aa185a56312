# Adds 0 to a column that is a transposed row: executorch fails to run it.
#
# inplace-fuzz: 1
# executorch   direct      executorch 1.5.1   error(run)   known
# executorch   legalised   executorch 1.5.1   error(run)   known
# executorch   rewritten   executorch 1.5.1   error(run)   known

import torch


class M(torch.nn.Module):
    def forward(self, x):
        x += 0
        return x


def inputs():
    return (torch.tensor([1.0, 2.0]).as_strided([2, 1], [1, 2], 0),)


# executorch/direct says: RuntimeError: method->execute() failed with error 0x12
# executorch/legalised says: RuntimeError: method->execute() failed with error 0x12
# executorch/rewritten says: RuntimeError: method->execute() failed with error 0x12
if __name__ == "__main__":
    from inplace_fuzz import show_difference

    show_difference(M, inputs, backend="executorch")
