"""Moving averages of batches, and trained weights, in NumPy."""

import numpy as np

from tf_opdiff.suites.reference.optimization.training import sgd
from tf_opdiff.suites.reference.promises.running import bound


def _moved(moving, now):
    return moving - (moving - now) * 0.25


def _moments(x):
    mean = np.mean(x, axis=0)
    return mean, np.mean(np.square(x - mean), axis=0)


def _normalised(x, mean, variance, gamma, beta):
    scale = gamma / np.sqrt(variance + 2**-10)
    return x * scale + (beta - mean * scale)


def _trained(weights, xs, ys, *, updated):
    """The weights, gamma, beta, and the moving mean and variance after each step."""
    w, steps = weights, []
    beta = moving_mean = np.zeros_like(weights[0])
    gamma = moving_variance = beta + 1
    for x, y in zip(xs, ys, strict=True):
        h = x @ w
        mean, variance = _moments(h)
        deviation = np.sqrt(variance + 2**-10)
        unit = (h - mean) / deviation
        by_output = (_normalised(h, mean, variance, gamma, beta) - y) * (2 / y.size)
        by_gamma, by_beta = np.sum(by_output * unit, axis=0), np.sum(by_output, axis=0)
        by_h = (gamma / deviation) * (by_output - by_beta / len(x) - unit * (by_gamma / len(x)))
        w, gamma, beta = sgd(w, x.T @ by_h), sgd(gamma, by_gamma), sgd(beta, by_beta)
        if updated:
            moving_mean, moving_variance = _moved(moving_mean, mean), _moved(moving_variance, variance)
        steps.append((w, gamma, beta, moving_mean, moving_variance))
    return tuple(np.stack(each) for each in zip(*steps, strict=True))


def updated(weights, xs, ys):
    """Training in which each step updates the moving averages."""
    return _trained(weights, xs, ys, updated=True)


def not_updated(weights, xs, ys):
    """Training in which no step updates the moving averages."""
    return _trained(weights, xs, ys, updated=False)


def updated_once(weights, xs, ys):
    """Training in which no step updates the moving averages, and the averages after one update at its end."""
    ws, gammas, betas, means, variances = not_updated(weights, xs, ys)
    mean, variance = _moments(xs[-1] @ ws[-1])
    return ws, gammas, betas, means, variances, _moved(means[-1], mean), _moved(variances[-1], variance)


def _of_images(correction):
    """Normalised images and new averages; the variance that goes into its average is `correction` times that used."""

    def reference(x, gamma, beta, moving_mean, moving_variance):
        samples = x.reshape(-1, x.shape[-1])
        mean, variance = _moments(samples)
        y = _normalised(samples, mean, variance, gamma, beta).reshape(x.shape)
        corrected = variance * correction(len(samples))
        return y, _moved(moving_mean, mean), _moved(moving_variance, corrected)

    return reference


by_moments = _of_images(lambda n: 1)
fused = _of_images(lambda n: n / (n - 1))


def first_images(x):
    """A batch of images, from an offset and a mean of 0, and a scale and a variance of 1."""
    zeros = np.zeros_like(x[0, 0, 0])
    return by_moments(x, zeros + 1, zeros, zeros, zeros + 1)


def bounds(reference, count):
    """The bound of each output of a reference."""
    return {f"output[{i}]": bound(reference, i) for i in range(count)}
