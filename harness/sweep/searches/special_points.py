"""Special points: inputs near which a search begins, in addition to inputs from everywhere.

They are the inputs of the spec's own recipes, which hold edges, roots, poles and thresholds of its function, and inputs
with known large errors. An op of one input adds the powers of two and the multiples of pi / 2.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from tf_opdiff.harness.paths import ROOT
from tf_opdiff.harness.spec.spec import Case, Spec

#: The folder of the atlas, whose files have the worst inputs of narrower dtypes.
_ATLAS = ROOT / "recordings" / "atlas"
#: More points than this are thinned out.
_MOST = 4096
#: The largest multiple of pi / 2 whose neighbours are points of every size.
_MULTIPLES = 256


def points(spec: Spec, dtype: str, attrs: str, arguments: int) -> np.ndarray:
    """The points of a spec in a dtype, without NaN, of shape (points, arguments)."""
    arrays = [_of_recipe(Case(spec, dtype, recipe, attrs), arguments) for recipe in spec.recipes]
    if arguments == 1:
        with np.errstate(over="ignore", under="ignore"):
            numbers = np.concatenate([*_numbers(np.dtype(dtype)), _of_atlas(spec.name)]).astype(dtype)
        arrays.append(numbers[:, None])
    together = np.unique(np.concatenate(arrays), axis=0)
    together = together[~np.isnan(together.astype(np.float64)).any(axis=1)]
    return together[:: -(-len(together) // _MOST)]


def _of_recipe(case: Case, arguments: int) -> np.ndarray:
    """The inputs of a case, of shape (inputs, arguments); none if their shapes or dtypes differ."""
    inputs, dtype = case.inputs(), np.dtype(case.dtype)
    if (
        len(inputs) != arguments
        or {x.shape for x in inputs} != {inputs[0].shape}
        or {x.dtype for x in inputs} != {dtype}
    ):
        return np.zeros((0, arguments), dtype)
    return np.stack([x.ravel() for x in inputs], axis=1)


def _numbers(dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """The powers of two of a dtype, and multiples of pi / 2, of both signs, as float64."""
    info = ml_dtypes.finfo(dtype)
    lowest, highest = int(np.log2(float(info.smallest_normal))), int(np.log2(float(info.max)))
    powers = np.ldexp(1.0, np.arange(lowest, highest + 1))
    halves = np.pi / 2 * np.arange(1, _MULTIPLES + 1)
    return powers, -powers, halves, -halves


def _of_atlas(spec: str) -> np.ndarray:
    """The float32 inputs with the largest error by sign and exponent in the atlas of a spec."""
    worst = [np.zeros(0, np.uint32)]
    for path in sorted(_ATLAS.glob("*.parquet")):
        table = pq.read_table(path, columns=["spec", "dtype", "worst"])
        mine = pc.and_(pc.equal(table["spec"], spec), pc.equal(table["dtype"], "float32"))
        rows = table.filter(pc.and_(mine, pc.greater_equal(table["worst"], 0)))
        worst.append(rows["worst"].combine_chunks().to_numpy().astype(np.uint32))
    return np.unique(np.concatenate(worst)).view(np.float32)
