"""Softmax: the specs of functions of the rows of a matrix of logits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.recipes import FLOATS, Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.aspects import batches, in_shapes, second_order, small
from tf_opdiff.suites.forms.calls import Calls, call
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.rows import SHAPE, offset, plain, rows
from tf_opdiff.suites.forms.special_upstreams import every_kind
from tf_opdiff.suites.reference.promise import OfOneTensor

INF, NAN = np.inf, np.nan
#: Second derivatives of all softmax-like ops.
CANCELS = {"hvp": Loose(lambda *xs: True, "a second derivative is a difference of sums of products, which may cancel")}
#: Budgets of subnormal shares of float16: each step is rounded to a multiple of the smallest subnormal number.
SUBNORMAL = {"output": {"float16": 1.0}, "grad": {"float16": 4.0}}
_ONE: Calls = {"rows": call()}
#: Logits whose rows are ordinary.
LOGITS: Mapping[str, Recipe] = {
    "plain": plain,
    "offset": offset(1000),
    "below": offset(-1000),
    "equal": rows([0.0], [-0.0, 0.0], [2.0], [-60000.0]),
    "apart": rows([0.0, 5.0, -5.0], [10.0, 0.0], [-8.0, 8.0], [0.0, 1.0, -12.0]),
    "masked": rows([-INF, 0.0, 1.0], [-INF, 2.0], [1.0, -INF], [3.0]),
    "upstreams": plain,
}
#: Logits with rows that have no distribution: NaN; +inf; -inf alone.
WITHOUT: Mapping[str, Recipe] = {"special": rows([NAN, 1.0, 2.0], [-INF], [NAN], [0.5, -INF])}


def near(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Logits next to each other, so that no share is small and few terms of a second derivative cancel."""
    return (draw.uniform(*SHAPE).astype(dtype),)


def wide(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Logits of many classes."""
    return (draw.values(dtype, 4, 131),)


def softmax_like(name: str, raw: str, promise: OfOneTensor) -> tuple[Spec, ...]:
    """The specs of an op of one input, `logits`. The default tier has float32, the full tier all other dtypes.

    Args:
      name: the name with which theirs begin.
      raw: the OpDef.
      promise: its promise.
    """
    return op(
        name,
        raw,
        part(recipes=LOGITS, upstreams={"upstreams": every_kind}, ulp=SUBNORMAL),
        batches(_ONE, wide, ulp=SUBNORMAL),
        second_order({"near": near}, loose=CANCELS),
        small(in_shapes(EMPTY, _elements)),
        arguments=("logits",),
        promise=promise,
        calls=_ONE,
        dtypes=tiered(FLOATS),
        forward=WITHOUT,
    )


def _elements(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    return draw.uniform(*shape).astype(dtype)
