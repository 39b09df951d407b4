"""Sizes: an op on tensors without elements, and with one element, in each dimension.

Functions and graphs are built for these shapes, and for unknown sizes of all dimensions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from math import prod

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Case, Recipe, Spec
from tf_opdiff.suites.derived.twin import ELEMENTWISE, representative, twin
from tf_opdiff.suites.derived.unknown_shape import unknown_shape

Shape = tuple[int, ...]
#: name of a recipe → the shape of each input.
Shapes = Mapping[str, tuple[Shape, ...]]

#: The shapes of a tensor without elements, and with one.
EMPTY: Mapping[str, Shape] = {
    "none": (0,),
    "one": (1,),
    "no_rows": (0, 3),
    "no_columns": (3, 0),
    "one_by_one": (1, 1),
    "empty_inside": (1, 0, 2),
    "ones": (1, 1, 1),
}
#: The recipes that stand for the others in elementwise ops where each of them needs a program of its own.
FEW = ("none", "one_by_one", "empty_inside", "column_with_none", "planes_with_empty_inside")
#: The aspects of the twins.
_ASPECTS = ("sizes", "unknown-shape")
#: More elements than one of these shapes has.
_ENOUGH = 8
#: Recipes of a spec in the order in which they are preferred as a source of values, which every op computes right.
_SOURCES = ("domain", "plain", "range", "positive")


def alike(count: int) -> Shapes:
    """The shapes of an op of `count` inputs that have one shape."""
    return {name: (shape,) * count for name, shape in EMPTY.items()}


#: The shapes of an op of two inputs that are broadcast together. A gradient sums up no element, or one: a sum of more
#: has a bound, and stands in specs of its own.
PAIRS: Shapes = {
    **alike(2),
    "none_with_one": ((0,), (1,)),
    "column_with_none": ((3, 1), (3, 0)),
    "planes_with_empty_inside": ((2, 1, 1), (1, 0, 2)),
    "scalar_with_no_rows": ((), (0, 3)),
    "no_columns_with_one": ((3, 0), (1,)),
}


def elementwise_sizes(specs: Iterable[Spec], shapes: Shapes) -> list[Spec]:
    """The twins of the specs of an op: one dtype has all sizes, with gradients if a spec promises them.

    Args:
      specs: the specs of one op. Those of the aspect `elementwise` get twins, but for dtypes that have such twins
        already.
      shapes: the shapes of its inputs.
    """
    specs = sorted(specs, key=lambda spec: spec.derivatives.vjp is None)
    covered = {(str(spec.ops), d) for spec in specs if spec.aspect in _ASPECTS for d in spec.dtypes}
    left: list[tuple[Spec, tuple[str, ...]]] = []
    for spec in specs:
        if spec.aspect == ELEMENTWISE:
            left.append((spec, tuple(d for d in spec.dtypes if (str(spec.ops), d) not in covered)))
            covered |= {(str(spec.ops), d) for d in spec.dtypes}
    first = representative([dtype for _, dtype in sorted(covered)]) if covered else ""
    twins = (sizes(spec, _recipes(spec, shapes), dtypes, first, FEW) for spec, dtypes in left if dtypes)
    return [each for of_spec in twins for each in of_spec]


def sizes(
    spec: Spec, recipes: Mapping[str, Recipe], dtypes: Collection[str] = (), first: str = "", few: Collection[str] = ()
) -> Iterator[Spec]:
    """The twins of a spec on these recipes: `NAME-sizes`, `NAME-sizes-unknown-shape`, and `NAME-sizes-xla`.

    A function, and a graph, for unknown sizes serves all shapes of a rank: it has all recipes. XLA, which compiles each
    shape anew, is in the full tier.

    Args:
      spec: the spec.
      recipes: name → a recipe of inputs without elements, or with one.
      dtypes: the dtypes of the spec that need twins; all by default.
      first: the dtype that stands for the others. If it is not one of `dtypes`, there are no twins.
      few: the recipes of known shapes in other modes than XLA; all by default.
    """
    dtypes = tuple(dtypes or spec.dtypes)
    first = first or representative(dtypes)
    fast = tuple(mode for mode in spec.modes if mode != "xla")
    some = {name: recipe for name, recipe in recipes.items() if not few or name in few}
    sized = partial(twin, spec, "sizes", dtypes=(first,), upstreams={})
    if first in dtypes:
        known = sized(recipes=some, modes=fast)
        yield known
        yield replace(unknown_shape(known, recipes), modes=fast)
        if "xla" in spec.modes:
            yield sized(end="-xla", recipes=recipes, modes=("xla",), tier="full")


def _recipes(spec: Spec, shapes: Shapes) -> dict[str, Recipe]:
    """Recipes of inputs of these shapes, with values of another recipe of the spec: if possible a sound one."""
    source = next((name for name in _SOURCES if name in spec.recipes), next(iter(spec.recipes)))

    @cache
    def values(dtype: np.dtype) -> list[np.ndarray]:
        xs = [x.ravel() for x in Case(spec, dtype.name, source).inputs()]
        tight = np.ones(xs[0].shape, bool)
        for loose in spec.tolerance.loose.values():  # a bound that allows nearly any result can't tell a wrong one
            tight &= ~np.asarray(loose(*(x if x.dtype.kind == "c" else x.astype(np.float64) for x in xs)), bool)
        return [x[tight] for x in xs] if np.count_nonzero(tight) > _ENOUGH else xs

    def shaped(each: tuple[Shape, ...]) -> Recipe:
        def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
            xs = values(np.dtype(dtype))
            start = int(draw.integers(2, low=0, high=min(x.size for x in xs) - _ENOUGH)[1])
            return tuple(x[start : start + prod(s)].reshape(s) for x, s in zip(xs, each, strict=True))

        return recipe

    return {name: shaped(each) for name, each in shapes.items()}
