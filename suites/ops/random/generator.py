"""Keys and counters: what random ops make of a seed, and how the counter of a generator moves."""

import numpy as np

from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.random_sources import PHILOX, SEEDED, THREEFRY, UNKNOWN
from tf_opdiff.suites.reference.philox import SET_ASIDE
from tf_opdiff.suites.reference.random import skipped
from tf_opdiff.suites.reference.random_bits import mixed

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
_LONG = {"long_state": lambda draw, dtype: (np.arange(4096, dtype=np.int64), np.array(1))}
_SHORT = {"short_state": lambda draw, dtype: (np.array([3, 1], np.int64), np.array(5))}


def _key_counter(name, raw, reference):
    """The specs of an op that makes a key and a counter of a seed."""
    main = Spec(
        name=name,
        ops=raw,
        program=lambda tf, seed: tuple(getattr(tf.raw_ops, raw)(seed=seed)),
        reference=reference,
        mistaken={"output": lambda seed: reference(seed.astype(np.int64) & (2**32 - 1))},  # under XLA
        recipes=_SEEDS,
        dtypes=("uint64",),
        constant=("output[2]",),
    )
    yield main
    yield Spec(
        name=f"{name}-refused",
        ops=raw,
        program=main.program,
        reference=raises("ValueError"),
        recipes=_WRONG_SEEDS,
        dtypes=("uint64",),
        contract=REFUSED_BY_KERNEL,
    )


def _skips(name, raw, call, reference):
    """The specs of an op that moves the counter of a generator; call(tf, handle, algorithm, delta)."""

    def program(algorithm):
        def run(tf, state, start, delta):
            answer = call(tf, state["v"].handle, algorithm, delta)
            if isinstance(answer, tf.Tensor):
                return answer
            with tf.control_dependencies([] if answer is None else [answer]):
                return state["v"].read_value()

        return run

    for suffix, algorithm, promise, recipes, modes in (
        ("", PHILOX, reference, _STATES, MODES),
        ("-long-state", PHILOX, reference, _LONG, MODES[:3]),
        ("-short-state", PHILOX, raises("INVALID_ARGUMENT"), _SHORT, MODES),
        ("-threefry", THREEFRY, raises("UNIMPLEMENTED"), {"plain": _STATES["plain"]}, WITHOUT_XLA),
        ("-unknown-algorithm", UNKNOWN, raises("INVALID_ARGUMENT"), {"plain": _STATES["plain"]}, MODES),
    ):
        yield Spec(
            name=f"{name}{suffix}",
            ops=raw,
            program=program(algorithm),
            reference=promise,
            recipes=recipes,
            state=lambda tf, start, delta: {"v": tf.Variable(start)},
            dtypes=("int64",),
            modes=modes,
        )


def _moved(start, delta):
    return skipped(start, SET_ASIDE * int(delta))


SPECS = (
    *_skips(
        "rng-read-and-skip",
        "RngReadAndSkip",
        lambda tf, v, alg, delta: tf.raw_ops.RngReadAndSkip(
            resource=v, alg=tf.constant(alg, "int32"), delta=tf.cast(delta, "uint64")
        ),
        lambda start, delta: (start[:3], {"v": _moved(start, delta)}),
    ),
    *_skips(
        "rng-skip",
        "RngSkip",
        lambda tf, v, alg, delta: tf.raw_ops.RngSkip(resource=v, algorithm=tf.constant(alg, "int64"), delta=delta),
        lambda start, delta: (_moved(start, delta), {"v": _moved(start, delta)}),
    ),
    Spec(
        name="stateless-random-get-alg",
        ops="StatelessRandomGetAlg",
        program=lambda tf, x: x + tf.raw_ops.StatelessRandomGetAlg(),
        reference=lambda x: x + np.int32(PHILOX),
        recipes={
            "zero": lambda draw, dtype: (np.array(0, np.int32),),
            "one": lambda draw, dtype: (np.array(1, np.int32),),
        },
        dtypes=("int32",),
    ),
    *_key_counter("stateless-random-get-key-counter", "StatelessRandomGetKeyCounter", mixed),
    *_key_counter(
        "stateless-random-get-key-counter-alg",
        "StatelessRandomGetKeyCounterAlg",
        lambda seed: (*mixed(seed), np.int32(PHILOX)),
    ),
)
