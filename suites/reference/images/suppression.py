"""Non-maximum suppression: boxes with high scores that overlap little, by the definition of the overlap.

Source: https://www.tensorflow.org/api_docs/python/tf/raw_ops/NonMaxSuppressionV4
"""

from __future__ import annotations

import numpy as np


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    """The area of the intersection of two boxes over that of their union; 0 if a box has no area.

    A box is a pair of diagonal corners, (y, x, y, x), in either order.
    """
    low = [np.minimum(box[:2], box[2:]) for box in (a, b)]
    high = [np.maximum(box[:2], box[2:]) for box in (a, b)]
    areas = [float(np.prod(h - w)) for h, w in zip(high, low, strict=True)]
    if min(areas) <= 0:
        return 0.0
    common = float(np.prod(np.maximum(np.minimum(*high) - np.maximum(*low), 0)))
    return common / (areas[0] + areas[1] - common)


def chosen(boxes: np.ndarray, scores: np.ndarray, most: int, limit: float, least: float = -np.inf) -> np.ndarray:
    """The int32 indices of the chosen boxes, by falling score; of equal scores, the first box comes first.

    Args:
      boxes: their corners, of shape (boxes, 4).
      scores: their scores; a box whose score is NaN, or not above `least`, is never chosen.
      most: the largest number of chosen boxes.
      limit: the largest overlap of two chosen boxes.
      least: the score that a chosen box exceeds.
    """
    order = np.argsort(-scores, kind="stable")
    indices: list[int] = []
    for i in order[scores[order] > least]:
        if len(indices) < most and all(overlap(boxes[i], boxes[j]) <= limit for j in indices):
            indices.append(int(i))
    return np.array(indices, "int32")


def padded(boxes: np.ndarray, scores: np.ndarray, most: int, limit: float, least: float) -> tuple[np.ndarray, ...]:
    """The indices of the chosen boxes, with -1 behind them up to the largest number, and how many they are."""
    indices = chosen(boxes, scores, most, limit, least)
    return np.pad(indices, (0, most - len(indices)), constant_values=-1), np.array(len(indices), "int32")
