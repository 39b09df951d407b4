"""Upstream: the random upstream gradients and tangents of a case."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tf_opdiff.harness.judge.promises.want import result_dtype
from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Case

Upstreams = Callable[[list[np.ndarray], Case], tuple[np.ndarray | None, ...] | None]
Tangents = Callable[[Sequence[np.ndarray], Case], tuple[np.ndarray, ...]]


def random_upstreams(outputs: list[np.ndarray], case: Case) -> tuple[np.ndarray | None, ...] | None:
    """Upstream gradients for the outputs that have a gradient: random, away from zero, unless the recipe has others.

    If no output is a float, integers are sent, to test how the plans handle them.
    """
    draw = Draw(case.seed ^ 0x5EED)
    dtypes = [result_dtype(y, np.dtype(case.dtype)) for y in outputs]
    smooth = [d.kind == "c" or is_float(d) for d in dtypes]
    chosen = smooth if any(smooth) else [d.kind in "iu" for d in dtypes]
    special = case.spec.derivatives.upstreams.get(case.recipe)
    gradients: list[np.ndarray | None] = []
    for y, dtype, wanted in zip(outputs, dtypes, chosen, strict=True):
        if special and wanted:
            gradients.append(np.asarray(special(draw, dtype, *y.shape)).astype(dtype))
            continue
        g = draw.uniform(*y.shape, low=0.5, high=4.0) * np.where(draw.booleans(*y.shape), 1, -1)
        if dtype.kind == "c":
            g = g + 1j * draw.uniform(*y.shape, low=0.5, high=4.0)
        gradients.append((np.abs(g) if dtype.kind == "u" else g).astype(dtype) if wanted else None)
    return tuple(gradients) if any(chosen) else None


def random_tangents(inputs: Sequence[np.ndarray], case: Case) -> tuple[np.ndarray, ...]:
    """Random tangents, away from zero, one for each input."""
    draw = Draw(case.seed ^ 0x7A46)
    signs = (np.where(draw.booleans(*x.shape), 1, -1) for x in inputs)
    return tuple(
        (draw.uniform(*x.shape, low=0.5, high=4.0) * s).astype(x.dtype) for x, s in zip(inputs, signs, strict=True)
    )
