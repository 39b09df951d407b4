"""Cancellation: a twin of a unary spec at inputs where TensorFlow's formula loses more than half of the digits.

There, as where a sigmoid saturates, the main spec's bound has to allow the error of the formula, which is nearly any
result. The twin promises the result itself, within a few ULPs. So the loss is a known failure in a place of its own,
and a kernel without it is noticed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE, Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.twin import twin
from tf_opdiff.suites.reference.promises.wide import Differentiable


@dataclass(frozen=True, kw_only=True)
class Lost:
    """Where TensorFlow's formula loses more than half of the digits of a result.

    where       where(x) of a float64 array: the bound may allow nearly any result here, and nowhere else.
    span        the inputs of the twin: numbers between these two, of one sign, with equally likely exponents. None for
                no twin, because the result is that of a number less than an ULP away from the input, or because the
                bound still leaves most digits of a float64.
    quantity    `output` or `grad`.
    ulp         the budget of the quantity in the twin: what a sound formula would keep to.
    dtypes      the dtypes of the twin.
    reason      a sentence: how the formula loses them; see `harness.spec.tolerances.loose`.
    """

    where: Callable[[np.ndarray], Any]
    span: tuple[float, float] | None = None
    quantity: str = "grad"
    ulp: float = 8
    dtypes: tuple[str, ...] = ("float32",)
    reason: str


def without_digits(spec: Spec, function: Differentiable, losses: Iterable[Lost]) -> Iterator[Spec]:
    """The twins `NAME-lost` of a main spec, whose only recipe has inputs at which the digits are lost.

    A twin about outputs is `NAME-lost-output`, and has no gradient.
    """
    for lost in losses:
        if lost.span:
            yield _twin(spec, function, lost, lost.span)


def _twin(spec: Spec, function: Differentiable, lost: Lost, span: tuple[float, float]) -> Spec:
    output = lost.quantity == "output"
    return twin(
        spec,
        "lost",
        "-output" if output else "",
        recipes={"lost": _lost(function.f if output else function.df, span)},
        upstreams={},
        alternatives={},
        vjp=None if output else spec.derivatives.vjp,
        dtypes=lost.dtypes,
        ulp={**spec.tolerance.ulp, lost.quantity: lost.ulp},
        bound={
            quantity: bound for quantity, bound in spec.tolerance.bound.items() if quantity != f"{lost.quantity}[0]"
        },
        loose={
            quantity: where for quantity, where in spec.tolerance.loose.items() if quantity != f"{lost.quantity}[0]"
        },
    )


def _lost(exact: Callable[[np.ndarray], Any], span: tuple[float, float]) -> Recipe:
    """A recipe: numbers between the two of `span`, whose results `exact(x)` are not near subnormal numbers."""
    low, high = sorted(map(abs, span))
    sign = np.copysign(1.0, span[0])

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        exponents = draw.integers(4 * SIZE, low=math.frexp(low)[1] - 1, high=math.frexp(high)[1])
        x = np.ldexp(draw.uniform(4 * SIZE, low=1.0, high=2.0), exponents)
        x = (sign * x[(x >= low) & (x <= high)][:SIZE]).astype(dtype)
        size = np.abs(exact(x.astype(np.float64))).astype(np.float64)
        return (np.resize(x[size > 16 * float(ml_dtypes.finfo(dtype).smallest_normal)], SIZE),)

    return recipe
