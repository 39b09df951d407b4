"""Special places: special values of a dtype in whole vectors, in single lanes, in tails, and in tensors of 1 to 3."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import lcm, prod
from typing import Any

import numpy as np

from tf_opdiff.harness.device.repeat import PIECES
from tf_opdiff.harness.spec.inputs.recipes import Draw, edges, is_float, special_values
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.twin import in_tiers, representative, twin

#: Elements of a vector register that holds float32, which kernels fill before they compute the elements left over.
VECTOR = 8
#: Lengths of short tensors.
LENGTHS = (1, 2, 3)
#: Recipes that cross the special values of several inputs: of floats (`hard_pairs.special_pairs`), then of others.
_SOURCES = ("upstreams", "edges")
#: Ties of rounding to integers, and a number without its sign.
_TIES = (0.5, -1.5, 2.5)


def special(dtype: np.dtype) -> np.ndarray:
    """The special values of a dtype, each once: NaN, infinities, zeros, limits and ties; limits of integers."""
    if is_float(dtype):
        return np.concatenate([special_values(dtype), np.array(_TIES).astype(dtype)])
    return np.unique(edges(Draw(0), dtype)[0])


def has_special_values(dtype: np.dtype) -> bool:
    """Whether recipes know special values of a dtype: floats and integers."""
    return is_float(dtype) or np.dtype(dtype).kind in "iu"


def specials(size: int) -> Recipe:
    """A recipe: whole vectors of each special value, then each between plain values.

    Args:
      size: the number of elements, as that of the program of all pieces; see `harness.device.repeat`.
    """

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        values, plain = special(dtype), draw.values(dtype, size)
        whole = np.repeat(values, VECTOR)
        between = np.stack([plain[: len(values)], values], axis=1).ravel()
        x = np.concatenate([whole, between])[:size]
        return (np.concatenate([x, plain[len(x) :]]),)

    return recipe


def specials_in_tails(size: int) -> Recipe:
    """A recipe: special values in the elements that are left over after whole vectors, and in every other lane."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        values, x = special(dtype), draw.values(dtype, size)
        tails = tail_places(size)
        x[tails] = np.resize(values, len(tails))
        others = np.setdiff1d(np.arange(size), tails)[::2]
        x[others] = np.resize(values, len(others))
        return (x,)

    return recipe


def tail_places(size: int) -> np.ndarray:
    """The places after the last whole vector of a tensor of `size` elements, and of each of its pieces."""
    ends = [*accumulate(prod(shape) for shape in PIECES), size]
    counts = [*(prod(shape) for shape in PIECES), size]
    places = {place for end, count in zip(ends, counts, strict=True) for place in range(end - count % VECTOR, end)}
    return np.array(sorted(place for place in places if 0 <= place < size))


def short(spec: Spec, source: Recipe | None = None, tier: str = "default") -> tuple[Spec, ...]:
    """The twins of an elementwise spec that call the op on tensors of 1, 2 and 3 elements.

    `NAME-short` has the dtype that stands for the others. Without a source, each special value fills one tensor of each
    length, and `NAME-short-other` has the other dtypes. Eager mode runs the same kernels as functions and graphs, and
    builds nothing.

    Args:
      spec: a spec whose inputs have one shape.
      source: a recipe whose elements stand in tensors of each length, next to each other: see `side_by_side`. By
        default the special values of one input.
      tier: the tier of `NAME-short`.
    """
    lengths, recipe = (side_by_side_sizes, side_by_side(source)) if source else (sizes, _each_length(_special))
    inner = spec.program

    def program(tf: Any, *xs: Any) -> Any:
        parts = zip(*(tf.split(x, lengths(x.shape[0])) for x in xs), strict=True)
        return tf.concat([inner(tf, *each) for each in parts], 0)

    first = representative(spec.dtypes)
    dtypes, recipes = (first,) if source else spec.dtypes, {"specials": recipe}
    fields: dict[str, Any] = {"upstreams": {}, "modes": ("eager",), "every_input": False, "tier": tier}
    return in_tiers(twin(spec, "short", program=program, recipes=recipes, dtypes=dtypes, **fields), first)


def special_outer(spec: Spec, source: Recipe) -> tuple[Spec, ...]:
    """The twin `NAME-special-outer` of a spec of two inputs that are broadcast together: every value with every other.

    Args:
      spec: an elementwise spec; the twin has float32 alone, and promises outputs alone. A spec without it has no twin.
      source: a recipe of two inputs, which has each value of either one.
    """

    def outer(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        x, y = (distinct(lambda draw, dtype, a=a: (a,))(draw, dtype)[0] for a in source(draw, dtype))
        return x[:, np.newaxis], y[np.newaxis]

    if "float32" not in spec.dtypes:
        return ()
    return (twin(spec, "special-outer", recipes={"specials": outer}, upstreams={}, vjp=None, dtypes=("float32",)),)


def sizes(count: int) -> Sequence[int]:
    """The lengths of the short tensors that hold `count` elements in all, if each element fills them."""
    each = count // sum(LENGTHS)
    return [length for length in LENGTHS for _ in range(each)]


def side_by_side_sizes(count: int) -> Sequence[int]:
    """The lengths of the short tensors that hold `count` elements in all, as many in tensors of each length."""
    each = count // len(LENGTHS)
    return [length for length in LENGTHS for _ in range(each // length)]


def side_by_side(source: Recipe) -> Recipe:
    """A recipe: the elements of another one, three times: in tensors of one element, of two, and of three.

    Tensors in which each element stood alone would be nearly twice as many.
    """
    whole = lcm(*LENGTHS)

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs = source(draw, dtype)
        return tuple(np.tile(np.resize(x, -(-len(x) // whole) * whole), len(LENGTHS)) for x in xs)

    return recipe


def distinct(recipe: Recipe) -> Recipe:
    """The recipe with each element once: of several inputs, each combination of their elements once."""

    def once(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs = recipe(draw, dtype)
        bits = np.stack([np.ascontiguousarray(x).view(f"u{x.itemsize}") for x in xs], axis=-1)
        first = np.sort(np.unique(bits, axis=0, return_index=True)[1])
        return tuple(x[first] for x in xs)

    return once


def joined(recipes: Sequence[Recipe]) -> Recipe:
    """A recipe: the inputs of each recipe, one after the other."""
    return lambda draw, dtype: tuple(np.concatenate(xs) for xs in zip(*(r(draw, dtype) for r in recipes), strict=True))


def special_source(spec: Spec) -> Recipe | None:
    """The recipe of special values that a spec of several inputs has; None if it has none."""
    return next((distinct(spec.recipes[name]) for name in _SOURCES if name in spec.recipes), None)


def _special(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    return (special(dtype),)


def _each_length(source: Recipe) -> Recipe:
    """A recipe: the elements of another one in a tensor of each length, one tensor after the other."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        return tuple(np.concatenate([np.repeat(x, length) for length in LENGTHS]) for x in source(draw, dtype))

    return recipe
