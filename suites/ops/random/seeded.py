"""Random ops whose seeds are attributes: a kernel draws on, from one run to the next.

A new session has new kernels, whose first numbers are tested bit for bit. In other modes the kernels outlive a program,
so that the distribution of their numbers is tested.
"""

import numpy as np
import scipy  # loads scipy.stats, a third of a second, on first use

from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.distribution import COUNT, distribution
from tf_opdiff.suites.forms.random_kinds import INTEGERS_IN_RANGE, NORMAL, TRUNCATED_NORMAL, UNIFORM
from tf_opdiff.suites.reference.random_bits import Philox

_SEED, _SEED2 = 2**40 + 3, 5
_FLOATS = ("float32", "bfloat16", "float16", "float64")
_SIZES = {"odd": (67,), "empty": (0, 3), "one": (1,), "planes": (3, 6, 5), "batch_of_one": (1, 7)}


def _in_session(name, raw, kind, dtypes, limits=()):
    """The specs of the first numbers of a session."""
    stream = Philox(np.array([_SEED], np.uint64), np.array([0, _SEED2], np.uint64))
    for dtype in dtypes:
        more = dict(zip(("minval", "maxval"), limits, strict=True)) if limits else {"dtype": dtype}

        def program(tf, session, shape, dtype=dtype, more=more):
            with session() as s:
                ends = {end: tf.constant(n, dtype) for end, n in more.items() if end != "dtype"}
                sizes = tf.compat.v1.placeholder("int32", shape.shape)
                drawn = getattr(tf.raw_ops, raw)(shape=sizes, seed=_SEED, seed2=_SEED2, **more | ends)
                return s.run(drawn, {sizes: shape})

        yield Spec(
            name=f"{name}-session" if dtype == dtypes[0] else f"{name}-session-{dtype}",
            ops=raw,
            program=program,
            reference=lambda shape, dtype=dtype: kind.numbers(stream, tuple(map(int, shape)), dtype, *limits),
            recipes={label: lambda draw, _, n=n: (np.array(n, np.int32),) for label, n in _SIZES.items()},
            dtypes=(dtype,),
            ulp={"output": kind.ulp},
            modes=("graph",),
            sessions=True,
            tier="default" if dtype == dtypes[0] else "full",
        )


def _law_of(name, raw, law, dtypes, limits=()):
    """The specs of the distribution of one column."""

    def call(tf, op, dtype, shape):
        more = dict(zip(("minval", "maxval"), (tf.constant(n, dtype) for n in limits), strict=False))
        return op(shape=shape, seed=_SEED, seed2=_SEED2, **(more or {"dtype": dtype}))

    return distribution(
        name,
        dtypes,
        raw=raw,
        call=call,
        parameters=lambda dtype: (np.array([COUNT, 1], np.int32),),
        points=lambda shape: law().ppf(np.arange(1, 16)[:, None] / 16),
        cumulative=lambda x, shape: law().cdf(x),
        refused={
            "negative": lambda dtype: (np.array([-1, 2], np.int32),),
            "too_many": lambda dtype: (np.array([2**31 - 1] * 3, np.int32),),
        },
    )


def _whole_numbers():
    return scipy.stats.randint(-7, 26)


SPECS = (
    *_law_of("random-standard-normal", "RandomStandardNormal", lambda: scipy.stats.norm(), _FLOATS),
    *_in_session("random-standard-normal", "RandomStandardNormal", NORMAL, _FLOATS),
    *_law_of("random-uniform", "RandomUniform", lambda: scipy.stats.uniform(), _FLOATS),
    *_in_session("random-uniform", "RandomUniform", UNIFORM, _FLOATS),
    *_law_of("random-uniform-int", "RandomUniformInt", _whole_numbers, ("int32", "int64"), (-7, 26)),
    *_in_session("random-uniform-int", "RandomUniformInt", INTEGERS_IN_RANGE, ("int32", "int64"), (-7, 26)),
    *_law_of("truncated-normal", "TruncatedNormal", lambda: scipy.stats.truncnorm(-2, 2), _FLOATS),
    *_in_session("truncated-normal", "TruncatedNormal", TRUNCATED_NORMAL, _FLOATS),
)
