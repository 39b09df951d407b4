"""Confusion: counts of right and wrong answers, and the scores that metrics of Keras make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tf_opdiff.suites.reference.keras.losses import FUZZ

#: True positives, false positives, true negatives and false negatives.
Counts = tuple[Any, Any, Any, Any]


def counts(t: Any, p: Any, weights: Any, thresholds: Any) -> Counts:
    """The weighted counts of targets of 0 and 1 where a prediction above a threshold says 1; one for each threshold."""
    said, is_one = p.real > np.array(thresholds)[:, None], t.real == 1
    each = (said & is_one, said & ~is_one, ~said & ~is_one, ~said & is_one)
    true_1, false_1, true_0, false_0 = (np.sum(which * weights, axis=-1) for which in each)
    return true_1, false_1, true_0, false_0


def quotient(a: Any, b: Any) -> Any:
    """a / b; 0 where b is 0."""
    return np.where(b == 0, 0, a / np.where(b == 0, 1, b))


def precision(every: Counts) -> Any:
    """The share of right answers among those that say 1."""
    return quotient(every[0], every[0] + every[1])


def recall(every: Counts) -> Any:
    """The share of ones that are found: the true positive rate, or sensitivity."""
    return quotient(every[0], every[0] + every[3])


def specificity(every: Counts) -> Any:
    """The share of zeros that are found."""
    return quotient(every[2], every[2] + every[1])


def best(score: Callable[[Counts], Any], given: Callable[[Counts], Any], least: float, thresholds: int) -> Any:
    """The best score at thresholds from 0 to 1 where another one is at least `least`: formula(t, p, weights)."""

    def formula(t: Any, p: Any, weights: Any) -> Any:
        every = counts(t, p, weights, np.arange(thresholds) / (thresholds - 1))
        return np.max(np.where(given(every) >= least, score(every), 0))

    return formula


def area(t: Any, p: Any, weights: Any, *, thresholds: int) -> Any:
    """The area under the curve of true and false positive rates, by trapezoids between thresholds from 0 to 1."""
    ends = np.arange(thresholds) / (thresholds - 1)
    every = counts(t, p, weights, [-1, *ends[1:-1], 2])
    up, along = recall(every), 1 - specificity(every)
    return np.sum((along[:-1] - along[1:]) * (up[:-1] + up[1:]) / 2)


def f_scores(t: Any, p: Any, weights: Any, *, beta: float, threshold: float) -> Any:
    """(1 + β²) P R / (β² P + R) of each class: https://en.wikipedia.org/wiki/F-score."""
    said = p.real > threshold
    right = np.sum(said * t * weights[:, None], axis=0)
    share = right / (np.sum(said * weights[:, None], axis=0) + FUZZ)
    found = right / (np.sum(t * weights[:, None], axis=0) + FUZZ)
    return (1 + beta * beta) * share * found / (beta * beta * share + found + FUZZ)


def overlaps(t: Any, p: Any, weights: Any, classes: Sequence[int]) -> Any:
    """The mean over classes of intersection over union, of those that occur."""
    scores = []
    for number in classes:
        in_t, in_p = t == number, p == number
        union = np.sum((in_t | in_p) * weights)
        if union > 0:
            scores.append(np.sum((in_t & in_p) * weights) / union)
    return np.mean(scores)
