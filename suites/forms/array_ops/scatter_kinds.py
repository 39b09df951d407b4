"""Scatter kinds: scatters of complex numbers, whose bounds are wider, and of truth values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.array_ops import scatter_recipes as recipes
from tf_opdiff.suites.forms.array_ops.scatter import Scatter
from tf_opdiff.suites.forms.part import Op, Part, part
from tf_opdiff.suites.reference.arrays.scatter import Combination, terms

#: The largest error of a complex product, in units of round-off of its size: R. Brent, C. Percival, P. Zimmermann,
#: Error bounds on complex floating-point multiplication, 2007.
SQRT_5 = 5**0.5


def of_truth(how: Combination) -> Part:
    """A part: truth values that are combined with those at tuples of indices."""

    def specs(op: Op) -> Iterable[Spec]:
        promise = Scatter(how=how, tuples=True, variable=op.variables is not None)
        main = {"recipes": recipes.main(how, True), "reference": promise.reference}
        return part("-bool", dtypes=("bool",), tier="full", **main)(op)

    return specs


def of_complex(how: Combination, units: float) -> Part:
    """A part: products or quotients of complex numbers with a variable; specs of the elementwise op have special ones.

    Args:
      how: the combination.
      units: the largest error of one product or quotient, in units of round-off of its size.
    """
    promise = Scatter(how=how, variable=True)

    def reference(x: np.ndarray, i: np.ndarray, u: np.ndarray) -> Any:
        return promise.reference(x.astype(np.clongdouble), i, u.astype(np.clongdouble))

    def bound(unit: float, g: Any, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> Any:
        steps = units * unit * terms(x, promise.places(i))
        return steps / (1 - steps) * np.abs(promise.of(x, i, u))

    def specs(op: Op) -> Iterable[Spec]:
        main: dict[str, Any] = {"recipes": recipes.main(how, False), "dtypes": COMPLEX, "bound": {"output": bound}}
        # The formula of a quotient decides the sign of a part that is zero, and nothing documents the formula.
        main |= {"unsigned_zeros": ("output",)} if how.divides else {}
        twins = [op.variables.twins] if op.variables else ()
        return part("-complex", reference=reference, twins=twins, tier="full", **main)(op)

    return specs
