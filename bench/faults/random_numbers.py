"""Faults of random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.planter import Fault
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.reference.random_numbers.random import normals
from tf_opdiff.suites.reference.random_numbers.random_bits import Philox, pairs

_PERIOD = 4096


def _unguarded(shape: Any, key: Any, counter: Any, alg: Any, dtype: Any) -> Any:
    size, wide = int(np.prod(shape)), np.dtype(dtype) == np.float64
    right = normals(Philox(key, counter), tuple(shape), np.dtype(dtype).name)
    words = Philox(key, counter).words(np.arange(-(-size // (2 if wide else 4)))).ravel()
    digits = pairs(words) & np.uint64(0xFFFFF_FFFFFFFF) if wide else words & np.uint32(0x7FFFFF)
    zero = np.repeat(digits[::2] == 0, 2)[:size].reshape(shape)
    return np.where(zero, np.copysign(np.inf, right), right) if zero.any() else None


def _repeated(shape: Any, key: Any, counter: Any, alg: Any, dtype: Any) -> Any:
    size = int(np.prod(shape))
    if size <= _PERIOD:
        return None
    first = normals(Philox(key, counter), (_PERIOD,), np.dtype(dtype).name)
    return np.resize(first, size).reshape(shape)


RANDOM_NUMBERS = (
    Fault(
        "StatelessRandomNormalV2",
        "log(0) is not guarded",
        "a plain Box-Muller transform",
        _unguarded,
        modes=WITHOUT_XLA,
    ),
    Fault(
        "StatelessRandomNormalV2",
        "the stream repeats after 4,096 numbers",
        "a kernel whose blocks of threads all begin with the same counter",
        _repeated,
        modes=WITHOUT_XLA,
    ),
)
