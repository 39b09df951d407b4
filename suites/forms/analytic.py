"""Analytic: the complex variant of a unary op. The gradient is g conj(f'(z))."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, SIZE, Draw, plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.position import positions
from tf_opdiff.suites.forms.complex_alternatives import in_range, of_complex
from tf_opdiff.suites.reference.complex import continued

Values = Callable[[np.ndarray], np.ndarray]
Bounds = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, kw_only=True)
class Analytic:
    """A function of a complex number, in place of the real one that an op also computes.

    f, df   the function and its derivative, of mpcs.
    output  error that either part of the output may have, in units of u |f(z)|. Of complex arithmetic, only the error
            relative to |f(z)| is small: Higham, Accuracy and Stability of Numerical Algorithms, section 3.6. Measured
            in all modes, as is `grad`.
    grad    the same of the gradient, in units of u |g f'(z)|.
    at_poles
            the values where f is infinite, as in C99, annex G; None if any complex infinity is right there.
    bound   bound(f, df) → bounds by quantity, where the error is that of a larger term that cancels.
    loose   loose(z) of the gradient, as of a spec: where the bound may allow nearly any gradient.
    """

    f: Callable[[Any], Any]
    df: Callable[[Any], Any]
    output: float
    grad: float
    at_poles: Values | None = None
    bound: Callable[[Values, Values], Bounds] = lambda f, df: {}
    loose: Callable[[np.ndarray], Any] | None = None

    def vjp(self, g: Any, z: Any) -> Any:
        """The gradient g conj(f'(z))."""
        return g * np.conj(continued(self.df)(z))

    def value(self, z: np.ndarray) -> np.ndarray:
        """f(z); at its poles, the value of annex G."""
        values = continued(self.f)(z)
        if not self.at_poles:
            return values
        with np.errstate(divide="ignore", invalid="ignore"):
            at_poles = self.at_poles(z.astype(np.clongdouble))
        return np.where(np.isinf(values.real) | np.isinf(values.imag), at_poles, values)

    def _gradients(self, dtype: np.dtype, g: np.ndarray, z: np.ndarray) -> Sequence[np.ndarray]:
        """Alternatives of the gradient: the derivative may leave the range of the dtype before it meets g."""
        slopes = np.conj(continued(self.df)(z))
        return of_complex(g * slopes, dtype, (g * in_range(slopes, dtype),), signs=True)

    def specs(self, name: str, op: str) -> tuple[Spec, ...]:
        """The spec of an op for complex numbers, with its twins in other positions."""
        f, df = self.value, continued(self.df)
        relative: Bounds = {
            "output[0]": lambda u, g, z: self.output * u * np.abs(f(z)),
            "grad[0]": lambda u, g, z: self.grad * u * np.abs(g * df(z)),
        }
        spec = Spec(
            name=f"{name}-complex",
            ops=op,
            program=_calling(op),
            reference=f,
            vjp=self.vjp,
            recipes={"axes": axes, "plain": plain, "small": small, "corners": corners},
            dtypes=COMPLEX,
            bound={**relative, **self.bound(f, df)},
            alternatives={"output[0]": lambda dtype, g, z: of_complex(f(z), dtype), "grad[0]": self._gradients},
            loose={"grad": self.loose} if self.loose else {},
        )
        return (spec, *positions(spec))


def near_branch_point(f: Values, df: Values) -> Bounds:
    """1 / √(1 - z²) and its like: z², rounded, is off by u beside 1."""
    return {"grad[0]": lambda u, g, z: u * np.abs(g * df(z)) * (6 + 4 * np.abs(df(z)) ** 2)}


def near_pole(f: Values, df: Values) -> Bounds:
    """1 / (1 ± z²): z², rounded, is off by u z²."""
    return {"grad[0]": lambda u, g, z: u * np.abs(g * df(z)) * (6 + 4 * np.abs(z * z * df(z)))}


def axes(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers on the axes, on either side of branch cuts: the sign of the zero tells the side."""
    z = np.zeros(SIZE, dtype)
    size = np.maximum(0.01, np.abs(draw.uniform(SIZE) * 4)) * np.where(draw.booleans(SIZE), 1, -1)
    zero = np.where(draw.booleans(SIZE), 0.0, -0.0)
    real = draw.booleans(SIZE)
    z.real, z.imag = np.where(real, size, zero), np.where(real, zero, size)
    return (z,)


def small(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers whose square is lost beside 1, but does not underflow."""
    top = ml_dtypes.finfo(np.dtype(f"f{dtype.itemsize // 2}")).maxexp
    return ((draw.values(np.dtype("complex128"), SIZE) * 2.0 ** int(-0.2 * top)).astype(dtype),)


def corners(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers with parts of 0, 1, a number whose square underflows and one whose square overflows; all pairs and signs.

    Among them are the branch points and the poles of elementary functions: 0, ±1 and ±i.
    """
    info = ml_dtypes.finfo(np.dtype(f"f{dtype.itemsize // 2}"))
    sizes = np.array([0.0, 1.0, 2.0 ** int(0.9 * info.minexp), 2.0 ** int(0.9 * info.maxexp)])
    parts = np.concatenate([sizes, -sizes])
    real, imag = np.meshgrid(parts, parts)
    z = np.zeros(real.size, dtype)
    z.real, z.imag = real.ravel(), imag.ravel()
    return (np.resize(z, SIZE),)


def _calling(op: str) -> Callable[..., Any]:
    return lambda tf, z: getattr(tf.raw_ops, op)(x=z)
