"""Calls: one program that calls an op several times, each time with inputs and arguments of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.moves import Arrays, Back, Forward, Sums, together
from tf_opdiff.suites.reference.subnormal import flushed_in

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """A call of an op: the shapes of its inputs, and its other arguments as literals."""

    shapes: tuple[Shape, ...]
    parameters: Mapping[str, Any]


def call(*shapes: Shape, **parameters: Any) -> Call:
    """A call with inputs of these shapes."""
    return Call(shapes, parameters)


#: Label → a call.
Calls = Mapping[str, Call]


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


@dataclass(frozen=True)
class Several:
    """The promise of a program of several calls.

    Attributes:
      promise: the promise of each call.
      calls: the calls.
      fed: the names of the arguments that are inputs of the program; they follow the inputs of their call.
    """

    promise: Forward | Back
    calls: tuple[Call, ...]
    fed: tuple[str, ...] = ()

    def outputs(self, *xs: np.ndarray) -> Arrays:
        """As the reference of a spec."""
        return tuple(y for own, parameters in self._split(xs) for y in self.promise.outputs(*own, **parameters))

    def gradients(self, gs: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        """As the vjp of a spec: None for arguments."""
        none = (None,) * len(self.fed)
        return tuple(
            g
            for own, parameters, upstreams in self._with_upstreams(gs, xs)
            for g in (*self.promise.gradients(upstreams, *own, **parameters), *none)
        )

    def budgets(self, count: int) -> dict[str, Any]:
        """The bounds and the alternatives of the quantities that are sums: outputs, or gradients."""
        family = "grad" if isinstance(self.promise, Forward) else "output"
        return {
            "bound": {f"{family}[{i}]": self._bound(i) for i in range(count)},
            "alternatives": {f"{family}[{i}]": self._flushed(i) for i in range(count)},
        }

    def _bound(self, number: int) -> Callable[..., Any]:
        return lambda u, gs, *xs: self._parts(gs, xs, lambda sums: sums.errors(u))[number]

    def _flushed(self, number: int) -> Callable[..., Any]:
        """Sums of which a processor flushes the subnormal terms, or the result."""

        def alternatives(dtype: np.dtype, gs: Any, *xs: np.ndarray) -> list[np.ndarray]:
            flushed = [tuple(flushed_in(dtype, array) for array in arrays) for arrays in (together(gs), xs)]
            of_flushed = self._parts(flushed[0], flushed[1], lambda sums: sums.totals)[number]
            exact = self._parts(gs, xs, lambda sums: sums.totals)[number]
            return [flushed_in(dtype, exact), of_flushed, flushed_in(dtype, of_flushed)]

        return alternatives

    def _parts(self, gs: Any, xs: Sequence[np.ndarray], part: Callable[[Sums], Arrays]) -> Arrays:
        """The parts of the sums of all calls."""
        promise = self.promise
        if isinstance(promise, Back):
            of_calls = [promise.sums_of_outputs(*own, **parameters) for own, parameters in self._split(xs)]
        else:
            each = self._with_upstreams(gs, xs)
            of_calls = [promise.sums_of_gradients(ups, *own, **parameters) for own, parameters, ups in each]
        return tuple(array for sums in of_calls for array in part(sums))

    def _split(self, xs: Sequence[np.ndarray]) -> Iterator[tuple[tuple[np.ndarray, ...], dict[str, Any]]]:
        """The inputs and the arguments of each call."""
        rest = list(xs)
        for one in self.calls:
            own, rest = tuple(rest[: len(one.shapes)]), rest[len(one.shapes) :]
            given, rest = rest[: len(self.fed)], rest[len(self.fed) :]
            values = dict(zip(self.fed, (x.tolist() for x in given), strict=True))
            yield own, {**one.parameters, **values}

    def _with_upstreams(self, gs: Any, xs: Sequence[np.ndarray]) -> Iterator[tuple[Any, dict[str, Any], Arrays]]:
        """The inputs, the arguments and the upstreams of each call."""
        rest = together(gs)
        for own, parameters in self._split(xs):
            count = len(self.promise.outputs(*own, **parameters))
            yield own, parameters, rest[:count]
            rest = rest[count:]


def constant_program(op: Callable[..., Any], calls: Sequence[Call], tensors: Sequence[Parameter]) -> Callable[..., Any]:
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


def fed_program(op: Callable[..., Any], calls: Sequence[Call], tensors: Sequence[Parameter]) -> Callable[..., Any]:
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
