"""Batch: a row of an op gives the same result alone and in batches of several sizes, whatever the other rows hold.

Kernels choose their blocks, vectors and threads by the size of the whole tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.unknown_shape import representative

#: Rows of a batch.
SIZES = (2, 3, 5, 8, 16, 32)
#: The begin of the name of a recipe of a batch, before its number of rows.
RECIPE = "rows_"


def batches(spec: Spec, *, shared: Sequence[int] = (), source: str = "plain", tier: str = "full") -> Iterator[Spec]:
    """The twins of a spec whose inputs are batches: `NAME-batch`, and `NAME-batch-xla` in the full tier.

    The first axis of each input and of each output is the axis of the batch. One dtype stands for the others. XLA
    compiles every size anew.

    Args:
      spec: the spec.
      shared: the numbers of the inputs that all rows share, such as filters.
      source: the recipe that the values come from; each draw gives further rows.
      tier: the tier of the other modes.
    """
    recipes = {f"{RECIPE}{size}": _rows(spec.recipes[source], size, tuple(shared)) for size in SIZES}
    fast = tuple(mode for mode in spec.modes if mode != "xla")
    twin = replace(
        spec,
        name=f"{spec.name}-batch",
        batch=tuple(shared),
        recipes=recipes,
        upstreams={},
        dtypes=(representative(spec.dtypes),),
        modes=fast,
        jvp=None,
        hvp=None,
        sweep=False,
        elementwise=False,
        tier=tier,
    )
    if fast:
        yield twin
    if "xla" in spec.modes:
        yield replace(twin, name=f"{twin.name}-xla", modes=("xla",), tier="full")


def _rows(recipe: Recipe, size: int, shared: tuple[int, ...]) -> Recipe:
    """A recipe of a batch of this size: rows of several draws, one after the other, and shared inputs of the first."""

    def rows(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        draws = [recipe(draw, dtype)]
        while any(sum(len(xs[i]) for xs in draws) < size for i in range(len(draws[0])) if i not in shared):
            draws.append(recipe(draw, dtype))
        each = zip(*draws, strict=True)
        return tuple(xs[0] if i in shared else np.concatenate(xs)[:size] for i, xs in enumerate(each))

    return rows
