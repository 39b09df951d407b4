"""Weights and centers after each step, in NumPy."""

import numpy as np

from tf_opdiff.suites.reference.optimization.training import sgd
from tf_opdiff.suites.reference.promises.running import bound


def _moved(centers, features, labels):
    """Centers less half of Δc, equation 4 of the paper."""
    of_class = labels == np.arange(len(centers))[:, None]
    summed = of_class @ (centers[labels] - features)
    return centers - 0.5 * summed / (1 + np.sum(of_class, axis=1, keepdims=True))


def _part_of_the_way(centers, features, labels):
    """Centers after n/(n + 1) of half the way to the mean of the n features of their class."""
    of_class = labels == np.arange(len(centers))[:, None]
    count = np.sum(of_class, axis=1, keepdims=True)
    mean = of_class @ features / np.maximum(count, 1)
    return centers + 0.5 * count / (count + 1) * (mean - centers)


def _stay(centers, features, labels):
    return centers


def _trained(move):
    """The loss, both layers' weights and the centers after each step."""

    def reference(weights, head, start, samples, labels):
        w, v, centers, steps = weights, head, start, []
        for x, label in zip(samples, labels, strict=True):
            features = x @ w
            exp = np.exp(features @ v)
            odds = exp / np.sum(exp, axis=1, keepdims=True)
            right = label[:, None] == np.arange(head.shape[1])
            difference = centers[label] - features
            loss = np.sum(np.log(np.sum(exp, axis=1))) - np.sum(np.where(right, features @ v, 0))
            loss = loss + 0.125 * np.sum(np.square(difference))
            by_logits = odds - right
            by_features = by_logits @ v.T - 0.25 * difference
            centers = move(centers, features, label)
            w, v = sgd(w, x.T @ by_features, 2**-5), sgd(v, features.T @ by_logits, 2**-5)
            steps.append((loss, w, v, centers))
        return tuple(np.stack(each) for each in zip(*steps, strict=True))

    return reference


moving, staying, by_mean = _trained(_moved), _trained(_stay), _trained(_part_of_the_way)


def moved_once(*inputs):
    """The trajectories of training in which the centers stay, and the centers after one move at its end."""
    losses, ws, heads, centers = staying(*inputs)
    samples, labels = inputs[-2:]
    return losses, ws, heads, centers, _moved(centers[-1], samples[-1] @ ws[-1], labels[-1])


def with_final(*inputs):
    """The trajectories of training that moves the centers, and the last states of the variables."""
    outputs = moving(*inputs)
    return (*outputs, dict(zip(("w", "head", "centers"), (states[-1] for states in outputs[1:]), strict=True)))


def last(bounds):
    """The bound of the last state of a trajectory."""
    return lambda u, g, *inputs: bounds(u, g, *inputs)[-1]


def bounds(reference):
    """The bound of each output of a reference."""
    return {f"output[{i}]": bound(reference, i) for i in range(5 if reference is moved_once else 4)}
