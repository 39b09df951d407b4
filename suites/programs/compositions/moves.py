"""Reductions of monotone functions and of reductions, and ops that move elements and undo each other.

Grappler rewrites them in `OptimizeMaxOrMinOfMonotonicStage`, `RemoveIdentityTranspose`, `RemoveRedundantReshape`,
`RemoveStackSliceSameAxis`, `ReorderCastLikeAndValuePreserving`, `ConstantFolding::SimplifyReduction` and
`MergeConcat`; XLA in `AlgebraicSimplifierVisitor::HandleReduce`, `HandleConcatenate`, `HandleSlice`, `HandleTranspose`,
`HandleReshape`, `HandleReverse` and `HandlePad`.
"""

from functools import partial

import numpy as np

from tf_opdiff.suites.forms.programs.composition import SIDE, composition, mistaking
from tf_opdiff.suites.reference.promises.numpy_tensorflow import TF, reduced

_REDUCTIONS = (
    *(f"tf.reduce_{extreme}(tf.{f}(x), 0)" for extreme in ("max", "min") for f in ("sqrt", "exp", "tanh", "sigmoid")),
    *("tf.reduce_max(-x, 0)", "tf.reduce_min(-x, 1)", "-tf.reduce_max(-x, 0)", "tf.reduce_max(tf.floor(x), 0)"),
    *("tf.reduce_max(tf.math.log(x), 0)", "tf.reduce_max(tf.nn.relu(x), 0)", "tf.reduce_max(x * 2.0, 0)"),
    *("tf.reduce_max(tf.reduce_max(x, 0), 0)", "tf.reduce_min(tf.reduce_max(x, 0, keepdims=True), 1)"),
    *("tf.reduce_max(x, [])", "tf.reduce_max(tf.reshape(x, [225, 1]), 1)", "tf.reduce_max(x, [0, 1])"),
    *("tf.reduce_max(tf.transpose(x), 0)", "tf.reduce_max(tf.reverse(x, [0]), 0)", "tf.reduce_max(x + 1.0, 0)"),
    *("tf.reduce_any(x < y, 0)", "tf.reduce_all(tf.logical_not(x < y), 0)", "tf.reduce_max(tf.abs(x), 0)"),
    *("tf.reduce_max(tf.concat([x, y], 0), 0)", "tf.maximum(tf.reduce_max(x, 0), tf.reduce_max(y, 0))"),
    *("tf.reduce_max(tf.math.reciprocal(x), 0)", "tf.reduce_max(tf.math.rsqrt(x), 0)"),
)
_MOVES = (
    *("tf.transpose(tf.transpose(x))", "tf.transpose(x, [0, 1])", "tf.reshape(tf.reshape(x, [225]), [15, 15])"),
    *("tf.reshape(tf.transpose(x), [225])", "tf.reverse(tf.reverse(x, [0]), [0])", "tf.reverse(x, [])"),
    *("tf.reverse(tf.reverse(x, [0]), [1])", "tf.identity(tf.identity(x))", "tf.stop_gradient(tf.identity(x)) + 0.0"),
    *("tf.concat(tf.split(x, 3), 0)", "tf.concat([x[:5], x[5:]], 0)", "tf.concat([tf.concat([x, y], 0), x], 0)"),
    *("tf.concat([x], 0)", "tf.concat([x, x], 0)", "tf.slice(tf.concat([x, y], 0), [15, 0], [15, 15])"),
    *(
        "tf.stack(tf.unstack(x))",
        "tf.stack([x, y])[0]",
        "tf.stack([x, y])[1]",
        "tf.stack([x, x])",
        "tf.tile(x, [1, 1])",
    ),
    *("tf.slice(x, [0, 0], [15, 15])", "tf.slice(tf.slice(x, [1, 1], [10, 10]), [2, 2], [3, 3])", "x[::-1][::-1]"),
    *("tf.pad(x, [[0, 0], [0, 0]])", "tf.slice(tf.pad(x, [[1, 1], [0, 0]]), [1, 0], [15, 15])", "x[2:5][1:2]"),
    *(
        "tf.squeeze(tf.expand_dims(x, 0), 0)",
        "tf.expand_dims(tf.expand_dims(x, 0), 0)",
        "tf.gather(x, list(range(15)))",
    ),
    *("tf.gather(x, [3, 3, 0])", "tf.transpose(-tf.transpose(x))", "tf.reshape(-tf.reshape(x, [225]), [15, 15])"),
    *("tf.transpose(x) + tf.transpose(y)", "tf.transpose(x) * tf.transpose(x)", "tf.concat([-x, -y], 0)"),
    *("tf.concat([tf.exp(x), tf.exp(y)], 0)", "tf.split(tf.exp(x), 3)[1]", "tf.concat([x * 0.0, y * 0.0], 0)"),
    *("tf.slice(x * 3.0, [0, 0], [2, 2])", "tf.reverse(x + 0.0, [0])", "tf.pad(x, [[0, 1], [0, 0]]) * 0.0"),
)

_FUNCTIONS = ("identity", "negative", "exp", "sqrt", "square", "tanh", "sigmoid", "floor", "nn.relu", "math.log1p")
_INDICES = tuple(f"tf.{index}(tf.{f}(x), 0)" for index in ("argmax", "argmin") for f in _FUNCTIONS)


def _saturated(draw, dtype, count):
    """Numbers whose tanh and sigmoid are 1 or clearly less than 1, and whose exp overflows or does not."""
    values = np.array([0, 1, 2, 3, 4, 5, 6, 24, 30, 36, 100, 200, 300], dtype)
    return tuple(values[draw.integers(SIDE, SIDE, low=0, high=len(values))] for _ in range(count))


#: Reductions that lose NaN, as under XLA.
_NUMBERS_ALONE = {
    "reduce_max": reduced(partial(np.fmax.reduce, initial=-np.inf)),
    "reduce_min": reduced(partial(np.fmin.reduce, initial=np.inf)),
}
#: Monotonic functions that Grappler takes out of a reduction.
_UNCHANGED = dict.fromkeys(("exp", "sigmoid", "tanh"), TF.identity)
SPECS = (
    mistaking(composition("compose-reductions", _REDUCTIONS, built="Max;Min;Any"), _NUMBERS_ALONE),
    mistaking(
        composition(
            "compose-indices", _INDICES, inputs=1, recipes={"saturated": _saturated}, built="ArgMax;ArgMin;Tanh"
        ),
        _UNCHANGED,
    ),
    composition("compose-moves", _MOVES, built="Transpose;Reshape;ReverseV2;ConcatV2;Pack"),
)
