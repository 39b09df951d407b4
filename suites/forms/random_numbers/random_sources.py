"""Random sources: where the random bits of an op come from: a key, a seed, or the state of a generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.forms.state.variables import Variables
from tf_opdiff.suites.reference.random_numbers.random_bits import Philox, ThreeFry, mixed

PHILOX, THREEFRY, AUTO, UNKNOWN = 1, 2, 3, 7


def _bits(draw: Draw, *shape: int) -> np.ndarray:
    return np.asarray(draw.bits(*shape), np.uint64)


@dataclass(frozen=True, kw_only=True)
class Source:
    """The origin of the random bits of an op.

    Attributes:
      draws: name → draw(draw) → the inputs that follow the shape; each has the shapes of the first.
      stream: stream(algorithm, *inputs) → the stream of bits.
      call: call(tf, raw op, algorithm, state, shape, *inputs, **attributes) → the numbers.
      variables: the variable that the op changes, if it is the state of a generator.
      refused: name → such inputs of a wrong shape.
      refused_by_kernel: name → inputs of a wrong shape that shape inference accepts.
      algorithms: whether an input names the algorithm.
      not_in_xla: the names of draws whose numbers XLA gets wrong, or that it refuses.
      of_xla: of_xla(*inputs) → the inputs that give the bits of XLA, which takes others because of a known failure.
    """

    draws: Mapping[str, Callable[[Draw], tuple[np.ndarray, ...]]]
    stream: Callable[..., Philox | ThreeFry]
    call: Callable[..., Any]
    variables: Variables | None = None
    refused: Mapping[str, Callable[[Draw], tuple[np.ndarray, ...]]]
    refused_by_kernel: Mapping[str, Callable[[Draw], tuple[np.ndarray, ...]]] = field(default_factory=dict)
    algorithms: bool = True
    not_in_xla: tuple[str, ...] = ()
    of_xla: Callable[..., tuple[np.ndarray, ...]] = lambda *inputs: inputs


def _of_key(algorithm: int, key: np.ndarray, counter: np.ndarray) -> Philox | ThreeFry:
    return ThreeFry(key, counter[:1]) if algorithm == THREEFRY else Philox(key, counter)


def _counted(block: int, draw: Draw) -> tuple[np.ndarray, ...]:
    return np.zeros(1, np.uint64), np.array([block, 0], np.uint64)


#: Blocks of Philox with the key 0 that have a float32 without digits, whose logarithm is infinite: of the lower bits of
#: a word, as TensorFlow's kernels take them, and of the upper ones, as XLA does.
_ZERO_DIGITS = {"zero_digits": 3574739, "zero_digits_of_xla": 10639176}
_LAST = np.uint64(2**64 - 1)
#: A key and a counter.
KEYED = Source(
    draws={
        "": lambda draw: (_bits(draw, 1), _bits(draw, 2)),
        "carry": lambda draw: (_bits(draw, 1), np.array([_LAST - np.uint64(3), 5], np.uint64)),
        "last_counter": lambda draw: (_bits(draw, 1), np.array([_LAST, _LAST])),
        "zero": lambda draw: (np.zeros(1, np.uint64), np.zeros(2, np.uint64)),
        **{label: partial(_counted, block) for label, block in _ZERO_DIGITS.items()},
    },
    stream=_of_key,
    call=lambda tf, raw, algorithm, state, shape, key, counter, **more: raw(
        shape=shape, key=key, counter=counter, alg=tf.constant(algorithm, "int32"), **more
    ),
    refused={
        "two_keys": lambda draw: (_bits(draw, 2), _bits(draw, 2)),
        "scalar_key": lambda draw: (_bits(draw), _bits(draw, 2)),
        "counter_matrix": lambda draw: (_bits(draw, 1), _bits(draw, 1, 2)),
    },
    refused_by_kernel={"short_counter": lambda draw: (_bits(draw, 1), _bits(draw, 1))},
)
#: A seed of two integers. XLA takes int32 only.
SEEDED = Source(
    draws={
        "": lambda draw: (draw.integers(2, low=0, high=2**31).astype(np.int32),),
        "zero": lambda draw: (np.zeros(2, np.int32),),
        "negative": lambda draw: (np.array([-1, 2**31 - 1], np.int32),),
    },
    stream=lambda algorithm, seed: Philox(*mixed(seed)),
    of_xla=lambda seed: (seed.astype(np.int64) & (2**32 - 1),),  # negative numbers lose their sign
    call=lambda tf, raw, algorithm, state, shape, seed, **more: raw(shape=shape, seed=seed, **more),
    refused={
        "short": lambda draw: (np.zeros(1, np.int32),),
        "long": lambda draw: (np.zeros(3, np.int32),),
        "scalar": lambda draw: (np.zeros((), np.int32),),
        "matrix": lambda draw: (np.zeros((1, 2), np.int32),),
    },
    algorithms=False,
    not_in_xla=("negative",),
)
#: The state of a generator, a variable: a counter of two numbers, and a key.
STATEFUL = Source(
    draws={
        "": lambda draw: (_bits(draw, 3).view(np.int64),),
        "carry": lambda draw: (np.array([-3, 5, 9], np.int64),),
        "long_state": lambda draw: (_bits(draw, 5).view(np.int64),),
    },
    stream=lambda algorithm, start: _of_key(algorithm, start[2:3].view(np.uint64), start[:2].view(np.uint64)),
    call=lambda tf, raw, algorithm, state, shape, start, **more: raw(
        resource=state["v"].handle, algorithm=tf.constant(algorithm, "int64"), shape=shape, **more
    ),
    not_in_xla=("long_state",),
    variables=Variables(resource=True, first=lambda shape, start, *limits: {"v": start}),
    refused={},
    refused_by_kernel={
        "short_state": lambda draw: (np.zeros(2, np.int64),),
        "state_matrix": lambda draw: (np.zeros((1, 3), np.int64),),
    },
)
