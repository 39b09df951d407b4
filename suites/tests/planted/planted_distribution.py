"""A planted fault: the distribution function of numbers is that of numbers one tenth larger."""

import numpy as np
from scipy import stats

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.random_numbers.distribution import COUNT, distribution


def _uniform(name, law):
    part = distribution(
        lambda tf, raw, dtype, shape, seed: raw(shape=shape, seed=seed),
        parameters=lambda dtype: (np.array([COUNT, 1], np.int32), np.array([3, 5], np.int32)),
        points=lambda shape, seed: law.ppf(np.arange(1, 16)[:, None] / 16),
        cumulative=lambda x, shape, seed: law.cdf(x),
    )
    return op(name, "StatelessRandomUniform", part, dtypes=tiered(("float32",)))


SPECS = (*_uniform("right", stats.uniform()), *_uniform("off", stats.uniform(scale=1.1)))
