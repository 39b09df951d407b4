"""Logic: booleans from booleans."""

import numpy as np

from tf_opdiff.suites.forms.aspects import incompatible
from tf_opdiff.suites.forms.comparison import comparison
from tf_opdiff.suites.forms.exact import exact

SPECS = (
    *comparison(
        "logical-and", "LogicalAnd", incompatible(dtypes=("bool",)), reference=np.logical_and, dtypes=("bool",)
    ),
    *exact("logical-not", op="LogicalNot", reference=np.logical_not, dtypes=("bool",)),
    *comparison("logical-or", "LogicalOr", reference=np.logical_or, dtypes=("bool",)),
)
