"""Reductions of truth values."""

import numpy as np

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.reductions.reduction import REDUCED, of_axes, reduced
from tf_opdiff.suites.forms.reductions.reduction_recipes import few, filled, plain
from tf_opdiff.suites.reference.promises.accumulation import axes


def _promise(function):
    """The promise of a reduction by a function of an array, `axis` and `keepdims`."""
    return reduced(lambda x, axis: np.asarray(function(x, axis=axes(axis, x.ndim), keepdims=True)), flushes=False)


_TRUTH = {
    **REDUCED,
    "dtypes": ("bool",),
    "recipes": {"plain": plain, "few": few, "true": filled(True), "false": filled(False)},
    "gradient": False,
}
SPECS = (
    *op("reduce-all", "All", of_axes, promise=_promise(np.all), **_TRUTH),
    *op("reduce-any", "Any", of_axes, promise=_promise(np.any), **_TRUTH),
)
