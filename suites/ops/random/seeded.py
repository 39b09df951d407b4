"""Random ops whose seeds are attributes: a kernel draws on, from one run to the next.

A new session has new kernels, whose first numbers are tested bit for bit. In other modes the kernels outlive a program,
so that the distribution of their numbers is tested.
"""

import numpy as np
import scipy  # loads scipy.stats, a third of a second, on first use

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import each_dtype, part
from tf_opdiff.suites.forms.random_numbers.distribution import COUNT, distribution
from tf_opdiff.suites.forms.random_numbers.random_kinds import INTEGERS_IN_RANGE, NORMAL, TRUNCATED_NORMAL, UNIFORM
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.reference.random_numbers.random_bits import Philox

_SEED, _SEED2 = 2**40 + 3, 5
_SIZES = {
    "odd": (67,),
    "empty": (0, 3),
    "one": (1,),
    "planes": (3, 6, 5),
    "batch_of_one": (1, 7),
    "blocks": (2**14 + 1,),
}


def _in_session(kind, limits=()):
    """A part: the first numbers of a session."""
    stream = Philox(np.array([_SEED], np.uint64), np.array([0, _SEED2], np.uint64))

    def specs(op):
        raw = op.raw
        for suffix, dtype, tier in each_dtype(kind.dtypes):
            more = dict(zip(("minval", "maxval"), limits, strict=True)) if limits else {"dtype": dtype}

            def program(tf, session, shape, dtype=dtype, more=more):
                with session() as s:
                    ends = {end: tf.constant(n, dtype) for end, n in more.items() if end != "dtype"}
                    sizes = tf.compat.v1.placeholder("int32", shape.shape)
                    drawn = getattr(tf.raw_ops, raw)(shape=sizes, seed=_SEED, seed2=_SEED2, **more | ends)
                    return s.run(drawn, {sizes: shape})

            yield from part(
                f"-session{suffix}",
                program=program,
                reference=lambda shape, dtype=dtype: kind.numbers(stream, tuple(map(int, shape)), dtype, *limits),
                recipes={label: lambda draw, _, n=n: (np.array(n, np.int32),) for label, n in _SIZES.items()},
                dtypes={dtype: tier},
                ulp={"output": kind.ulp},
                modes=("graph",),
                sessions=True,
            )(op)

    return specs


def _law(law, limits=()):
    """A part: the distribution of one column."""

    def call(tf, op, dtype, shape):
        more = dict(zip(("minval", "maxval"), (tf.constant(n, dtype) for n in limits), strict=False))
        return op(shape=shape, seed=_SEED, seed2=_SEED2, **(more or {"dtype": dtype}))

    return distribution(
        call,
        parameters=lambda dtype: (np.array([COUNT, 1], np.int32),),
        points=lambda shape: law().ppf(np.arange(1, 16)[:, None] / 16),
        cumulative=lambda x, shape: law().cdf(x),
        refused={
            "negative": lambda dtype: (np.array([-1, 2], np.int32),),
            "too_many": lambda dtype: (np.array([2**31 - 1] * 3, np.int32),),
        },
    )


SPECS = (
    *op(
        "random-standard-normal",
        "RandomStandardNormal",
        _law(lambda: scipy.stats.norm()),
        _in_session(NORMAL),
        dtypes=NORMAL.dtypes,
        ordinary=ordinary.RANDOM,
    ),
    *op(
        "random-uniform",
        "RandomUniform",
        _law(lambda: scipy.stats.uniform()),
        _in_session(UNIFORM),
        dtypes=UNIFORM.dtypes,
        ordinary=ordinary.RANDOM,
    ),
    *op(
        "random-uniform-int",
        "RandomUniformInt",
        _law(lambda: scipy.stats.randint(-7, 26), (-7, 26)),
        _in_session(INTEGERS_IN_RANGE, (-7, 26)),
        dtypes=INTEGERS_IN_RANGE.dtypes,
    ),
    *op(
        "truncated-normal",
        "TruncatedNormal",
        _law(lambda: scipy.stats.truncnorm(-2, 2)),
        _in_session(TRUNCATED_NORMAL),
        dtypes=TRUNCATED_NORMAL.dtypes,
        ordinary=ordinary.RANDOM,
    ),
)
