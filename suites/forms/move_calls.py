"""Move calls: the calls of an op that moves elements, each with its own inputs and arguments, and their programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.moves import Moved
from tf_opdiff.suites.reference.several import Several

Shape = tuple[int, ...]


@dataclass(frozen=True)
class MoveCall:
    """A call of an op: the shapes of its inputs, and its other arguments as literals."""

    shapes: tuple[Shape, ...]
    parameters: Mapping[str, Any]


def call(*shapes: Shape, **parameters: Any) -> MoveCall:
    """A call with inputs of these shapes."""
    return MoveCall(shapes, parameters)


#: Label → a call.
MoveCalls = Mapping[str, MoveCall]


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

    def dtype(self, number: int) -> str:
        """The dtype in the call with this number."""
        return self.dtypes[number % len(self.dtypes)]

    def array(self, number: int, value: Any) -> np.ndarray:
        """The argument of the call with this number."""
        array = np.array(value, self.dtype(number))
        return array.reshape(-1, self.columns) if self.columns else array


def promises(promise: Moved, calls: Sequence[MoveCall], fed: tuple[str, ...] = ()) -> Several:
    """The promises of several calls; `fed` are the names of the arguments that are inputs, which follow the tensors."""
    own = (replace(promise, parameters=one.parameters, fed=fed) for one in calls)
    return Several(tuple(own), tuple(len(one.shapes) + len(fed) for one in calls))


def constant_program(
    op: Callable[..., Any], calls: Sequence[MoveCall], tensors: Sequence[Parameter]
) -> Callable[..., Any]:
    """The program of several calls whose arguments are constants.

    Args:
      op: op(tf, *xs, **parameters) → a tensor or a list of tensors.
      calls: the calls.
      tensors: the arguments that the op takes as tensors.
    """
    each = [
        (len(one.shapes), dict(one.parameters), {p.name: p.array(i, one.parameters[p.name]) for p in tensors})
        for i, one in enumerate(calls)
    ]

    def program(tf: Any, *xs: Any) -> Any:
        results: list[Any] = []
        for count, parameters, arrays in each:
            constants = {name: tf.constant(array) for name, array in arrays.items()}
            own, xs = xs[:count], xs[count:]
            y = op(tf, *own, **{**parameters, **constants})
            results += y if isinstance(y, list | tuple) else [y]
        return tuple(results)

    return program


def fed_program(op: Callable[..., Any], calls: Sequence[MoveCall], tensors: Sequence[Parameter]) -> Callable[..., Any]:
    """The program of several calls; the arguments that the op takes as tensors are inputs."""
    names = [p.name for p in tensors]
    each = [(len(one.shapes), {k: v for k, v in one.parameters.items() if k not in names}) for one in calls]

    def program(tf: Any, *xs: Any) -> Any:
        results: list[Any] = []
        for count, parameters in each:
            own, xs = xs[:count], xs[count:]
            tensors_of_call, xs = dict(zip(names, xs, strict=False)), xs[len(names) :]
            y = op(tf, *own, **parameters, **tensors_of_call)
            results += y if isinstance(y, list | tuple) else [y]
        return tuple(results)

    return program
