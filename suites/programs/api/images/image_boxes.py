"""Functions of `tf.image` that choose boxes, draw them, and look into them."""

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.programs.linear import linear
from tf_opdiff.suites.reference.images import suppression as ref

_MOST, _LIMIT, _LEAST = 4, 0.25, -0.25
#: Boxes in a grid of quarters, and their colours.
_DRAWN, _COLOURS = np.array([[[0, 0, 0.5, 0.5], [0.25, 0.25, 1, 1]]], np.float32), np.array([[1.0], [2.0]], np.float32)


def _boxes(draw, dtype):
    """A recipe: boxes in a small grid, so that every area is exact, and scores that all differ."""
    low = draw.integers(12, 2, low=0, high=9)
    boxes = np.concatenate([low, low + draw.integers(12, 2, low=1, high=7)], 1) / 16
    return boxes.astype(dtype), (np.argsort(draw.bits(12)) / 16 - 0.5).astype(dtype)


def _chosen(boxes, scores):
    return ref.chosen(boxes, scores, _MOST, _LIMIT, _LEAST)


def _with_scores(boxes, scores):
    return _chosen(boxes, scores), scores[_chosen(boxes, scores)].astype(np.float32)


def _by_overlaps(tf, boxes, scores):
    """The choice by the matrix of overlaps, which the program computes."""
    low, high = tf.maximum(boxes[:, None, :2], boxes[:, :2]), tf.minimum(boxes[:, None, 2:], boxes[:, 2:])
    common = tf.reduce_prod(tf.maximum(high - low, 0), -1)
    areas = tf.reduce_prod(boxes[:, 2:] - boxes[:, :2], -1)
    overlaps = common / (areas[:, None] + areas - common)
    return tf.image.non_max_suppression_overlaps(overlaps, scores, _MOST, _LIMIT, _LEAST)


def _combined(boxes, scores):
    """The boxes, scores and classes of the only image and the only class, with zeros behind them, and their number."""
    own = _chosen(boxes, scores)
    rest = _MOST - len(own)
    return (
        np.pad(boxes[own], ((0, rest), (0, 0))).astype(np.float32)[None],
        np.pad(scores[own], (0, rest)).astype(np.float32)[None],
        np.zeros((1, _MOST), np.float32),
        np.array([len(own)], np.int32),
    )


def _painted(x):
    """The images with the borders of the boxes in their colours; a later box covers an earlier one."""
    y = x.copy()
    for box, colour in zip(_DRAWN[0], _COLOURS, strict=True):
        top, left, bottom, right = (box * 4).astype(int)
        y[:, [top, bottom], left : right + 1] = colour
        y[:, top : bottom + 1, [left, right]] = colour
    return y


def _whole(tf, x, sample, **seed):
    """The part of an image in a random box that has to be as large as the image."""
    ranges = {"aspect_ratio_range": (1.0, 1.0), "area_range": (1.0, 1.0), "min_object_covered": 0.1}
    begin, size, boxes = sample([5, 5, 1], tf.constant([[[0.0, 0.0, 1.0, 1.0]]]), **ranges, **seed)
    return tf.slice(x[0], begin, size) * boxes[0, 0, 2]


def _image(draw, dtype):
    return (draw.uniform(1, 5, 5, 1, low=0, high=1).astype(dtype),)


SPECS = (
    *calls(
        "api-image-boxes",
        Call(
            name="image.non_max_suppression_with_scores",
            program=lambda tf, b, s: tf.image.non_max_suppression_with_scores(b, s, _MOST, _LIMIT, _LEAST),
            reference=_with_scores,
            outputs=2,
        ),
        Call(name="image.non_max_suppression_overlaps", program=_by_overlaps, reference=_chosen),
        Call(
            name="image.combined_non_max_suppression",
            program=lambda tf, b, s: tuple(
                tf.image.combined_non_max_suppression(b[None, :, None], s[None, :, None], _MOST, _MOST, _LIMIT, _LEAST)
            ),
            reference=_combined,
            outputs=4,
        ),
        recipes={"plain": _boxes},
        arguments=2,
        ops="NonMaxSuppressionV5;NonMaxSuppressionWithOverlaps;CombinedNonMaxSuppression",
        modes=WITHOUT_XLA,
        constant=("output[5]",),
    ),
    *calls(
        "api-image-boxes-padded",
        Call(
            name="image.non_max_suppression_padded",
            program=lambda tf, b, s: tf.image.non_max_suppression_padded(b, s, _MOST, _LIMIT, _LEAST, True),
            reference=lambda b, s: ref.padded(b, s, _MOST, _LIMIT, _LEAST),
            outputs=2,
        ),
        recipes={"plain": _boxes},
        arguments=2,
        ops="",
    ),
    *calls(
        "api-image-drawn",
        Call(
            name="image.draw_bounding_boxes",
            program=lambda tf, x: tf.image.draw_bounding_boxes(x, tf.constant(_DRAWN), tf.constant(_COLOURS)),
            reference=_painted,
        ),
        Call(
            name="image.extract_glimpse",
            program=lambda tf, x: tf.image.extract_glimpse(x, [3, 3], tf.constant([[0.0, 0.0]])),
            reference=lambda x: x[:, 1:4, 1:4],
        ),
        recipes={"plain": _image},
        ops="DrawBoundingBoxesV2;ExtractGlimpseV2",
        modes=WITHOUT_XLA,
    ),
    *calls(
        "api-image-sampled",
        linear(
            "image.sample_distorted_bounding_box",
            lambda tf, x: _whole(tf, x, tf.image.sample_distorted_bounding_box, seed=1),
            lambda x: x[0],
        ),
        recipes={"plain": _image},
        ops="SampleDistortedBoundingBoxV2",
        modes=WITHOUT_XLA,
    ),
    *calls(
        "api-image-sampled-stateless",
        linear(
            "image.stateless_sample_distorted_bounding_box",
            lambda tf, x: _whole(tf, x, tf.image.stateless_sample_distorted_bounding_box, seed=(1, 2)),
            lambda x: x[0],
        ),
        recipes={"plain": _image},
        ops={"eager": "StatelessSampleDistortedBoundingBox"},
    ),
)
