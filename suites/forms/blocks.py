"""Blocks: an aspect of ops whose kernels work in blocks, tiles or warps: calls with more elements than one of them.

Sums of hundreds of terms also tell, in 16 bits, whether a kernel adds up in float32: see
`suites.reference.promises.accumulation.accumulator`.
"""

from __future__ import annotations

from collections.abc import Iterable

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.part import Op, part

#: The dtypes of long sums of products: in float32, the bound of hundreds of terms hides half of the digits.
SHORT = ("float16", "bfloat16")


def past_blocks(op: Op) -> Iterable[Spec]:
    """Results of large calls, with gradients if TensorFlow has them."""
    dtypes = [dtype for dtype in op.blocks_in if dtype in op.dtypes]
    if op.blocks:
        yield from part("-blocks", calls=op.blocks, recipes={"plain": op.of_blocks}, dtypes=dtypes)(op)
