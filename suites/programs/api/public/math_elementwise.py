"""Elementwise functions of `tf.math`."""

from tf_opdiff.suites.forms.programs.public import Public, twins
from tf_opdiff.suites.ops.math.elementary import trigonometric
from tf_opdiff.suites.ops.math.reductions import scan


def _scan(f, x, axis, exclusive=False, reverse=False):
    return f(x, axis, exclusive=exclusive, reverse=reverse)


SPECS = (
    *twins(trigonometric, "math.cos"),
    *twins(scan, Public("math.cumsum", call=_scan), Public("math.cumprod", call=_scan)),
)
