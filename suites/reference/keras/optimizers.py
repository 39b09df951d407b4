"""Optimizers of Keras in NumPy, by the papers that their documentation names.

Each function takes the weights and the gradients of all steps, and returns the weights after each step. Settings are
sums of few powers of two, which any float dtype holds. The functions also run on
`suites.reference.promises.running.Running`, which tells how far off floating point may be.
"""

from __future__ import annotations

from typing import Any

import numpy as np

RATE, BETA_1, BETA_2, EPSILON, DECAY = 0.125, 0.75, 0.875, 2.0**-10, 0.5
#: The coefficients of the Newton-Schulz iteration of Muon.
_QUINTIC = (3.4445, -4.7750, 2.0315)


def _mixed(share: float, before: Any, now: Any) -> Any:
    return share * before + (1 - share) * now


def adadelta(w: Any, gradients: Any) -> Any:
    """https://arxiv.org/abs/1212.5701, with a learning rate."""
    squares, changes, steps = 0 * w, 0 * w, []
    for g in gradients:
        squares = _mixed(BETA_2, squares, g * g)
        change = -1 * (np.sqrt(changes + EPSILON) / np.sqrt(squares + EPSILON) * g)
        changes = _mixed(BETA_2, changes, change * change)
        w = w + RATE * change
        steps.append(w)
    return np.stack(steps)


def adam(w: Any, gradients: Any, *, decay: float = 0.0) -> Any:
    """https://arxiv.org/abs/1412.6980, end of section 2; with decay, https://arxiv.org/abs/1711.05101."""
    m, v, steps = 0 * w, 0 * w, []
    for t, g in enumerate(gradients, 1):
        m, v = _mixed(BETA_1, m, g), _mixed(BETA_2, v, g * g)
        rate = RATE * float(np.sqrt(1 - BETA_2**t)) / (1 - BETA_1**t)
        w = w - RATE * decay * w
        w = w - rate * m / (np.sqrt(v) + EPSILON)
        steps.append(w)
    return np.stack(steps)


def adam_w(w: Any, gradients: Any) -> Any:
    """https://arxiv.org/abs/1711.05101."""
    return adam(w, gradients, decay=DECAY)


def adamax(w: Any, gradients: Any) -> Any:
    """https://arxiv.org/abs/1412.6980, section 7."""
    m, norm, steps = 0 * w, 0 * w, []
    for t, g in enumerate(gradients, 1):
        m, norm = _mixed(BETA_1, m, g), np.maximum(BETA_2 * norm, np.abs(g))
        w = w - RATE / (1 - BETA_1**t) * (m / (norm + EPSILON))
        steps.append(w)
    return np.stack(steps)


def nadam(w: Any, gradients: Any) -> Any:
    """http://cs229.stanford.edu/proj2015/054_report.pdf, with its schedule of momentums."""
    m, v, product, steps = 0 * w, 0 * w, 1.0, []
    for t, g in enumerate(gradients, 1):
        now, ahead = (BETA_1 * (1 - 0.5 * 0.96**s) for s in (t, t + 1))
        product *= now
        m, v = _mixed(BETA_1, m, g), _mixed(BETA_2, v, g * g)
        direction = ahead / (1 - product * ahead) * m + (1 - now) / (1 - product) * g
        w = w - RATE * direction / (np.sqrt(v / (1 - BETA_2**t)) + EPSILON)
        steps.append(w)
    return np.stack(steps)


def lamb(w: Any, gradients: Any) -> Any:
    """https://arxiv.org/abs/1904.00962: the step has the length of the weights."""
    m, v, steps = 0 * w, 0 * w, []
    for t, g in enumerate(gradients, 1):
        m, v = _mixed(BETA_1, m, g), _mixed(BETA_2, v, g * g)
        step = m / (1 - BETA_1**t) / (np.sqrt(v / (1 - BETA_2**t)) + EPSILON)
        w = w - RATE * step * (np.sqrt(np.sum(w * w)) / np.sqrt(np.sum(step * step)))
        steps.append(w)
    return np.stack(steps)


def lion(w: Any, gradients: Any) -> Any:
    """https://arxiv.org/abs/2302.06675."""
    m, steps = 0 * w, []
    for g in gradients:
        w = w - RATE * np.sign(_mixed(BETA_1, m, g))
        m = _mixed(BETA_2, m, g)
        steps.append(w)
    return np.stack(steps)


def schedule_free(w: Any, gradients: Any) -> Any:
    """https://arxiv.org/abs/2405.15682: the weights stand between those of the steps, z, and their mean, x."""
    x, z, v, steps = w, w, 0 * w, []
    for t, g in enumerate(gradients, 1):
        v = _mixed(BETA_2, v, g * g)
        z = z - RATE * g / (np.sqrt(v / (1 - BETA_2**t)) + EPSILON)
        x = _mixed(1 - 1 / t, x, z)
        steps.append(_mixed(BETA_1, x, z))
    return np.stack(steps)


def schedule_free_by_new_steps(w: Any, gradients: Any) -> Any:
    """What `schedule_free` becomes if each mean is recovered from the weights with the new z in place of the old."""
    z, v, steps = w, 0 * w, []
    for t, g in enumerate(gradients, 1):
        v = _mixed(BETA_2, v, g * g)
        z = z - RATE * g / (np.sqrt(v / (1 - BETA_2**t)) + EPSILON)
        x = _mixed(1 - 1 / t, (w - (1 - BETA_1) * z) / BETA_1, z)
        w = _mixed(BETA_1, x, z)
        steps.append(w)
    return np.stack(steps)


def adafactor(w: Any, gradients: Any) -> Any:
    """https://arxiv.org/abs/1804.04235, algorithm 4 with the relative steps of algorithm 5: weights are a matrix."""
    rows, columns, steps = 0.0, 0.0, []
    for t, g in enumerate(gradients, 1):
        share = 1 - t**-0.75
        rows = _mixed(share, rows, np.mean(g * g, axis=1, keepdims=True))
        columns = _mixed(share, columns, np.mean(g * g, axis=0, keepdims=True))
        step = g / np.sqrt(rows / np.mean(rows) * columns)
        step = step / np.maximum(1.0, np.sqrt(np.mean(step * step)))
        rate = min(RATE, t**-0.5)
        w = w - np.maximum(EPSILON, np.sqrt(np.mean(w * w))) * rate * step
        steps.append(w)
    return np.stack(steps)


def muon(w: Any, gradients: Any) -> Any:
    """https://kellerjordan.github.io/posts/muon/, with two iterations, and 0.2 √(larger side) as the length.

    The weights are a matrix with no more rows than columns.
    """
    a, b, c = _QUINTIC
    m, steps = 0 * w, []
    for g in gradients:
        m = BETA_1 * m + g
        x = g + BETA_1 * m
        x = x / (np.sqrt(np.sum(x * x)) + 1e-7)
        for _ in range(2):
            square = x @ x.T
            x = a * x + (b * square + c * (square @ square)) @ x
        w = w - RATE * 0.2 * float(np.sqrt(max(*w.shape))) * x
        steps.append(w)
    return np.stack(steps)


def descent(w: Any, gradients: Any) -> Any:
    """Gradient descent; a gradient that is not finite leaves the weights as they are."""
    steps = []
    for g in gradients:
        w = w - RATE * g if np.all(np.isfinite(getattr(g, "value", g))) else w
        steps.append(w)
    return np.stack(steps)
