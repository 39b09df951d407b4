"""Predicates: booleans from one number."""

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.suites.forms.exact import exact

SPECS = (
    *exact(
        "is-finite",
        op="IsFinite",
        reference=np.isfinite,
        dtypes=FLOATS,
    ),
    *exact(
        "is-inf",
        op="IsInf",
        reference=np.isinf,
        dtypes=FLOATS,
    ),
    *exact(
        "is-nan",
        op="IsNan",
        reference=np.isnan,
        dtypes=FLOATS,
    ),
)
