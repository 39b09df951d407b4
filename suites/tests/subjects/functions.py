"""Functions with the same values by other ops: nothing but the graph shows that an op is gone."""

from types import SimpleNamespace


def same(**functions):
    """A way that puts functions `f(tf, *inputs)` in the place of others; their paths have `__` for a dot."""

    def way(tf):
        def bound(function):
            return lambda *args, **kwargs: function(tf, *args, **kwargs)

        return {name.replace("__", "."): bound(function) for name, function in functions.items()}

    return way


def less(tf, x, y):
    return tf.greater(y, x)


def square(tf, x):
    return x * x


def multiply(tf, x, y):
    return x * y


def multiply_by_constant(tf, x, y):
    """A product whose second factor has no gradient."""
    return x * tf.stop_gradient(y)


def identity(tf, x, name=None):
    return x


def identity_without_name(tf, x, name=None):
    return tf.identity(x)


def negative_without_name(tf, x, name=None):
    return tf.negative(x)


def floor(tf, x):
    return -tf.math.ceil(-x)


def ceil(tf, x):
    return -tf.floor(-x)


def cast(tf, x, dtype):
    """The whole part of a number; what is whole already stays."""
    return tf.sign(x) * tf.floor(tf.abs(x)) + tf.zeros_like(x)


def sigmoid(tf, x):
    return 1 / (1 + tf.exp(-x))


def erf(tf, x):
    return 1 - tf.math.erfc(x)


def clip(tf, x, low, high):
    return tf.where(x < low, tf.fill(tf.shape(x), tf.cast(low, x.dtype)), tf.where(x > high, high + 0 * x, x))


def gather(tf, params, indices):
    return tf.linalg.matvec(tf.one_hot(indices, tf.size(params), dtype=params.dtype), params)


def gather_rows(tf, params, indices):
    return tf.one_hot(indices, params.shape[0], dtype=params.dtype) @ params


def reduce_prod(tf, x, axis=None):
    if axis is None:
        x, axis = tf.reshape(x, [-1]), 0
    result = 1
    for part in tf.unstack(x, axis=axis):
        result = result * part
    return result


def stack(tf, values):
    return tf.concat([value[tf.newaxis] for value in values], 0)


def select(tf, c, x, y):
    return tf.raw_ops.Select(condition=c, x=x, y=y)


def select_v2(tf, c, x, y):
    return tf.where(c, x, y)


def both_branches(tf, p, yes, no):
    return tf.where(p, yes(), no())


def constant_drawn(tf, value, dtype):
    return tf.random.stateless_uniform([], seed=[7, 11], dtype=dtype)


def fused_by_hand(tf, x, scale, offset, mean, variance, epsilon, exponential_avg_factor):
    """fused_batch_norm in training, by other ops."""
    now, spread = tf.nn.moments(x, [0, 1, 2])
    count = tf.cast(tf.size(x) / x.shape[-1], x.dtype)
    y = tf.nn.batch_normalization(x, now, spread, offset, scale, epsilon)
    spread = spread * count / (count - 1)
    return y, mean - (mean - now) * exponential_avg_factor, variance - (variance - spread) * exponential_avg_factor


def flip(tf, images, seed):
    """Flips by the numbers that random_flip_left_right draws."""
    if len(images.shape) == 3:
        return tf.where(tf.random.uniform([], seed=seed) < 0.5, tf.reverse(images, [1]), images)
    flips = tf.round(tf.random.uniform([images.shape[0]], seed=seed))
    return tf.where(tf.reshape(flips, [-1, 1, 1, 1]) > 0, tf.reverse(images, [2]), images)


def drawn_by_hand(tf, shape, seed=None, dtype=None):
    return tf.zeros(shape, dtype or tf.float32)


def in_keras(tf):
    """The functions of `keras.ops`, and a dense layer, by ops of TensorFlow."""

    def conv(images, kernel, padding, dilation_rate):
        return tf.nn.conv2d(images, kernel, 1, padding.upper(), dilations=dilation_rate)

    class Dense:
        def __init__(self, units, use_bias):
            self.build = lambda shape: None

        def set_weights(self, weights):
            (self.kernel,) = weights

        def __call__(self, x):
            return tf.matmul(x, self.kernel)

    return {
        "keras.layers.Dense": Dense,
        "keras.ops.sqrt": tf.sqrt,
        "keras.ops.matmul": tf.matmul,
        "keras.ops.conv": conv,
        "keras.ops.sum": tf.reduce_sum,
        "keras.ops.moments": tf.nn.moments,
        "keras.ops.var": tf.math.reduce_variance,
    }


def called_layer(tf):
    """A layer that calls a function, and is no Lambda."""

    def layer(function, dtype):
        class Called(tf.keras.layers.Layer):
            def call(self, x):
                return function(x)

        return Called(dtype=dtype)

    return {"keras.layers.Lambda": layer}


def switch_by_where(tf):
    """Switch hands its data to both sides, and Merge selects."""
    predicates = []

    def switch(data, pred):
        predicates.append(pred)
        return data, data

    def merge(inputs):
        return SimpleNamespace(output=tf.where(predicates[-1], inputs[1], inputs[0]))

    return {"raw_ops.Switch": switch, "raw_ops.Merge": merge}


def control_flow_v2(tf):
    return {"compat.v1.disable_control_flow_v2": lambda: None}
