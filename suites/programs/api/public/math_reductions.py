"""Functions of `tf.math` that reduce, scan and search."""

from tf_opdiff.suites.forms.programs.public import Public, twins
from tf_opdiff.suites.ops.array import shape_arithmetic
from tf_opdiff.suites.ops.math.reductions import arg_extreme, reduction, scan, segment
from tf_opdiff.suites.ops.math.truth_values import truth
from tf_opdiff.suites.ops.nn.layers import loss, softmax, top_k


def _reduced(f, input, axis, keep_dims=False):
    return f(input, axis=axis, keepdims=keep_dims)


def _placed(f, input, dimension, **more):
    return f(input, axis=dimension, **more)


def _scanned(f, x, axis, exclusive=False, reverse=False):
    return f(x, axis, exclusive=exclusive, reverse=reverse)


SPECS = (
    *twins(shape_arithmetic, "math.invert_permutation"),
    *twins(
        arg_extreme,
        Public("math.argmax", of="arg-max", call=_placed),
        Public("math.argmin", of="arg-min", call=_placed),
    ),
    *twins(
        reduction,
        *(Public(f"math.reduce_{name}", of=name, call=_reduced) for name in ("max", "mean", "min", "prod", "sum")),
    ),
    *twins(truth, Public("math.reduce_all", call=_reduced), Public("math.reduce_any", call=_reduced)),
    *twins(scan, Public("math.cumprod", call=_scanned), Public("math.cumsum", call=_scanned)),
    *twins(segment, "math.segment_max", "math.segment_mean", "math.segment_min", "math.segment_prod"),
    *twins(segment, "math.segment_sum", "math.unsorted_segment_max", "math.unsorted_segment_min"),
    *twins(segment, "math.unsorted_segment_prod", "math.unsorted_segment_sum"),
    *twins(loss, "nn.l2_loss"),
    *twins(softmax, "math.log_softmax", "math.softmax"),
    *twins(
        top_k,
        Public("math.in_top_k", of="in-top-k-v2", call=lambda f, predictions, targets, k: f(targets, predictions, k)),
        Public("math.approx_max_k", of="approx-top-k"),
        Public("math.approx_min_k", of="approx-top-k-smallest", call=lambda f, input, k, is_max_k: f(input, k)),
        Public("math.top_k", of="top-k-v2", call=lambda f, input, k, **more: f(input, k, **more)),
    ),
)
