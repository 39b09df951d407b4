"""Fractions where public functions of TensorFlow document an integer: they refuse it in every mode, and cut nothing.

`suites.forms.options` gives fractions to the integer attributes of raw ops.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.forms.errors import raises

#: Functions of `tf` and of a matrix of 3 by 4, in which Python refuses the fraction.
_BY_PYTHON: Mapping[str, Callable[..., Any]] = {
    "argmax": lambda tf, x: tf.argmax(x, axis=0.5),
    "band_part": lambda tf, x: tf.linalg.band_part(x, 0.5, 0),
    "bincount": lambda tf, x: tf.math.bincount(tf.cast(x, tf.int32), minlength=20.5),
    "concat": lambda tf, x: tf.concat([x, x], axis=0.5),
    "crop_and_resize": lambda tf, x: tf.image.crop_and_resize(x[None, :, :, None], [[0.0, 0, 1, 1]], [0], [2.5, 2]),
    "cumsum": lambda tf, x: tf.cumsum(x, axis=0.5),
    "dct": lambda tf, x: tf.signal.dct(x, n=2.5),
    "diag": lambda tf, x: tf.linalg.diag(x[0], k=0.5),
    "diag_part": lambda tf, x: tf.linalg.diag_part(x, k=0.5),
    "expand_dims": lambda tf, x: tf.expand_dims(x, 0.5),
    "eye": lambda tf, x: tf.eye(2.5) + x[0, 0],
    "getitem": lambda tf, x: x[0.5],
    "hann_window": lambda tf, x: tf.signal.hann_window(4.5) + x[0, 0],
    "linspace": lambda tf, x: tf.linspace(x[0, 0], x[0, 1], 2.5),
    "one_hot": lambda tf, x: tf.one_hot([0, 1], 2.5) + x[0, 0],
    "ones": lambda tf, x: tf.ones([2.5]) + x[0, 0],
    "numpy_diag": lambda tf, x: tf.experimental.numpy.diag(x, k=0.5),
    "numpy_repeat": lambda tf, x: tf.experimental.numpy.repeat(x, 1.5),
    "numpy_sum": lambda tf, x: tf.experimental.numpy.sum(x, axis=0.5),
    "numpy_tri": lambda tf, x: tf.experimental.numpy.tri(2.5) + x[0, 0],
    "numpy_triu": lambda tf, x: tf.experimental.numpy.triu(x, k=0.5),
    "pad_of_image": lambda tf, x: tf.image.resize_with_pad(x[:, :, None], 2.5, 3),
    "reduce_std": lambda tf, x: tf.math.reduce_std(x, axis=0.5),
    "reduce_sum": lambda tf, x: tf.reduce_sum(x, axis=0.5),
    "repeat": lambda tf, x: tf.repeat(x, 1.5, axis=0),
    "rfft": lambda tf, x: tf.signal.rfft(x, [2.5]),
    "rot90": lambda tf, x: tf.image.rot90(x[:, :, None], 1.5),
    "size_of_image": lambda tf, x: tf.image.resize_with_crop_or_pad(x[:, :, None], 2.5, 3),
    "tensordot": lambda tf, x: tf.tensordot(x, x, axes=2.5),
    "top_k": lambda tf, x: tf.math.top_k(x, 2.5)[0],
    "while_loop": lambda tf, x: tf.while_loop(lambda y: True, lambda y: (y * 2,), (x,), maximum_iterations=1.5)[0],
    "zeros": lambda tf, x: tf.zeros([2.5]) + x[0, 0],
}
#: Functions that pass the fraction on to an op, whose OpDef allows no dtype of floats there.
_BY_OP: Mapping[str, Callable[..., Any]] = {
    "crop_of_image": lambda tf, x: tf.image.crop_to_bounding_box(x[:, :, None], 0.5, 0, 2, 2),
    "fill": lambda tf, x: tf.fill([2.5], x[0, 0]),
    "frame": lambda tf, x: tf.signal.frame(x, 2.5, 1),
    "gather": lambda tf, x: tf.gather(x, [0.5]),
    "gather_axis": lambda tf, x: tf.gather(x, [0], axis=0.5),
    "moments": lambda tf, x: tf.nn.moments(x, [0.5])[0],
    "pad": lambda tf, x: tf.pad(x, [[0.5, 0], [0, 0]]),
    "reshape": lambda tf, x: tf.reshape(x, [3.5, 4]),
    "reverse": lambda tf, x: tf.reverse(x, [0.5]),
    "roll": lambda tf, x: tf.roll(x, 1.5, 0),
    "segments": lambda tf, x: tf.math.unsorted_segment_sum(x, [0, 1, 0], 2.5),
    "slice": lambda tf, x: tf.slice(x, [0.5, 0], [1, 1]),
    "stateless_uniform": lambda tf, x: tf.random.stateless_uniform([2.5], [1, 2]) + x[0, 0],
    "tile": lambda tf, x: tf.tile(x, [1.5, 1]),
    "transpose": lambda tf, x: tf.transpose(x, [1.5, 0]),
}
_BY_KERNEL = Side(
    reference=raises("INVALID_ARGUMENT"),
    why="nothing documents the code of the error; a graph checks dtypes when it is built, and an eager op when it runs",
)


def _refused(name: str, functions: Mapping[str, Callable[..., Any]], **fields: Any) -> Spec:
    """The spec of functions that refuse a fraction, one a label."""
    return Spec(
        name=f"fractions-{name}",
        program=lambda tf, x, function: functions[function](tf, x),
        reference=raises("TypeError"),
        recipes={"plain": lambda draw, d: (draw.values(d, 3, 4),)},
        constant=("output[0]",),
        attrs={label: {"function": label} for label in functions},
        ops="",
        tier="full",
        **fields,
    )


SPECS = (
    _refused("refused-by-op", _BY_OP, contract={"*/eager": _BY_KERNEL}),
    _refused("refused-by-python", _BY_PYTHON),
)
