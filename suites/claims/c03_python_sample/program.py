"""A feature map times a Bernoulli sample by py_func, without an override map and with one."""

import numpy as np

from tf_opdiff.suites.reference.registered import registered


def draw_from(p, u):
    return (u < p).astype(p.dtype)


def sample_from(tf, p, u):
    with tf.device("CPU:0"):
        sample = tf.compat.v1.py_func(draw_from, [p, u], p.dtype)
    return tf.ensure_shape(sample, p.shape)


def attend_without_a_map(tf, p, u, features):
    return sample_from(tf, p, u) * features


def grad_to_p(op, grad):
    return grad, None


def attend_by_map(tf, p, u, features):
    registered(tf, "BernoulliGradient", grad_to_p)
    with tf.compat.v1.get_default_graph().gradient_override_map({"PyFunc": "BernoulliGradient"}):
        sample = sample_from(tf, p, u)
    return sample * features


def attend_by_called_map(tf, p, u, features):
    @tf.function(autograph=False)
    def attended(p, u, features):
        return attend_by_map(tf, p, u, features)

    return attended(p, u, features)


# As written: NumPy draws the sample.
def bernoulli(p):
    return np.random.binomial(1, p).astype(p.dtype)


def grad_as_it_is(op, grad):
    return grad


def attend_at_random_by_called_map(tf, p, features):
    registered(tf, "RandomBernoulliGradient", grad_as_it_is)

    @tf.function(autograph=False)
    def attended(p, features):
        gradient_map = {"PyFunc": "RandomBernoulliGradient"}
        with tf.compat.v1.get_default_graph().gradient_override_map(gradient_map), tf.device("CPU:0"):
            sample = tf.compat.v1.py_func(bernoulli, [p], p.dtype)
        return tf.ensure_shape(sample, p.shape) * features

    return attended(p, features)


# The post's gradient function, around the sample alone and around its product with the features.
def features_times_grad(op, grad):
    features = op.inputs[2]
    return features * grad, None, None


def mapped_python(tf, function, *inputs):
    registered(tf, "FeaturesTimesGrad", features_times_grad)
    gradient_map = {"PyFunc": "FeaturesTimesGrad"}
    with tf.compat.v1.get_default_graph().gradient_override_map(gradient_map), tf.device("CPU:0"):
        y = tf.compat.v1.py_func(function, list(inputs), inputs[0].dtype)
    return tf.ensure_shape(y, inputs[0].shape)


def draw_beside(p, u, features):
    return draw_from(p, u)


def attend_by_features_twice(tf, p, u, features):
    @tf.function(autograph=False)
    def attended(p, u, features):
        return mapped_python(tf, draw_beside, p, u, features) * features

    return attended(p, u, features)


def draw_and_multiply(p, u, features):
    return draw_from(p, u) * features


def attend_in_python(tf, p, u, features):
    @tf.function(autograph=False)
    def attended(p, u, features):
        return mapped_python(tf, draw_and_multiply, p, u, features)

    return attended(p, u, features)
