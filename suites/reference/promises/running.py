"""Running error analysis: a reference that is run on these arrays tells how far off floating point may be.

Each operation carries the errors of its operands on to its result, to first order, and adds its own rounding
(Higham, Accuracy and Stability of Numerical Algorithms, section 3.3). Sums may be taken in any order. What is exact in
any floating-point format, such as adding 0 or multiplying by 0 or 1, adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

#: Roundings in place of each that a reference counts: TensorFlow takes some in another order, with one more on the way.
ROUNDINGS = 2
PARTS = ("value", "error")


@dataclass(eq=False)
class Running(NDArrayOperatorsMixin):
    """Values, the largest errors that they may have, and the error that one operation adds, relative to its result."""

    value: np.ndarray
    error: np.ndarray
    unit: float

    @classmethod
    def exact(cls, value: Any, unit: float) -> Running:
        """Values without error."""
        value = np.asarray(value)
        value = value.astype(np.complex128 if value.dtype.kind == "c" else np.float64)
        return cls(value, np.zeros(value.shape), unit)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def T(self) -> Running:  # noqa: N802  as NumPy calls it
        return Running(self.value.T, self.error.T, self.unit)

    def reshape(self, *shape: Any) -> Running:
        """The values and their errors in another shape."""
        return Running(self.value.reshape(*shape), self.error.reshape(*shape), self.unit)

    def __len__(self) -> int:
        return len(self.value)

    def __getitem__(self, index: Any) -> Running:
        return Running(self.value[index], self.error[index], self.unit)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Any:
        if method != "__call__":
            return NotImplemented
        xs = [x if isinstance(x, Running) else Running.exact(x, self.unit) for x in inputs]
        if ufunc in (np.not_equal, np.equal, np.less, np.greater):
            return ufunc(*(x.value for x in xs))
        value = ufunc(*(x.value for x in xs))
        carried, rounding = ERRORS[ufunc](value, *xs)
        return Running(value, carried + self.unit * rounding, self.unit)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in (np.sum, np.mean):
            return FUNCTIONS[function](*args, **kwargs)
        if function is np.where:
            condition, *choices = args
            a, b = (x if isinstance(x, Running) else Running.exact(x, self.unit) for x in choices)
            value, error = (np.where(condition, getattr(a, name), getattr(b, name)) for name in PARTS)
            return Running(value, error, self.unit)
        if function in (np.stack, np.concatenate):
            parts = [x if isinstance(x, Running) else Running.exact(x, self.unit) for x in args[0]]
            value, error = (function([getattr(x, name) for x in parts], *args[1:], **kwargs) for name in PARTS)
            return Running(value, error, self.unit)
        if function is np.zeros_like:
            return Running.exact(np.zeros_like(self.value), self.unit)
        return NotImplemented


def finite(u: float, x: np.ndarray) -> Running:
    """Values without error, with zeros for NaN and infinities: where these reach, the class of a result is compared."""
    return Running.exact(np.where(np.isfinite(x), x, 0.0), ROUNDINGS * u)


def _plain(x: Running, *numbers: float) -> np.ndarray:
    """Where a number is exactly one of these."""
    return (x.error == 0) & np.isin(x.value, numbers)


def _sum(value: np.ndarray, a: Running, b: Running) -> tuple[Any, Any]:
    return a.error + b.error, np.where(_plain(a, 0) | _plain(b, 0), 0, np.abs(value))


def _product(value: np.ndarray, a: Running, b: Running) -> tuple[Any, Any]:
    carried = np.abs(a.value) * b.error + a.error * np.abs(b.value)
    return carried, np.where(_plain(a, 0, 1, -1) | _plain(b, 0, 1, -1), 0, np.abs(value))


def _quotient(value: np.ndarray, a: Running, b: Running) -> tuple[Any, Any]:
    return (a.error + np.abs(value) * b.error) / np.abs(b.value), np.abs(value)


def _matmul(value: np.ndarray, a: Running, b: Running) -> tuple[Any, Any]:
    sizes = np.abs(a.value), np.abs(b.value)
    return sizes[0] @ b.error + a.error @ sizes[1], a.shape[-1] * (sizes[0] @ sizes[1])


def _maximum(value: np.ndarray, a: Running, b: Running) -> tuple[Any, Any]:
    """The error of the larger number; the larger error, if either number may be the larger one."""
    open_ = np.abs(a.value - b.value) <= a.error + b.error
    return np.where(open_, np.maximum(a.error, b.error), np.where(a.value > b.value, a.error, b.error)), 0


def _power(value: np.ndarray, a: Running, b: Running) -> tuple[Any, Any]:
    """The error of a power whose exponent has none; `pow` is within 2 units of its result."""
    carried = np.where(a.error == 0, 0, np.abs(b.value * value / a.value) * a.error)
    return carried, 2 * np.abs(value)


ERRORS: dict[Any, Callable[..., tuple[Any, Any]]] = {
    np.add: _sum,
    np.subtract: _sum,
    np.multiply: _product,
    np.divide: _quotient,
    np.matmul: _matmul,
    np.power: _power,
    np.square: lambda value, a: (2 * np.abs(a.value) * a.error, np.abs(value)),
    np.negative: lambda value, a: (a.error, 0),
    np.conjugate: lambda value, a: (a.error, 0),
    np.absolute: lambda value, a: (a.error, 0),
    np.sign: lambda value, a: (0 * a.error, 0),
    np.sqrt: lambda value, a: (a.error / np.maximum(2 * np.abs(value), 1e-300), np.abs(value)),
    np.exp: lambda value, a: (value * a.error, 2 * value),
    np.tanh: lambda value, a: ((1 - value * value) * a.error, 2 * np.abs(value)),
    np.log: lambda value, a: (a.error / a.value, 2 * np.abs(value)),
    np.maximum: _maximum,
}


def _summed(x: Running, axis: Any = None, keepdims: bool = False) -> Running:
    def over(a: np.ndarray) -> np.ndarray:
        return np.sum(a, axis=axis, keepdims=keepdims)

    value = np.asarray(over(x.value))
    terms = x.size // max(value.size, 1)
    return Running(value, over(x.error) + (terms - 1) * x.unit * over(np.abs(x.value)), x.unit)


def _mean(x: Running, axis: Any = None, keepdims: bool = False) -> Running:
    total = _summed(x, axis, keepdims)
    return total / (x.size / total.size)


FUNCTIONS: dict[Any, Callable[..., Running]] = {np.sum: _summed, np.mean: _mean}


def bound(reference: Callable[..., Any], output: int) -> Callable[..., np.ndarray]:
    """How far an output may be off, as a spec wants it: bound(u, g, *inputs). Integers stay as they are."""

    def largest_error(u: float, g: Any, *inputs: np.ndarray) -> np.ndarray:
        taken = [Running.exact(x, ROUNDINGS * u) if x.dtype.kind in "fc" else x for x in inputs]
        outputs = reference(*taken)
        return (outputs[output] if isinstance(outputs, tuple) else outputs).error

    return largest_error
