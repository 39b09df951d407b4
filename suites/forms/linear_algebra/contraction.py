"""Contraction: what ops that multiply and sum up have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX
from tf_opdiff.suites.forms.elementwise.special_upstreams import in_turn
from tf_opdiff.suites.forms.op import also
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes.elements import Elements, large, nonzero_integers, plain, special, wrap_around

#: Values in turn: by their places, no row and no column has both a zero and an infinity.
upstreams = in_turn(lambda dtype: np.array((0.0, -0.0, 1.0, -2.0)).astype(dtype))
OF_FLOATS: Mapping[str, Elements] = {
    "plain": plain,
    "exact": nonzero_integers,
    "large": large,
    "special": special,
    "upstreams": nonzero_integers,
}
#: The fields of an `Op` that all contractions share, but for those without gradients.
CONTRACTED: Mapping[str, Any] = {
    "recipes": OF_FLOATS,
    "upstreams": {"upstreams": upstreams},
    "second": ("plain",),
    "of_integers": {"plain": plain, "bits": wrap_around},
    "of_small": nonzero_integers,
}
#: A part: complex numbers.
of_complex = also("-complex", recipes={"plain": plain, "exact": nonzero_integers}, dtypes=tiered(COMPLEX, ()))
