"""Reductions of truth values."""

import numpy as np

from tf_opdiff.suites.forms.reduction import truth

SPECS = (*truth("reduce-all", "All", np.all), *truth("reduce-any", "Any", np.any))
