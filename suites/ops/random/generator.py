"""Keys and counters: what random ops make of a seed, and how the counter of a generator moves."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.errors import IN_KERNEL, UNSUPPORTED, WHEN_BUILT, unpromised_in
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, together
from tf_opdiff.suites.forms.random_numbers.random_sources import PHILOX, SEEDED, THREEFRY, UNKNOWN
from tf_opdiff.suites.forms.state.variables import RESOURCE, final, read_after
from tf_opdiff.suites.reference.random_numbers.philox import SET_ASIDE
from tf_opdiff.suites.reference.random_numbers.random import skipped
from tf_opdiff.suites.reference.random_numbers.random_bits import mixed

_SEEDS = {
    "int32": lambda draw, dtype: SEEDED.draws[""](draw),
    "zero": lambda draw, dtype: (np.zeros(2, np.int32),),
    "negative": lambda draw, dtype: (np.array([-1, -(2**31)], np.int32),),
    "int64": lambda draw, dtype: (np.array([7, 2**31 - 1], np.int64),),
    "int64_wide": lambda draw, dtype: (np.array([2**40 + 7, -5], np.int64),),
}
_WRONG_SEEDS = {name: lambda draw, dtype, of=of: of(draw) for name, of in SEEDED.refused.items()}
_STATES = {
    "plain": lambda draw, dtype: (np.array([3, 1, 9], np.int64), np.array(5)),
    "carry": lambda draw, dtype: (np.array([-3, 1, 9], np.int64), np.array(5)),
    "last": lambda draw, dtype: (np.array([-1, -1, 9], np.int64), np.array(2**40)),
    "none": lambda draw, dtype: (np.array([3, 1, 9], np.int64), np.array(0)),
}
_OF_DEVICES = "nothing documents which devices have the algorithm ThreeFry"
_LONG = {"long_state": lambda draw, dtype: (np.arange(4096, dtype=np.int64), np.array(1))}
_SHORT = {"short_state": lambda draw, dtype: (np.array([3, 1], np.int64), np.array(5))}


def _skipping(call, algorithm):
    """A program that moves the counter of a generator; call(tf, handle, algorithm, delta)."""

    def program(tf, state, start, delta):
        answer = call(tf, state["v"].handle, algorithm, delta)
        return answer if isinstance(answer, tf.Tensor) else read_after(tf, answer, state["v"])[0]

    return program


def _skips(call):
    """A part: an op that moves the counter of a generator, with several states and algorithms."""
    plain = {"plain": _STATES["plain"]}
    philox, threefry, unknown = (_skipping(call, algorithm) for algorithm in (PHILOX, THREEFRY, UNKNOWN))
    return together(
        part(program=philox, recipes=_STATES),
        part("-long-state", program=philox, recipes=_LONG),
        part("-short-state", program=philox, recipes=_SHORT, **IN_KERNEL),
        part("-threefry", program=threefry, recipes=plain, **UNSUPPORTED, **unpromised_in("xla", _OF_DEVICES)),
        part("-unknown-algorithm", program=unknown, recipes=plain, **IN_KERNEL),
    )


def _read_and_skip(tf, v, alg, delta):
    return tf.raw_ops.RngReadAndSkip(resource=v, alg=tf.constant(alg, "int32"), delta=tf.cast(delta, "uint64"))


def _skip(tf, v, alg, delta):
    return tf.raw_ops.RngSkip(resource=v, algorithm=tf.constant(alg, "int64"), delta=delta)


def _moved(start, delta):
    return skipped(start, SET_ASIDE * int(delta))


def _unsigned(seed):
    """The seed that XLA takes: negative numbers lose their sign."""
    return seed.astype(np.int64) & (2**32 - 1)


def _mixed(seed):
    return *mixed(seed), np.int32(PHILOX)


_STATE: dict[str, Any] = {"variables": RESOURCE, "dtypes": ("int64",)}
_OF_SEED: dict[str, Any] = {"dtypes": ("uint64",), "recipes": _SEEDS, "constant": ("output[2]",)}
_REFUSED = part("-refused", recipes=_WRONG_SEEDS, **{"constant": (), "mistaken": {}, **WHEN_BUILT})

SPECS = (
    *op(
        "rng-read-and-skip",
        "RngReadAndSkip",
        _skips(_read_and_skip),
        reference=lambda start, delta: (start[:3], {"v": _moved(start, delta)}),
        **_STATE,
    ),
    *op("rng-skip", "RngSkip", _skips(_skip), reference=final(_moved), **_STATE),
    *op(
        "stateless-random-get-alg",
        "StatelessRandomGetAlg",
        program=lambda tf, x: x + tf.raw_ops.StatelessRandomGetAlg(),
        reference=lambda x: x + np.int32(PHILOX),
        recipes={"zero": lambda draw, d: (np.array(0, np.int32),), "one": lambda draw, d: (np.array(1, np.int32),)},
        dtypes=("int32",),
    ),
    *op(
        "stateless-random-get-key-counter",
        "StatelessRandomGetKeyCounter",
        _REFUSED,
        program=lambda tf, seed: tuple(tf.raw_ops.StatelessRandomGetKeyCounter(seed=seed)),
        reference=mixed,
        mistaken={"output": lambda seed: mixed(_unsigned(seed))},
        **_OF_SEED,
    ),
    *op(
        "stateless-random-get-key-counter-alg",
        "StatelessRandomGetKeyCounterAlg",
        _REFUSED,
        program=lambda tf, seed: tuple(tf.raw_ops.StatelessRandomGetKeyCounterAlg(seed=seed)),
        reference=_mixed,
        mistaken={"output": lambda seed: _mixed(_unsigned(seed))},
        **_OF_SEED,
    ),
)
