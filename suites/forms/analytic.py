"""Analytic: the complex variant of a unary op. The gradient is g conj(f'(z))."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, SIZE, Draw, plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.position import positions
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
    bound   bound(f, df) → bounds by quantity, where the error is that of a larger term that cancels.
    """

    f: Callable[[Any], Any]
    df: Callable[[Any], Any]
    output: float
    grad: float
    bound: Callable[[Values, Values], Bounds] = lambda f, df: {}

    def vjp(self, g: Any, z: Any) -> Any:
        """The gradient g conj(f'(z))."""
        return g * np.conj(continued(self.df)(z))

    def specs(self, name: str, op: str) -> tuple[Spec, ...]:
        """The spec of an op for complex numbers, with its twins in other positions."""
        f, df = continued(self.f), continued(self.df)
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
            recipes={"axes": axes, "plain": plain, "small": small},
            dtypes=COMPLEX,
            bound={**relative, **self.bound(f, df)},
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


def _calling(op: str) -> Callable[..., Any]:
    return lambda tf, z: getattr(tf.raw_ops, op)(x=z)
