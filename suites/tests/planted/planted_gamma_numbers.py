"""Gamma numbers whose gradient by the shape of the distribution is one twentieth too large."""

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.random_numbers.moments import gamma_means


def _steep(tf, raw, dtype, shape, alpha):
    numbers = raw(shape=shape, seed=tf.constant([3, 5]), alpha=alpha)
    return 1.05 * numbers - 0.05 * tf.stop_gradient(numbers)


SPECS = op("steep", "StatelessRandomGammaV2", gamma_means(_steep))[:1]
