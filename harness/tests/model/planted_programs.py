"""Programs with planted differences; `tf-opdiff model` imports them in processes of its own."""

import os
import tempfile

import tensorflow as tf
from tensorflow.python.ops import control_flow_util


def clean(x):
    return tf.reduce_sum(tf.tanh(x) * x, axis=1)


def layers(x):
    """Two layers, and the gradient of their sum."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 0.01
        for weight in (0.1, 0.2):
            y = tf.tanh(tf.matmul(y, tf.fill([4, 4], weight)))
    return y, tape.gradient(y, x)


def joined(x):
    """Ops with a list of inputs, with attributes, and with names in `tf.raw_ops` that are not those of the OpDef."""
    y = tf.concat([x, tf.cast(tf.cast(x * 3.0, tf.int32), tf.float32)], axis=1)
    return tf.reduce_sum(tf.matmul(y, y, transpose_b=True), axis=[0])


def masked_root(x):
    """TensorFlow issue 118674: the gradient of the root of 0 is 0 in eager mode, and NaN under XLA."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.where(x > 0, tf.sqrt(x), tf.zeros_like(x))
    return y, tape.gradient(y, x)


def log_of_exp(x):
    """XLA rewrites the logarithm of an exponential to its argument."""
    y = x * 2.0
    y = tf.math.log(tf.exp(y))
    return y + 1.0


def branch(x):
    y = tf.sin(x)
    y = y * (2.0 if tf.executing_eagerly() else 3.0)
    return y + 1.0


def filled(x):
    """Eager mode runs an op for the zeros, where a trace has a constant."""
    return (tf.sin(x) + tf.zeros([3, 4])) * (2.0 if tf.executing_eagerly() else 3.0)


def slope(x):
    """No float32 equals 0.3: the first op has one slope in both modes, the second has two."""
    y = tf.nn.leaky_relu(x, 0.3)
    return tf.nn.leaky_relu(-y, 0.3 if tf.executing_eagerly() else 0.1)


def in_xla():
    return control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph())


def scaled_for_xla(x):
    y = tf.sin(x) * (1.1 if in_xla() else 1.0)
    return y + 1.0


def behind_harmless_differences(x):
    """A trace tiles and multiplies where eager mode broadcasts and squares; then it scales."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_mean(x * x if not tf.executing_eagerly() else tf.square(x), axis=1)
    return tape.gradient(y, x) * (1.0 if tf.executing_eagerly() else 1.1)


def harmless_differences(x):
    mean = tf.reduce_mean(x, 1) if tf.executing_eagerly() else tf.reduce_sum(x, 1) / 4.0
    return mean * 2.0


def chosen(x):
    """An index out of range is an error in eager mode; XLA takes the last row."""
    return tf.gather(tf.tanh(x), [7]) + 1.0


def asks_for_a_number(x):
    y = tf.abs(x)
    return x / float(tf.reduce_max(y).numpy())


def variance(x):
    """The difference of two large numbers: what is left of it is rounding."""
    return tf.reduce_mean(tf.square(x), 1) - tf.square(tf.reduce_mean(x, 1))


def looped(x):
    y, n = x, tf.constant(0)
    while n < 3:
        y, n = tf.tanh(y) + x, n + 1
    return y


def goes_on(x):
    y, n = x, tf.constant(0)
    while n < (2 if tf.executing_eagerly() else 3):
        y, n = tf.sin(y) + x, n + 1
    return y


def hides_its_first_maximum(x):
    y = x + tf.reduce_max(x, axis=1, keepdims=True)  # under XLA, the maximum of numbers and NaN is no NaN
    return y + tf.reduce_max(y, axis=1, keepdims=True)


def doubled_gradient_of_a_loop(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        (y,) = tf.while_loop(lambda _: True, lambda y: (tf.sin(y),), (x,), maximum_iterations=2)
    return tape.gradient(y, x) * (1.0 if tf.executing_eagerly() else 2.0)


def counting():
    calls = []
    return lambda x: x / (calls.append(1) or len(calls))


def variable_in_each_run(x):
    return x + tf.Variable(tf.ones([4]))


def tangent(x):
    """Forward mode: eager mode calls a traced function for the tangent of each op."""
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = tf.sin(x) * (1.0 if tf.executing_eagerly() else 1.1)
    return accumulator.jvp(y)


count = tf.Variable(0.0)


def wrong_in_the_second_step(x):
    count.assign_add(1.0)
    y = tf.where(count > 1.5, tf.sin(x), x)
    return y * (1.0 if tf.executing_eagerly() else tf.where(count > 1.5, 1.1, 1.0))


def added_and_subtracted(x):
    """XLA adds the two constants first."""
    return (tf.tanh(x * 0.3) * 3.0 + 1e6) - 1e6


def amplified(x):
    """Where the tangent is near 1, its rounding is all that is left after the subtraction."""
    return 1.0 - tf.tanh(x)


def aborts_when_traced(x):
    if not tf.executing_eagerly():
        os.abort()
    return x


state = tf.Variable([1, 2, 3], dtype=tf.int64)


def random_float16(x):
    """The kernel of XLA for these random numbers ends the process."""
    options = {"resource": state.handle, "algorithm": 1, "shape": [3, 4], "dtype": tf.float16}
    return x + tf.cast(tf.raw_ops.StatefulTruncatedNormal(**options), tf.float32)


def another_result_when_traced(x):
    return (x, x + 1.0) if tf.executing_eagerly() else (x,)


class Penalty:
    """A layer of Keras whose gradient is wrong where it is traced; made late, because Keras takes seconds to import."""

    def __new__(cls):
        import keras

        class Doubled(keras.layers.Layer):
            def call(self, x):
                return root(x)

        return Doubled(name="penalty")


def network_with_a_wrong_gradient():
    import keras

    layers = [keras.Input((4,)), keras.layers.Dense(8, name="first"), Penalty(), keras.layers.Dense(1, name="last")]
    model = keras.Sequential(layers, name="network")
    model.compile("adam", "mse")
    return model


def fails(x):
    return x.nothing


def network():
    import keras

    inner = keras.Sequential([keras.layers.Dense(8, activation="tanh", name="first")], name="inner")
    model = keras.Sequential([keras.Input((4,)), inner, keras.layers.Dense(1, name="last")], name="network")
    model.compile("adam", "mse")
    return model


class Root(tf.Module):
    """A layer of its own whose gradient is doubled where it is traced."""

    @tf.custom_gradient
    def __call__(self, x):
        traced = not tf.executing_eagerly()

        def gradient(g):
            return g * (2.0 if traced else 1.0)

        return tf.identity(x), gradient


root = Root()


def doubled_gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.square(root(tf.sin(x))))
    return tape.gradient(y, x)


class Saved(tf.Module):
    """A module with a weight, for a SavedModel; XLA rewrites the logarithm of its exponential."""

    def __init__(self):
        super().__init__()
        self.weight = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, "x")])
    def __call__(self, x):
        return {"y": tf.math.log(tf.exp(x * self.weight)) + 1.0}


def saved_model():
    folder = tempfile.mkdtemp()
    module = Saved()
    tf.saved_model.save(module, folder, signatures={"serving_default": module.__call__})
    return folder
