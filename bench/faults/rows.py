"""Faults of ops on rows: softmax, segments, and values without repetitions."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.faults.arithmetic import wide
from bench.planter import Fault

_BLOCK = 1024


def _not_subtracted(logits: Any) -> Any:
    e = np.exp(logits)
    return wide(e) / wide(e.sum(-1, keepdims=True, dtype=e.dtype))


def _first_1024(logits: Any) -> Any:
    x = wide(logits)
    e = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    return e / e[..., :_BLOCK].sum(-1, keepdims=True)


def _without_nan(data: Any, segment_ids: Any) -> Any:
    if not segment_ids.size:
        return None
    out = np.zeros((int(segment_ids[-1]) + 1, *data.shape[1:]))
    for k in np.unique(segment_ids):
        out[k] = np.fmax.reduce(wide(data[segment_ids == k]), axis=0)
    return out


def _by_bits(x: Any) -> Any:
    if x.dtype.kind not in "fV":
        return None
    keys: dict[bytes, int] = {}
    places = [keys.setdefault(one.tobytes(), len(keys)) for one in x]
    values = [np.frombuffer(key, x.dtype)[0] for key in keys]
    counts = np.bincount(places, minlength=len(keys)) if places else np.zeros(0)
    return np.array(values, x.dtype), np.array(places, "int32"), counts.astype("int32")


ROWS = (
    Fault("Softmax", "the maximum is not subtracted", "a fused kernel of an attention", _not_subtracted),
    Fault("Softmax", "the sum leaves out what is beyond 1,024", "a kernel with one block for each row", _first_1024),
    Fault("SegmentMax", "NaN of a row is lost", "a kernel with fmax, or an atomic maximum of bits", _without_nan),
    Fault("UniqueWithCounts", "+0 and -0 are two values", "a hash table of bits, or a radix sort", _by_bits),
)
