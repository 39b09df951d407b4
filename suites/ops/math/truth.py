"""Reductions of truth values."""

import numpy as np

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.reduced import reduced
from tf_opdiff.suites.forms.reduction import REDUCED, of_axes
from tf_opdiff.suites.forms.reduction_recipes import few, filled, plain
from tf_opdiff.suites.reference.accumulation import axes


def _truth(name, raw, function):
    """The specs of a reduction by a function of an array, `axis` and `keepdims`."""

    def extreme(x, axis):
        return np.asarray(function(x, axis=axes(axis, x.ndim), keepdims=True))

    own = {
        "promise": reduced(extreme, flushes=False),
        "dtypes": ("bool",),
        "recipes": {"plain": plain, "few": few, "true": filled(True), "false": filled(False)},
    }
    return op(name, raw, of_axes, gradient=False, **{**REDUCED, **own})


SPECS = (*_truth("reduce-all", "All", np.all), *_truth("reduce-any", "Any", np.any))
