"""Predicates: booleans from one number."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.suites.forms.elementwise.integers import EXACT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part

_FLOATS = part(positions=True, dtypes=FLOATS, **EXACT)

SPECS = (
    *op("is-finite", "IsFinite", _FLOATS, reference=np.isfinite),
    *op("is-inf", "IsInf", _FLOATS, reference=np.isinf),
    *op("is-nan", "IsNan", _FLOATS, reference=np.isnan),
)
