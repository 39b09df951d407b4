"""Tested inputs: shapes and dtypes of the inputs and outputs of cases, from the catalog and from observations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from tf_opdiff.harness.spec.spec import Case

#: A shape: the size of each dimension.
Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class TestedInputs:
    """The inputs or the outputs of a case.

    Attributes:
      shapes: those of `harness.spec.lists.raw_ops.SHAPES` that they have.
      dtypes: the dtypes of the inputs behind the first, with those among the keyword arguments; or of the outputs.
    """

    __test__ = False  # pytest: no class of tests

    shapes: frozenset[str]
    dtypes: frozenset[str]


def of_inputs(case: Case) -> TestedInputs:
    """The inputs of a case, which are drawn.

    The dtype of the first input is not listed if it is that of the case.
    """
    arrays = case.inputs()
    further = arrays if arrays and arrays[0].dtype != np.dtype(case.dtype) else arrays[1:]
    named = {value for value in case.keywords.values() if isinstance(value, str) and _is_dtype(value)}
    dtypes = frozenset({_name(array.dtype) for array in further} | named)
    data = [array for array in arrays if array.dtype == np.dtype(case.dtype)]  # a vector of indices has no odd shape
    return TestedInputs(shapes=kinds_of_shapes(array.shape for array in data or arrays), dtypes=dtypes)


def of_outputs(outputs: Iterable[tuple[str, Shape]], data: str) -> TestedInputs:
    """The outputs of a case: pairs (dtype, shape); the shapes are those of outputs of the dtype of the data."""
    pairs = list(outputs)
    of_data = [shape for dtype, shape in pairs if dtype == data]
    shapes = kinds_of_shapes(of_data) - {"broadcast"}  # outputs are not broadcast together
    return TestedInputs(shapes=shapes, dtypes=frozenset(dtype for dtype, _ in pairs))


def kinds_of_shapes(tensors: Iterable[Shape]) -> frozenset[str]:
    """The kinds of shapes of one case: some of `harness.spec.lists.raw_ops.SHAPES`.

    Two tensors are broadcast if their shapes differ, both have elements, and NumPy broadcasts them.
    """
    shapes = list(tensors)
    present = {
        "empty": any(0 in shape for shape in shapes),
        "one": any(np.prod(shape, dtype=int) == 1 for shape in shapes),
        "odd": any(size > 1 and size % 2 for shape in shapes for size in shape),
        "batch": any(len(shape) > 1 and shape[0] == 1 for shape in shapes),
        "broadcast": any(_broadcast(*pair) for pair in combinations(set(shapes), 2)),
    }
    return frozenset(name for name, holds in present.items() if holds)


def _broadcast(one: Shape, other: Shape) -> bool:
    try:
        return 0 not in np.broadcast_shapes(one, other)
    except ValueError:
        return False


def outputs_of(observations: pd.DataFrame) -> Mapping[str, list[tuple[str, Shape]]]:
    """The dtypes and shapes of the outputs of each case, from observations of `reports.load_observations`."""
    arrays = observations["quantity"].astype(str).str.startswith("output") & observations["shape"].notna()
    some = observations.loc[arrays, ["case", "dtype", "shape"]]
    outputs: dict[str, dict[tuple[str, Shape], None]] = {}
    for case, dtype, shape in some.itertuples(index=False):
        outputs.setdefault(str(case), {})[str(dtype), _sizes(shape)] = None
    return {case: list(listed) for case, listed in outputs.items()}


def _sizes(shape: Any) -> Shape:
    return tuple(int(size) for size in shape)


def _name(dtype: np.dtype) -> str:
    return "bytes" if dtype.kind in "SO" else dtype.name


def _is_dtype(name: str) -> bool:
    try:
        return np.dtype(name).name == name
    except TypeError:
        return False
