"""Block promises: the promises of a spec for a block of bit patterns, and their upstreams."""

from __future__ import annotations

import numpy as np

from tf_opdiff.harness.device.request import Bits, Cycle
from tf_opdiff.harness.judge.promises.expectation import Expectation, expectation
from tf_opdiff.harness.judge.promises.want import result_dtype
from tf_opdiff.harness.spec.inputs.recipes import is_float
from tf_opdiff.harness.spec.spec import Case, Side

#: The upstream gradient. Its values have both signs, are exact in every float dtype, and have a size of at least 1, so
#: that the gradient overflows wherever the derivative does. A vector's width is no multiple of 7, their number.
UPSTREAM = (1.0, -1.5, 2.5, -3.0, 1.75, -1.25, 2.0)


def upstreams(inputs: Bits, case: Case, outputs: list[np.ndarray]) -> tuple[Cycle | None, ...] | None:
    """The upstream of each floating-point output, else None; None for all if no output is floating-point.

    The upstream of an element depends on its bit pattern, not on its place in the block.
    """
    dtypes = [result_dtype(y, np.dtype(case.dtype)) for y in outputs]
    values = tuple(upstream_at(inputs, np.arange(len(UPSTREAM))).tolist())
    cycles = tuple(Cycle(d.name, values, 0, inputs.size) if is_float(d) else None for d in dtypes)
    return cycles if any(cycles) else None


def upstream_at(inputs: Bits, at: np.ndarray) -> np.ndarray:
    """The upstreams of the inputs at these places, in float64."""
    return np.array(UPSTREAM)[(inputs.lo + at * inputs.step) % len(UPSTREAM)]


def expected(
    case: Case,
    inputs: Bits,
    side: Side | None,
    x: np.ndarray | None = None,
    at: np.ndarray | None = None,
    *,
    bounds: bool = False,
) -> Expectation:
    """The promises for inputs, or for the numbers `x` with the upstreams of the inputs at these places."""
    x = inputs.array() if x is None else x

    def upstream_arrays(outputs: list[np.ndarray], _: Case) -> tuple[np.ndarray | None, ...] | None:
        cycles = upstreams(inputs, case, outputs)
        if cycles is None or at is None:
            return None if cycles is None else tuple(None if g is None else g.array() for g in cycles)
        values = upstream_at(inputs, at)
        return tuple(None if g is None else values.astype(g.dtype) for g in cycles)

    return expectation(case, (x,), side, upstreams_of=upstream_arrays, bounds=bounds)
