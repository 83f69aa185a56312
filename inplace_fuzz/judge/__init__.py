"""Observe a run, compare two observations, give a verdict and the bucket that it falls into.

`observe` needs torch and runs in workers; everything else here is plain Python.
"""

from inplace_fuzz.judge.bucket import Bucket, bucket, normalise_message
from inplace_fuzz.judge.compare import compare

__all__ = ["Bucket", "bucket", "compare", "normalise_message"]
