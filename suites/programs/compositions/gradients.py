"""Gradients of compositions, with special upstreams: optimisers rewrite the ops of gradients too.

Each row has the gradient of a program at x for the upstream y, and the same gradient op by op, in the order in which
TensorFlow's gradient functions compute it.
"""

from tf_opdiff.suites.forms.programs.composition import composition

_GRADIENTS = {
    "x + 0.0": "tf.identity(y)",
    "x * 0.0": "y * 0.0",
    "x * 1.0": "y * 1.0",
    "0.0 - x": "-y",
    "x / 3.0": "y / 3.0",
    "x / 1e38": "y / 1e38",
    "x - x": "y - y",
    "x + x": "y + y",
    "x * x": "y * x + y * x",
    "-(-x)": "-(-y)",
    "(x + 0.1) + 0.2": "tf.identity(y)",
    "(x * 0.1) * 10.0": "(y * 10.0) * 0.1",
    "(x * 1e30) * 1e-30": "(y * 1e-30) * 1e30",
    "(x / 3.0) / 7.0": "(y / 7.0) / 3.0",
    "(x * 3.0) + (x * 5.0)": "y * 3.0 + y * 5.0",
    "(x + 12582912.0) - 12582912.0": "tf.identity(y)",
    "tf.square(x)": "y * (x * 2.0)",
    "tf.exp(x)": "y * tf.exp(x)",
    "tf.math.log(x)": "y * tf.math.reciprocal(x)",
    "tf.math.log(1.0 + x)": "y * tf.math.reciprocal(1.0 + x)",
    "tf.pow(x, 2.0)": "(y * 2.0) * tf.pow(x, 1.0)",
    "tf.pow(x, 3.0)": "(y * 3.0) * tf.pow(x, 2.0)",
    "tf.pow(x, 0.5)": "(y * 0.5) * tf.pow(x, -0.5)",
    "tf.pow(x, -1.0)": "(y * -1.0) * tf.pow(x, -2.0)",
    "tf.exp(tf.math.log(x))": "(y * tf.exp(tf.math.log(x))) * tf.math.reciprocal(x)",
    "tf.math.log(tf.exp(x))": "(y * tf.math.reciprocal(tf.exp(x))) * tf.exp(x)",
    "tf.where(x > 0.0, x * 2.0, x)": "tf.where(x > 0.0, y, 0.0) * 2.0 + tf.where(x > 0.0, 0.0, y)",
    "tf.cast(tf.cast(x, tf.float16), tf.float32)": "tf.cast(tf.cast(y, tf.float16), tf.float32)",
    "tf.transpose(tf.transpose(x))": "tf.transpose(tf.transpose(y))",
}
_ROWS = tuple((f"grad(lambda x: {f}, x, y)", gradient) for f, gradient in _GRADIENTS.items())

SPECS = (composition("compose-gradients", _ROWS, built="Mul;Pow;RealDiv"),)
