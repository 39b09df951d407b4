"""Sparse: calls of ops on sparse tensors. XLA has no kernel of most of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.calls import Call, call
from tf_opdiff.suites.forms.tensor_attrs import Parameter

#: Five indices of a matrix of shape (3, 5), and four of a tensor of shape (2, 3, 4), in order.
INDICES = [[0, 1], [0, 4], [1, 2], [2, 0], [2, 3]]
CUBE = [[0, 1, 3], [1, 0, 0], [1, 2, 2], [1, 2, 3]]


def tensors(*names: str) -> tuple[Parameter, ...]:
    """Arguments that are tensors of int64."""
    return tuple(Parameter(name, ("int64",)) for name in names)


def matrix(indices: Sequence[Any], rank: int) -> Any:
    """Indices as a matrix, even if there are none."""
    return indices or np.zeros((0, rank), int)


def sparse(indices: Sequence[Any], shape: Sequence[int], **more: Any) -> Call:
    """A call on a sparse tensor with a value at each of these indices."""
    return call((len(indices),), indices=matrix(indices, len(shape)), shape=shape, **more)


def with_default(
    indices: Sequence[Any], shape: Sequence[int], values: tuple[int, ...] | None = None, **more: Any
) -> Call:
    """A call on a sparse tensor and a default value; by default, there is a value at each of these indices."""
    count = (len(indices),) if values is None else values
    return call(count, (), indices=matrix(indices, len(shape)), shape=shape, **more)
