"""Indices of extremes: the smallest index in case of ties, as tf.math.argmax and tf.math.argmin document it."""

import numpy as np

from tf_opdiff.suites.forms.arg_extreme import arg_extreme

SPECS = (
    *arg_extreme("arg-max", "ArgMax", np.argmax),
    *arg_extreme("arg-min", "ArgMin", np.argmin),
)
