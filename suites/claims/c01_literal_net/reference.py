"""The post's net in NumPy: its loss, its gradients, and two hundred steps of Adam."""

import numpy as np

from tf_opdiff.suites.claims.c01_literal_net.program import STEPS


def _loss(a, labels):
    """The softmax cross-entropy of logits, with one-hot labels."""
    top = np.max(a)
    return top + np.log(np.sum(np.exp(a - top))) - np.sum(a * labels)


def _parts(b, labels, c, k):
    """d, e, and δ, the derivative of the loss by a = d·e."""
    d, e = b + c, c + k
    p = np.exp(d * e - np.max(d * e))
    return d, e, p / np.sum(p) - labels


def right(b, labels, c, k):
    """The derivatives of the loss by c and k."""
    d, e, delta = _parts(b, labels, c, k)
    return delta * (e + d), delta * d


def by_formula(b, labels, c, k):
    """The gradients that arrive at c and k where the gradient of e is the post's formula of ∂L/∂e."""
    d, e, delta = _parts(b, labels, c, k)
    grad = delta * d
    through_d = delta * e + e * grad
    return (e + d) * grad + through_d, d * grad


def trained(gradient):
    """The loss before and after training by a gradient of c and k, and both weights.

    Adam keeps its rates, and their powers, in float32.
    """

    def reference(b, labels, c, k):
        rate, beta1, beta2, epsilon = map(np.float32, (0.001, 0.9, 0.999, 0.1))
        power1, power2 = beta1, beta2
        weights, m, v = np.stack([c, k]), np.zeros((2, c.size)), np.zeros((2, c.size))
        for _ in range(STEPS):
            g = np.stack(gradient(b, labels, *weights))
            m += (g - m) * (1 - float(beta1))
            v += (g * g - v) * (1 - float(beta2))
            scale = float(rate) * np.sqrt(1 - float(power2)) / (1 - float(power1))
            weights = weights - scale * m / (np.sqrt(v) + float(epsilon))
            power1, power2 = power1 * beta1, power2 * beta2
        first, last = (_loss((b + w[0]) * (w[0] + w[1]), labels) for w in ((c, k), weights))
        return first, last, *weights

    return reference


def first_bound(u, g, b, labels, c, k):
    """The error of a = d·e, rounded three times, in both terms; of the exponentials, their sum and its logarithm."""
    return 8 * u * (1 + 2 * np.max(np.abs((b + c) * (c + k))))


def weight_bound(u, g, b, labels, c, k):
    """Each step rounds a weight, and takes over the relative error of its gradient: 62.5 units at a rate of 0.001."""
    return STEPS * u * (np.maximum(np.max(c), np.max(k)) + STEPS * 0.001 + 0.0625)


def last_bound(u, g, b, labels, c, k):
    """An error w of the weights changes d by w and e by 2·w, which are below 4, and so a logit by 12·w at most.

    The loss changes by no more than Σ|δ| times that, and Σ|δ| is at most twice the first loss, as the loss decreases.
    """
    first = _loss((b + c) * (c + k), labels)
    return first_bound(u, g, b, labels, c, k) + 2 * first * 12 * weight_bound(u, g, b, labels, c, k)
