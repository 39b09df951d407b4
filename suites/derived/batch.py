"""Batch: a row of an op gives the same result alone and in batches of several sizes, whatever the other rows hold.

Kernels choose their blocks, vectors and threads by the size of the whole tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import ROWS, Draw
from tf_opdiff.harness.spec.plan import without_modes
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.twin import representative, twin

#: Rows of a batch.
SIZES = (2, 3, 5, 8, 16, 32)


_CANCELLING = Loose(
    reason="sums of thousands of terms cancel in a batch; the recipes of the spec have no such sums, or say where",
    roundings=2**14,
)


def batches(spec: Spec, recipe: Recipe, shared: Sequence[int] = ()) -> Iterator[Spec]:
    """The twins of a spec whose inputs are batches: `NAME-batches`, and `NAME-batches-graphs` in the full tier.

    The first axis of each input and of each output is the axis of the batch. One dtype stands for the others. Eager
    mode, which builds nothing, is in the tier of the spec. The other modes build every size anew.

    Args:
      spec: the spec.
      recipe: the recipe that the values come from; each draw gives further rows.
      shared: the numbers of the inputs that all rows share, such as filters.
    """
    fields: dict[str, Any] = {
        "batch": tuple(shared),
        "recipes": {f"{ROWS}{size}": _rows(recipe, size, tuple(shared)) for size in SIZES},
        "upstreams": {},
        "dtypes": (representative(spec.dtypes),),
        **dict.fromkeys(("second", "jvp", "hvp")),
        "elementwise": False,
        "loose": {family_of(quantity): _CANCELLING for quantity in spec.tolerance.bound} | dict(spec.tolerance.loose),
    }
    for suffix, modes, tier in (("", ("eager",), spec.tier), ("-graphs", without_modes("eager"), "full")):
        if own := tuple(mode for mode in modes if mode in spec.modes):
            yield twin(spec, "batches", suffix, modes=own, tier=tier, **fields)


def _rows(recipe: Recipe, size: int, shared: tuple[int, ...]) -> Recipe:
    """A recipe of a batch of this size: rows of several draws, one after the other, and shared inputs of the first."""

    def rows(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        draws = [recipe(draw, dtype)]
        while any(sum(len(xs[i]) for xs in draws) < size for i in range(len(draws[0])) if i not in shared):
            draws.append(recipe(draw, dtype))
        each = zip(*draws, strict=True)
        return tuple(xs[0] if i in shared else np.concatenate(xs)[:size] for i, xs in enumerate(each))

    return rows
