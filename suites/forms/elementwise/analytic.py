"""Analytic: the complex variant of a unary op. The gradient is g conj(f'(z))."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.elementary import on_unit_circle, powers
from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, SIZE, Draw, plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.spec.tolerances.by_mode import ByMode, mapped
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.position import positions
from tf_opdiff.suites.forms.elementwise.complex_alternatives import in_range, of_complex
from tf_opdiff.suites.forms.part import Op, part
from tf_opdiff.suites.reference.elementwise.annex_g import AnnexG
from tf_opdiff.suites.reference.elementwise.complex import continued, from_parts

Values = Callable[[np.ndarray], np.ndarray]
Bounds = Mapping[str, Callable[..., Any] | ByMode]


@dataclass(frozen=True, kw_only=True)
class Analytic:
    """A function of a complex number, in place of the real one that an op also computes.

    f, df   the function and its derivative, of mpcs.
    output  error that either part of the output may have, in units of u |f(z)|. Of complex arithmetic, only the error
            relative to |f(z)| is small: Higham, Accuracy and Stability of Numerical Algorithms, section 3.6. Measured
            for 3,200 inputs of each dtype and family of modes, as is `grad`: see docs/explanations/budgets.md.
    grad    the same of the gradient, in units of u |g f'(z)|.
    at_poles
            the values where f is infinite, as in C99, annex G; None if any complex infinity is right there.
    bound   bound(f, df) → bounds by quantity, where the error is that of a larger term that cancels.
    loose   as of a spec, of the gradient: where the bound may allow nearly any gradient.
    special
            the function of numbers with infinite and NaN parts.
    """

    f: Callable[[Any], Any]
    df: Callable[[Any], Any]
    output: float | ByMode
    grad: float | ByMode
    at_poles: Values | None = None
    bound: Callable[[Values, Values], Bounds] = lambda f, df: {}
    loose: Loose | None = None
    special: AnnexG

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

    def specs(self, op: Op) -> Iterable[Spec]:
        """The spec of an op for finite complex numbers, with its twins in other positions, and one for all others."""
        f, df = self.value, continued(self.df)
        relative: Bounds = {
            "output[0]": mapped(lambda units: lambda u, g, z: units * u * np.abs(f(z)), self.output),
            "grad[0]": mapped(lambda units: lambda u, g, z: units * u * np.abs(g * df(z)), self.grad),
        }
        values = part(
            "-complex",
            reference=f,
            vjp=self.vjp,
            recipes={"axes": axes, "plain": plain, "small": small, "corners": corners, "branch_points": branch_points},
            dtypes=COMPLEX,
            bound={**relative, **self.bound(f, df)},
            alternatives={"output[0]": lambda dtype, g, z: of_complex(f(z), dtype), "grad[0]": self._gradients},
            loose={"grad": self.loose} if self.loose else {},
            twins=(positions,),
        )
        # Numbers with an infinite or NaN part, outputs only: see `suites.forms.elementwise.complex_special`.
        special = part(
            "-complex-special",
            reference=self.special,
            recipes={"special": special_parts},
            dtypes=COMPLEX,
            bound={"output[0]": mapped(self._special_bound, self.output)},
            alternatives={"output[0]": self.special.alternatives},
        )
        return [*values(op), *special(op)]

    def _special_bound(self, units: float) -> Callable[..., np.ndarray]:
        """The bound of numbers with special parts: so many units of round-off of the larger finite part."""

        def allowed(u: float, g: Any, z: np.ndarray) -> np.ndarray:
            value = self.special(z)
            sizes = [np.where(np.isfinite(part), np.abs(part), 0) for part in (value.real, value.imag)]
            return units * u * np.maximum(*sizes)

        return allowed


def near_branch_point(f: Values, df: Values) -> Bounds:
    """1 / √(1 - z²): z², rounded, is off by u compared with 1, which may be all of the difference. Measured: 3.25."""
    return {"grad[0]": lambda u, g, z: np.abs(g * df(z)) * np.minimum(1, 3.8 * u * (1 + np.abs(df(z)) ** 2))}


def from_output(f: Values, df: Values) -> Bounds:
    """1 / sinh(y) or 1 / cosh(y) of the output y, which is off by u |y|. Measured: 1.81."""
    return {
        "grad[0]": lambda u, g, z: np.abs(g * df(z)) * np.minimum(1, 2.1 * u * (1 + np.abs(f(z)) + np.abs(df(z)) ** 2))
    }


def near_pole(f: Values, df: Values) -> Bounds:
    """1 / (1 ± z²): z², rounded, is off by u |z|², which may be all of the difference. Measured: 3.07."""
    return {"grad[0]": lambda u, g, z: np.abs(g * df(z)) * np.minimum(1, 3.6 * u * (1 + np.abs(z * z * df(z))))}


def axes(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers on the axes, on either side of branch cuts: the sign of the zero tells the side."""
    size = np.maximum(0.01, np.abs(draw.uniform(SIZE) * 4)) * np.where(draw.booleans(SIZE), 1, -1)
    zero = np.where(draw.booleans(SIZE), 0.0, -0.0)
    real = draw.booleans(SIZE)
    return (from_parts(np.where(real, size, zero), np.where(real, zero, size), dtype),)


def small(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers whose square is lost when it is added to 1, but does not underflow."""
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
    return (np.resize(from_parts(real, imag, dtype), SIZE),)


def branch_points(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers around branch points, zeros and poles: ±1, ±i, ±π/2, ±i π/2, at distances of all sizes.

    Some lie on the axes, on both sides of each branch point and of each cut: the sign of the zero tells the side.
    """
    digits = ml_dtypes.finfo(np.dtype(f"f{dtype.itemsize // 2}")).nmant
    distance = powers(2, -draw.uniform(SIZE, low=1, high=digits + 2))
    angle = draw.uniform(SIZE, low=-np.pi, high=np.pi)
    centre = np.resize([1, -1, 1j, -1j, np.pi / 2, -np.pi / 2, 1j * np.pi / 2, -1j * np.pi / 2], SIZE)
    z = (centre + distance * on_unit_circle(angle)).astype(dtype)
    signs = np.array(list(product((1, -1), repeat=3)))
    along, zero = signs[:, 0] * (1 + signs[:, 1] * distance[:8]), np.copysign(0, signs[:, 2])
    z.real[:16], z.imag[:16] = np.concatenate([along, zero]), np.concatenate([zero, along])
    return (z,)


def special_parts(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers with an infinite or a NaN part, and another part of 0, ±1, a tiny and a huge number, of both signs."""
    numbers = crossed_parts(dtype)
    return (np.resize(numbers[~np.isfinite(numbers)], SIZE),)


def crossed_parts(dtype: np.dtype) -> np.ndarray:
    """121 numbers: each of 11 parts with each of them: zeros, ones, tiny, huge and infinite numbers, and NaN."""
    info = ml_dtypes.finfo(np.dtype(f"f{dtype.itemsize // 2}"))
    sizes = np.array([0.0, 1.0, 2.0 ** int(0.9 * info.minexp), 2.0 ** int(0.9 * info.maxexp), np.inf])
    parts = np.concatenate([sizes, -sizes, [np.nan]])
    return from_parts(np.repeat(parts, parts.size), np.tile(parts, parts.size), dtype)


def crossed_pairs(dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Each of the 121 numbers of `crossed_parts` with each of them."""
    numbers = crossed_parts(dtype)
    return np.repeat(numbers, numbers.size), np.tile(numbers, numbers.size)
