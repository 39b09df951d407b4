"""Position: an elementwise op gives a value the same result alone, in a vector's lanes or tail, and in a batch.

Kernels take whole vectors of a row first and what is left one by one, often by another function.
"""

from dataclasses import replace

import numpy as np

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites import binary, binary_complex, comparison, complex, integers, rounding, sign, unary

SIZE = 175  # all that the pieces hold


#: The recipes that hold for every input of a spec; others are for inputs on which TensorFlow is known to fail.
_RECIPES = ("edges", "bits", "plain", "domain", "halves", "magnitudes", "positive", "range")


def _mixed(recipes):
    """A recipe of some values of every recipe, of all those whose inputs are vectors of one length."""

    def recipe(draw, dtype):
        drawn = [recipe(draw, dtype) for recipe in recipes]
        vectors = [xs for xs in drawn if len({x.shape for x in xs}) == 1 and xs[0].ndim == 1]
        whole = [np.concatenate(xs) for xs in zip(*vectors, strict=True)]
        at = np.arange(SIZE) * len(whole[0]) // SIZE
        return tuple(x[at] for x in whole)

    return recipe


def _subnormal(spec: Spec) -> bool:
    """Whether a spec is about subnormals: a kernel may flush all of them or none, wherever they stand."""
    return "-subnormal" in spec.name


def _position(spec: Spec, modes: tuple[str, ...], **more):
    chosen = [recipe for name, recipe in spec.recipes.items() if name in _RECIPES or _subnormal(spec)]
    recipes = {"mixed": _mixed(chosen)}
    return replace(spec, modes=modes, recipes=recipes, elementwise=True, **more)


_FAMILIES = (binary, binary_complex, comparison, complex, integers, rounding, sign, unary)
_ELEMENTWISE = [
    s for family in _FAMILIES for s in family.SPECS if {"bits", "plain", "positive"} & set(s.recipes) or _subnormal(s)
]

# Eager mode has the same kernels as functions and graphs, and needs no building; XLA, which compiles every length anew,
# is in the full tier.
SPECS = (
    *(_position(s, ("eager",), name=f"{s.name}-position", tier="default") for s in _ELEMENTWISE if "eager" in s.modes),
    *(_position(s, ("xla",), name=f"{s.name}-position-xla", tier="full") for s in _ELEMENTWISE if "xla" in s.modes),
)
