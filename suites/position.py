"""Position: an elementwise op gives a value the same result alone, in a vector's lanes or tail, and in a batch.

Kernels take whole vectors of a row first and what is left one by one, often by another function.
"""

from dataclasses import replace

import numpy as np

from harness.spec import Spec
from suites import rounding, sign, unary

SIZE = 175  # all that the pieces hold


def _mixed(recipes):
    """A recipe of some values of every recipe, of all those whose inputs are vectors."""

    def recipe(draw, dtype):
        vectors = [xs for xs in (recipe(draw, dtype) for recipe in recipes) if {x.ndim for x in xs} == {1}]
        whole = [np.concatenate(xs) for xs in zip(*vectors, strict=True)]
        at = np.arange(SIZE) * len(whole[0]) // SIZE
        return tuple(x[at] for x in whole)

    return recipe


def _position(spec: Spec, modes: tuple[str, ...], **more):
    recipes = {"mixed": _mixed(tuple(spec.recipes.values()))}
    return replace(spec, modes=modes, recipes=recipes, elementwise=True, **more)


_ELEMENTWISE = [
    s for s in (*rounding.SPECS, *sign.SPECS, *unary.SPECS) if {"bits", "positive", "subnormals"} & set(s.recipes)
]

# Eager mode has the same kernels as graphs and needs no building, so it alone is in the default tier.
SPECS = (
    *(_position(s, ("eager",), name=f"{s.name}-position", tier="default") for s in _ELEMENTWISE),
    *(_position(s, ("function", "xla", "graph"), name=f"{s.name}-position-built", tier="full") for s in _ELEMENTWISE),
)
