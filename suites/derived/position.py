"""Position: an elementwise op gives a value the same result wherever the value stands in a tensor.

Kernels compute whole vectors of a row first, and the elements left over one by one, often with another function.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.special_places import distinct, has_special_values, specials, specials_in_tails
from tf_opdiff.suites.derived.twin import twin

#: Elements of a whole vector: the sum of the pieces into which the harness cuts it.
SIZE = 175
#: Recipes whose inputs every spec computes right; other recipes of a spec hold inputs on which TensorFlow fails.
_SOUND = ("edges", "bits", "plain", "domain", "halves", "magnitudes", "positive", "range")
#: The recipe that crosses the special values of two inputs: see `suites.forms.recipes.hard_pairs.special_pairs`.
_PAIRS = "upstreams"


def positions(spec: Spec) -> tuple[Spec, ...]:
    """The twins of an elementwise spec that run each input whole and in pieces: `NAME-position`, `NAME-position-xla`.

    Eager mode runs the same kernels as functions and graphs, and builds nothing. XLA compiles every length anew: its
    twin is in the full tier. The inputs of `mixed` are values of every sound recipe, or of every recipe where a spec
    has no sound one, as a spec about subnormals: a kernel may flush all subnormals or none, wherever they stand. The
    eager twin also puts each special value of the dtype in every kind of place: see `special_places`. Of two inputs it
    has each pair of special values. Under XLA these stand in a twin of their own, `NAME-position-xla-special`.
    """
    sound = [recipe for name, recipe in spec.recipes.items() if name in _SOUND]
    mixed = _mixed(sound or list(spec.recipes.values()))
    special = _specials(spec)
    moved = partial(twin, spec, "position", elementwise=True, upstreams={})
    in_xla = partial(moved, modes=("xla",), tier="full")
    eager = moved(recipes={"mixed": mixed, **special}, modes=("eager",))
    twins = [eager, in_xla(end="-xla", recipes={"mixed": mixed})]
    twins += [in_xla(end="-xla-special", recipes=special)] if special else []
    return tuple(each for each in twins if set(each.modes) <= set(spec.modes))


def _specials(spec: Spec) -> dict[str, Recipe]:
    """Recipes of special values in all places, for a spec that promises results for all values of one input or two."""
    if _PAIRS in spec.recipes and not spec.sweepable:
        return {"special": _whole(spec.recipes[_PAIRS])}
    known = all(has_special_values(np.dtype(dtype)) for dtype in spec.dtypes)
    if not (known and spec.sweepable and "edges" in spec.recipes):
        return {}
    return {"specials": specials(SIZE), "specials_in_tails": specials_in_tails(SIZE)}


def _mixed(recipes: Iterable[Recipe]) -> Recipe:
    """A recipe with some values of each recipe whose inputs are vectors of one length."""

    def mixed(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        drawn = [recipe(draw, dtype) for recipe in recipes]
        vectors = [xs for xs in drawn if len({x.shape for x in xs}) == 1 and xs[0].ndim == 1]
        whole = [np.concatenate(xs) for xs in zip(*vectors, strict=True)]
        at = np.arange(SIZE) * len(whole[0]) // SIZE
        return tuple(x[at] for x in whole)

    return mixed


def _whole(recipe: Recipe) -> Recipe:
    """A recipe with each element of another one once, then from the first on again: all in one whole vector.

    Of more elements than the vector holds, it has every second one, or every third, and so on.
    """
    once = distinct(recipe)

    def whole(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs = once(draw, dtype)
        at = np.arange(SIZE) * max(1.0, len(xs[0]) / SIZE)
        return tuple(x[at.astype(int) % len(x)] for x in xs)

    return whole
