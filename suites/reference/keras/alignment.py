"""Alignment: connectionist temporal classification, by the forward recursion over probabilities.

A. Graves and others, Connectionist Temporal Classification, section 4.1: https://doi.org/10.1145/1143844.1143891.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def alignment_loss(labels: np.ndarray, logits: Any) -> Any:
    """-log of the probability of each row of labels, over all its alignments with the steps; 0 is the blank.

    Args:
      labels: of shape (batch, length); zeros fill short rows.
      logits: of shape (batch, steps, classes).
    """
    return np.stack([_loss(row[row != 0], steps) for row, steps in zip(labels, logits, strict=True)])


def _loss(labels: np.ndarray, logits: Any) -> Any:
    states = np.zeros(2 * len(labels) + 1, int)  # a blank before, between and after the labels
    states[1::2] = labels
    skips = np.zeros(len(states), bool)  # a state may follow the one before the last, unless they are equal
    skips[2:] = (states[2:] != 0) & (states[2:] != states[:-2])
    p = np.exp(logits)
    p = (p / np.sum(p, axis=-1, keepdims=True))[:, states]
    forward = np.where(np.arange(len(states)) < 2, p[0], 0)
    for step in p[1:]:
        before = np.concatenate([[0], forward[:-1]])
        skipped = np.where(skips, np.concatenate([[0, 0], forward[:-2]]), 0)
        forward = (forward + before + skipped) * step
    return -np.log(forward[-1] + forward[-2])
