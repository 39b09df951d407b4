"""Optimisers in NumPy, each as TensorFlow's kernels and Keras compute it.

Their rates and decays are sums of few powers of two: the optimisers keep some in float32 whatever the weights are in.
"""

import numpy as np

RATE, BETA_1, BETA_2, EPSILON, MOMENTUM = 0.125, 0.75, 0.875, 2**-10, 0.75


def sgd(weights, gradient, rate=RATE):
    """A step of gradient descent."""
    return weights - rate * gradient


def momentum(weights, accumulated, gradient):
    """A step of gradient descent with momentum: new weights, new accumulated gradients."""
    accumulated = MOMENTUM * accumulated + gradient
    return weights - RATE * accumulated, accumulated


def adam(weights, m, v, gradient, count):
    """A step of Adam: new weights, m and v. `count` is 1 in the first step.

    D. Kingma, J. Ba, Adam: A Method for Stochastic Optimization, end of section 2; epsilon is their epsilon hat.
    """
    m = m + (gradient - m) * (1 - BETA_1)
    v = v + (np.square(gradient) - v) * (1 - BETA_2)
    rate = adam_rate(weights, count)
    return weights - rate * m / (np.sqrt(v) + EPSILON), m, v


def adam_rate(weights, count):
    """The learning rate of a step, which corrects the bias of m and v; it rounds as the weights do."""
    one = np.zeros_like(weights) + 1
    return RATE * np.sqrt(one - np.power(one * BETA_2, count)) / (one - np.power(one * BETA_1, count))
