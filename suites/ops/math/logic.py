"""Logic: booleans from two booleans."""

import numpy as np

from tf_opdiff.suites.forms.comparison import comparison
from tf_opdiff.suites.forms.errors import incompatible

SPECS = (
    *comparison(
        "logical-and", "LogicalAnd", incompatible(dtypes=("bool",)), reference=np.logical_and, dtypes=("bool",)
    ),
    *comparison("logical-or", "LogicalOr", reference=np.logical_or, dtypes=("bool",)),
)
