"""Tensor attributes: arguments of an op that stand in a call as attributes, and that the op takes as tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.calls import Call, Calls
from tf_opdiff.suites.reference.moves import Moved


@dataclass(frozen=True)
class Parameter:
    """An argument that an op takes as a tensor.

    Attributes:
      name: its name.
      dtypes: the dtypes that it has in one call after the other.
      columns: the number of columns, if it is a matrix, which may have no rows.
    """

    name: str
    dtypes: tuple[str, ...] = ("int32", "int64")
    columns: int = 0

    def array(self, number: int, value: Any) -> np.ndarray:
        """The argument of the call with this number."""
        array = np.array(value, self.dtypes[number % len(self.dtypes)])
        return array.reshape(-1, self.columns) if self.columns else array


def as_constants(calls: Calls, tensors: Sequence[Parameter]) -> Calls:
    """The calls with arrays as these attributes, which programs give to the op as constants."""

    def with_arrays(number: int, one: Call) -> Call:
        arrays = {p.name: p.array(number, one.attrs[p.name]) for p in tensors}
        return replace(one, attrs={name: one.attrs[name] for name in one.attrs if name not in arrays} | arrays)

    return {label: with_arrays(i, one) for i, (label, one) in enumerate(calls.items())}


def as_inputs(calls: Calls, tensors: Sequence[Parameter], program: Callable[..., Any], promise: Moved) -> Calls:
    """The calls with these attributes as inputs, which follow the others and which a graph does not know when built."""
    names = tuple(p.name for p in tensors)

    def fed(one: Call) -> Call:
        count = len(one.shapes or ())
        return Call(
            program=lambda tf, *xs, **attrs: program(
                tf, *xs[:count], **attrs, **dict(zip(names, xs[count:], strict=True))
            ),
            promise=replace(promise, fed=names),
            shapes=one.shapes,
            attrs={name: value for name, value in one.attrs.items() if name not in names},
            computed=tuple(partial(_given, one.attrs[name]) for name in names),
        )

    return {label: fed(one) for label, one in as_constants(calls, tensors).items()}


def _given(array: np.ndarray, *xs: np.ndarray) -> np.ndarray:
    return array
