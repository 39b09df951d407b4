"""Random kinds: the numbers that ops make of random bits, and their budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.elementwise.cast import limits
from tf_opdiff.suites.reference.random_numbers import random as ref
from tf_opdiff.suites.reference.random_numbers.random import blocks

FLOATS = tiered(("float32", "bfloat16", "float16", "float64"))


@dataclass(frozen=True, kw_only=True)
class Kind:
    """The numbers of a random op.

    Attributes:
      numbers: numbers(stream, shape, dtype, *limits) by TensorFlow's kernels.
      of_xla: the numbers by XLA, if XLA computes others from the same bits; else None.
      dtypes: dtype → tier.
      limits: name → a lower and an upper limit by dtype; empty for numbers without.
      ulp: the budget of a number, by dtype.
      ulp_of_xla: the budget of a number of XLA, by dtype.
      slack: slack(number, dtype) → a further error of a number of XLA.
      blocks: blocks(shape, dtype) → the blocks of a generator that XLA uses up.
    """

    numbers: Callable[..., np.ndarray]
    of_xla: Callable[..., np.ndarray] | None = None
    dtypes: Mapping[str, str] = field(default_factory=lambda: FLOATS)
    limits: Mapping[str, Callable[[str], tuple[int, int]]] = field(default_factory=dict)
    ulp: Any = 0
    ulp_of_xla: Any = 0
    slack: Callable[[np.ndarray, str], np.ndarray] | None = None
    blocks: Callable[[tuple[int, ...], str], int] = blocks


#: Recipes of limits: few numbers, one, a power of two, and all but one.
_LIMITS: Mapping[str, Callable[[str], tuple[int, int]]] = {
    "": lambda dtype: (-5, 17),
    "one_number": lambda dtype: (3, 4),
    "power_of_two": lambda dtype: (-(2**10), 2**10),
    "widest": lambda dtype: limits(np.dtype(dtype)),
}
#: The logarithm, the square root, the sine or cosine and the product: 2.3 ULPs off at most in 10^6 numbers of each
#: dtype. float16 and bfloat16 are rounded from float32. XLA computes float16 in float16.
_NORMAL_ULP = {"bfloat16": 0.51, "float16": 0.51, "float32": 3, "float64": 3}
_XLA_ULP = {"bfloat16": 1.01, "float16": 3, "float32": 3, "float64": 3}
UNIFORM = Kind(numbers=ref.uniforms, of_xla=ref.uniforms_of_xla)
NORMAL = Kind(
    numbers=ref.normals,
    of_xla=ref.normals_of_xla,
    ulp=_NORMAL_ULP,
    ulp_of_xla=_XLA_ULP,
    blocks=ref.blocks_of_pairs,
)
#: XLA rounds the probability, whose error the quantile multiplies by its slope.
TRUNCATED_NORMAL = Kind(
    numbers=ref.truncated,
    of_xla=ref.truncated_of_xla,
    ulp=_NORMAL_ULP,
    ulp_of_xla=_XLA_ULP,
    slack=ref.error_of_quantile,
)
ALL_INTEGERS = Kind(numbers=ref.full_integers, dtypes=tiered(("int32", "int64", "uint32", "uint64")))
INTEGERS_IN_RANGE = Kind(numbers=ref.integers, dtypes=tiered(("int32", "int64")), limits=_LIMITS)
