"""Gradient descent, momentum and Adam on masked weights in NumPy."""

import numpy as np

from tf_opdiff.suites.claims.c15_frozen_weights.inputs import SCHEDULE
from tf_opdiff.suites.reference.optimization import training


def _gradient(weights, x, y):
    return 2 / len(y) * ((x @ weights - y) @ x)


def _masked_gradient(weights, mask, x, y):
    return mask * _gradient(mask * weights + np.abs(1 - mask) * weights, x, y)


def _followed(states, weights):
    """The weights after each step, and which of them it moved."""
    trajectory = np.stack(states)
    return trajectory, trajectory != np.concatenate([weights[None], trajectory[:-1]])


def sgd(weights, masks, x, y):
    """Gradient descent on masked weights, and which of them each step moved."""
    w, states = weights, []
    for mask in masks:
        w = training.sgd(w, _masked_gradient(w, mask, x, y))
        states.append(w)
    return _followed(states, weights)


def momentum(weights, masks, x, y):
    """Gradient descent with momentum on masked weights, and which of them each step moved."""
    w, accumulated, states = weights, np.zeros_like(weights), []
    for mask in masks:
        w, accumulated = training.momentum(w, accumulated, _masked_gradient(w, mask, x, y))
        states.append(w)
    return _followed(states, weights)


def adam(weights, masks, x, y, *, zeroed=""):
    """Adam on masked weights, and which of them each step moved; `zeroed` names slots that are zeroed where masked."""
    w, states = weights, []
    m = v = np.zeros_like(weights)
    for count, mask in enumerate(masks, 1):
        if "m" in zeroed:
            m = m * mask
        if "v" in zeroed:
            v = v * mask
        w, m, v = training.adam(w, m, v, _masked_gradient(w, mask, x, y), count)
        states.append(w)
    return _followed(states, weights)


def zeroed(weights, masks, x, y):
    """Adam whose m and v are zeroed where the mask is 0."""
    return adam(weights, masks, x, y, zeroed="mv")


def zeroed_m(weights, masks, x, y):
    """Adam whose m is zeroed where the mask is 0."""
    return adam(weights, masks, x, y, zeroed="m")


def _paused(weights, masks, gradient, counts):
    """Adam that passes over masked elements; `counts` are the steps that the bias correction takes each to be in."""
    w, states = weights, []
    m = v = np.zeros_like(weights)
    for mask, count in zip(masks, counts, strict=True):
        new = training.adam(w, m, v, gradient(w, mask), count)
        w, m, v = (np.where(mask > 0, a, b) for a, b in zip(new, (w, m, v), strict=True))
        states.append(w)
    return np.stack(states)


def _all_steps(masks):
    return np.cumsum(np.ones(np.shape(masks)), axis=0)


def _own_steps(masks):
    return np.maximum(np.cumsum(SCHEDULE, axis=0), 1)


def restored(weights, masks, x, y):
    """Adam whose m and v wait for masked weights, with one count of steps for all."""
    return _paused(weights, masks, lambda w, mask: _masked_gradient(w, mask, x, y), _all_steps(SCHEDULE))


def own(weights, masks, x, y):
    """Adam that passes over masked weights, with a count of steps for each."""
    return _paused(weights, masks, lambda w, mask: _masked_gradient(w, mask, x, y), _own_steps(SCHEDULE))


def never_frozen(weights, masks, x, y):
    """Each weight after as many steps as it was not frozen in: the problems are apart."""
    free, _ = adam(weights, np.ones(masks.shape), x, y)
    free = np.concatenate([weights[None], free])
    return np.take_along_axis(free, np.cumsum(masks, axis=0).astype(int), axis=0)


def unmasked(masks):
    """Which weights each mask lets a step move."""
    return masks > 0


def updated_earlier(masks):
    """Which weights had a gradient in this step or before."""
    return np.cumsum(masks, axis=0) > 0


def moving(reference, which):
    """The prediction that the program moves just these weights, as their masks tell."""
    return lambda weights, masks, x, y: (reference(weights, masks, x, y)[0], which(masks))


SECOND_FROZEN = np.array([[1] * 4 + [both] * 5 for both in (1, 1, 0, 0, 1, 1)])
FIRST_THEN_BOTH = np.array([[1] * 4 + [0] * 5, [1] * 9])


def _in_turn(trained, counts, first, second, x, y):
    """Both variables after each step, which trains the elements that a row of `trained` says."""
    weights = np.concatenate([first, second])
    states = _paused(weights, trained, lambda w, mask: _gradient(w, x, y), counts)
    return states[:, :4], states[:, 4:]


def _by_variable(counts):
    def trajectories(*inputs):
        first, second = _in_turn(SECOND_FROZEN, counts, *inputs)
        return first, second, second[1:] != second[:-1]

    return trajectories


def later(*inputs):
    """Both variables after a step that trains the first, and one that trains both."""
    first, second = _in_turn(FIRST_THEN_BOTH, _all_steps(FIRST_THEN_BOTH), *inputs)
    return first[-1], second[-1]


def never_left_out(first, second, x, y):
    """Each variable after as many steps as it was trained in."""
    states = never_frozen(np.concatenate([first, second]), SECOND_FROZEN, x, y)
    return states[:, :4], states[:, 4:], np.diff(states[:, 4:], axis=0) != 0


subset = _by_variable(_all_steps(SECOND_FROZEN))
two_optimizers = _by_variable(np.cumsum(SECOND_FROZEN, axis=0))


def with_final(reference, *names):
    """The reference, and the last states of trajectories as those of the variables of these names."""

    def promise(*inputs):
        outputs = reference(*inputs)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        return (*outputs, {name: outputs[i][-1] for i, name in enumerate(names)})

    return promise


def last(bounds):
    """The bound of the last state of a trajectory."""
    return lambda u, g, *inputs: bounds(u, g, *inputs)[-1]
