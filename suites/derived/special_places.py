"""Special places: special values of a dtype in whole vectors, in single lanes, in tails, and in tensors of 1 to 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod
from typing import Any

import numpy as np

from tf_opdiff.harness.device.repeat import PIECES
from tf_opdiff.harness.spec.recipes import Draw, edges, is_float, special_values
from tf_opdiff.harness.spec.spec import Recipe, Spec

#: Elements of a vector register that holds float32, which kernels fill before they compute the elements left over.
VECTOR = 8
#: Lengths of short tensors.
LENGTHS = (1, 2, 3)
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


def short(spec: Spec) -> tuple[Spec, Spec]:
    """The twins of an elementwise spec of one input that call the op on tensors of 1, 2 and 3 elements.

    `NAME-short` has float32, `NAME-short-other` the other dtypes. Each special value fills one tensor of each length.
    Eager mode runs the same kernels as functions and graphs, and builds nothing.
    """

    def program(tf: Any, x: Any) -> Any:
        parts = tf.split(x, sizes(x.shape[0]))
        return tf.concat([spec.program(tf, part) for part in parts], 0)

    twin = replace(
        spec,
        name=f"{spec.name}-short",
        program=program,
        recipes={"specials": _each_length},
        upstreams={},
        modes=("eager",),
        dtypes=("float32",),
        sweep=False,
        tier="default",
    )
    others = tuple(dtype for dtype in spec.dtypes if dtype != "float32")
    return twin, replace(twin, name=f"{twin.name}-other", dtypes=others, tier="full")


def sizes(count: int) -> Sequence[int]:
    """The lengths of the short tensors that hold `count` elements in all."""
    each = count // sum(LENGTHS)
    return [length for length in LENGTHS for _ in range(each)]


def _each_length(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    return (np.concatenate([np.repeat(special(dtype), length) for length in LENGTHS]),)
