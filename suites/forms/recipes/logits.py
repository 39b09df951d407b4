"""Logits: recipes of one matrix whose rows are logits, and the budget of their softmax."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.recipes.rows import offset, plain, rows

INF = np.inf
#: Budgets of subnormal shares of float16: each step is rounded to a multiple of the smallest subnormal number.
SUBNORMAL = {"output": {"float16": 1.0}, "grad": {"float16": 4.0}}
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
