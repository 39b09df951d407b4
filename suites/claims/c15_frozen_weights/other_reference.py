"""RMSProp, Adagrad and Ftrl on masked weights in NumPy, and Adam as the answer calls it."""

import numpy as np

from tf_opdiff.suites.claims.c15_frozen_weights.reference import _followed, _masked_gradient

RATE, DECAY, EPSILON, ACCUMULATED = 0.125, 0.75, 2**-10, 0.125


def _rmsprop(start):
    def step(w, slots, gradient):
        squares = slots + (np.square(gradient) - slots) * (1 - DECAY)
        return w - RATE * gradient / np.sqrt(squares + EPSILON), squares

    return step, lambda w: np.zeros_like(w) + start


def _adagrad_step(w, slots, gradient):
    squares = slots + np.square(gradient)
    return w - RATE * gradient / np.sqrt(squares), squares


def _ftrl_step(w, slots, gradient):
    """H. McMahan et al., Ad Click Prediction, algorithm 1, with neither of its penalties."""
    squares, linear = slots
    after = squares + np.square(gradient)
    linear = linear + gradient - (np.sqrt(after) - np.sqrt(squares)) / RATE * w
    return -linear * RATE / np.sqrt(after), (after, linear)


def _trained(step, start):
    """Weights after each step, and which of them it moved."""

    def reference(weights, masks, x, y):
        w, slots, states = weights, start(weights), []
        for mask in masks:
            w, slots = step(w, slots, _masked_gradient(w, mask, x, y))
            states.append(w)
        return _followed(states, weights)

    return reference


#: Keras starts the mean of squares at 0, version 1 at 1.
rmsprop, rmsprop_in_session = (_trained(*_rmsprop(start)) for start in (0, 1))
adagrad = _trained(_adagrad_step, lambda w: np.zeros_like(w) + ACCUMULATED)
ftrl = _trained(_ftrl_step, lambda w: (np.zeros_like(w) + ACCUMULATED, np.zeros_like(w)))

#: The mask of each step of the answer: a few steps with the one, a few with the other.
MASKS = np.array([[0, 1, 1, 0]] * 3 + [[1, 0, 0, 1]] * 3)
#: The numbers of `AdamOptimizer(1e-5)` as float32 has them.
ADAM_RATE, BETA_1, BETA_2, ADAM_EPSILON = (float(np.float32(x)) for x in (1e-5, 0.9, 0.999, 1e-8))


def literal(target):
    """Weights that start as zeros, after each step of AdamOptimizer(1e-5), and which of them it moved."""
    w = m = v = start = np.zeros_like(target)
    one, states = start + 1, []
    for count, mask in enumerate(MASKS, 1):
        gradient = mask * 2 * (w - target)
        m = m + (gradient - m) * (1 - BETA_1)
        v = v + (np.square(gradient) - v) * (1 - BETA_2)
        rate = ADAM_RATE * np.sqrt(one - np.power(one * BETA_2, count)) / (one - np.power(one * BETA_1, count))
        w = w - rate * m / (np.sqrt(v) + ADAM_EPSILON)
        states.append(w)
    return _followed(states, start)


def literal_moving(target):
    """The prediction that a step moves just the weights that had a gradient in this step or before."""
    return literal(target)[0], np.cumsum(MASKS, axis=0) > 0
