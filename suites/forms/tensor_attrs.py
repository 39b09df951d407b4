"""Tensor attributes: arguments of an op that stand in a call as attributes, and that the op takes as tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.calls import Call, Calls
from tf_opdiff.suites.reference.arrays.moves import Moved


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


def as_constants(calls: Calls, tensors: Sequence[Parameter], program: Callable[..., Any]) -> Calls:
    """The calls with these attributes as arrays, which the program of each gives to the op as constants."""

    def given(tf: Any, *xs: Any, **attrs: Any) -> Any:
        constants = {name: tf.constant(value) for name, value in attrs.items() if isinstance(value, np.ndarray)}
        return program(tf, *xs, **{**attrs, **constants})

    if not tensors:
        return calls
    return {
        label: replace(one, attrs=_arrays(i, one, tensors), program=given)
        for i, (label, one) in enumerate(calls.items())
    }


def _arrays(number: int, one: Call, tensors: Sequence[Parameter]) -> dict[str, Any]:
    """The attributes of the call with this number, with tensors as arrays, which come last."""
    arrays = {p.name: p.array(number, one.attrs[p.name]) for p in tensors}
    return {name: one.attrs[name] for name in one.attrs if name not in arrays} | arrays


def as_inputs(calls: Calls, tensors: Sequence[Parameter], program: Callable[..., Any], promise: Moved) -> Calls:
    """The calls with these attributes as inputs, which follow the others and which a graph does not know when built."""
    names = tuple(p.name for p in tensors)

    def fed(number: int, one: Call) -> Call:
        count, every = len(one.shapes or ()), _arrays(number, one, tensors)
        return Call(
            program=lambda tf, *xs, **attrs: program(
                tf, *xs[:count], **attrs, **dict(zip(names, xs[count:], strict=True))
            ),
            promise=replace(promise, fed=names),
            shapes=one.shapes,
            attrs={name: value for name, value in every.items() if name not in names},
            computed=tuple(partial(_given, every[name]) for name in names),
        )

    return {label: fed(i, one) for i, (label, one) in enumerate(calls.items())}


def _given(array: np.ndarray, *xs: np.ndarray) -> np.ndarray:
    return array
