"""Logic: booleans from booleans."""

import numpy as np

from tf_opdiff.suites.forms.aspects import incompatible
from tf_opdiff.suites.forms.elementwise.comparison import compared
from tf_opdiff.suites.forms.elementwise.integers import EXACT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part

SPECS = (
    *op("logical-and", "LogicalAnd", compared, incompatible(dtypes=("bool",)), reference=np.logical_and),
    *op("logical-not", "LogicalNot", part(positions=True, dtypes=("bool",), **EXACT), reference=np.logical_not),
    *op("logical-or", "LogicalOr", compared, reference=np.logical_or),
)
