"""Faults of ops on images, of normalisations and of suppression."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.faults.arithmetic import wide
from bench.planter import Fault
from tf_opdiff.suites.reference.images.resize import Bilinear, places
from tf_opdiff.suites.reference.images.suppression import overlap

_BATCH = 64


def _normalized(x: np.ndarray, data_format: str) -> tuple[np.ndarray, tuple[int, ...]]:
    """A tensor with its channels last, and its other axes."""
    last = wide(np.moveaxis(x, 1, -1) if data_format[1] == "C" else x)
    return last, tuple(range(last.ndim - 1))


def _outside_of_root(x: Any, scale: Any, offset: Any, mean: Any, variance: Any, **attrs: Any) -> Any:
    last, axes = _normalized(x, attrs["data_format"])
    if attrs["is_training"]:
        mean, variance = last.mean(axes), last.var(axes)
    y = (last - mean) / (np.sqrt(variance) + attrs["epsilon"]) * scale + offset
    return (np.moveaxis(y, -1, 1) if attrs["data_format"][1] == "C" else y, *[None] * 5)


def _running(variance: Any, old: Any, attrs: Any) -> Any:
    """The results of the op; only the running variance is known."""
    share = attrs.get("exponential_avg_factor", 1.0)
    return (None, None, (1 - share) * wide(old) + share * variance if share != 1 else variance, *[None] * 3)


def _biased(x: Any, variance: Any, **attrs: Any) -> Any:
    if not attrs["is_training"] or attrs["data_format"][1] != "C":
        return None
    last, axes = _normalized(x, attrs["data_format"])
    return _running(last.var(axes), variance, attrs)


def _nan_of_one(x: Any, variance: Any, **attrs: Any) -> Any:
    last, axes = _normalized(x, attrs["data_format"])
    if not attrs["is_training"] or last.size != last.shape[-1]:
        return None
    return _running(last.var(axes) * np.nan, variance, attrs)


def _not_centred(images: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> Any:
    return Bilinear(size=tuple(size), align_corners=align_corners).f(wide(images))


def _times_zero(images: Any, size: Any, **centers: Any) -> Any:
    """A mean of two neighbours along each axis, whose weights may be 0."""
    x = wide(images)
    for axis, count in ((1, int(size[0])), (2, int(size[1]))):
        last = x.shape[axis] - 1
        at = [float(place) for place in places(last + 1, count, **centers)]
        low = np.clip(np.floor(at), 0, last).astype(int)
        high = np.clip(np.floor(at) + 1, 0, last).astype(int)
        share = np.reshape(np.array(at) - np.floor(at), (-1, *(1,) * (3 - axis)))
        x = np.take(x, low, axis) * (1 - share) + np.take(x, high, axis) * share
    return x


def _suppressed(boxes: Any, scores: Any, most: Any, limit: Any, least: Any, *, equal: bool, first: Any = None) -> Any:
    """The chosen boxes; of chosen ones, the first `first` suppress others."""
    order = np.argsort(-wide(scores), kind="stable")
    order = order[wide(scores)[order] > float(least)]
    chosen: list[int] = []
    for rank, i in enumerate(order):
        shares = [overlap(wide(boxes[i]), wide(boxes[j])) for j in chosen]
        out = any(share >= limit if equal else share > limit for share in shares)
        if len(chosen) < int(most) and not (out and (first is None or rank < first)):
            chosen.append(int(i))
    return np.array(chosen, "int32")


def _at_the_threshold(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any) -> Any:
    return _suppressed(boxes, scores, max_output_size, float(iou_threshold), score_threshold, equal=True)


def _first_64(boxes: Any, scores: Any, max_output_size: Any, iou_threshold: Any, score_threshold: Any) -> Any:
    limit = float(iou_threshold)
    return _suppressed(boxes, scores, max_output_size, limit, score_threshold, equal=False, first=_BATCH)


IMAGES = (
    Fault("FusedBatchNormV3", "epsilon outside of the root", "a library with another formula", _outside_of_root),
    Fault(
        "FusedBatchNormV3",
        "NCHW: the running variance is biased",
        "a path of its own for channels that are first, without Bessel's correction",
        _biased,
    ),
    Fault(
        "FusedBatchNormV3",
        "one element per channel in training: NaN variance",
        "a kernel that divides by n - 1",
        _nan_of_one,
    ),
    Fault("ResizeBilinear", "half_pixel_centers is ignored", "a GPU kernel of an older version", _not_centred),
    Fault(
        "ResizeBilinear",
        "infinity next to a weight of 0 gives NaN",
        "a kernel that always multiplies four pixels",
        _times_zero,
    ),
    Fault("NonMaxSuppressionV3", "≥ for >", "a kernel with the other comparison", _at_the_threshold),
    Fault(
        "NonMaxSuppressionV3",
        "boxes beyond the first 64 are not suppressed",
        "a kernel with a bit mask of one word of 64 bits for each box",
        _first_64,
    ),
)
