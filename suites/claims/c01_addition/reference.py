"""The net d = x + c, e = c + k, a = d·e in NumPy: its loss, its gradients, and Adam on them."""

import numpy as np

from tf_opdiff.suites.claims.c01_addition.program import RATE, STEPS


def _parts(x, c, k, label):
    """d, e, and δ, the derivative of the loss by a = d·e."""
    d, e = x + c, c + k
    p = np.exp(d * e - np.max(d * e))
    return d, e, p / np.sum(p) - (np.arange(x.size) == label)


def loss(x, c, k, label):
    """The softmax cross-entropy of a = d·e."""
    a = (x + c) * (c + k)
    return np.max(a) + np.log(np.sum(np.exp(a - np.max(a)))) - a[int(label)]


def right(g, x, c, k, label):
    """The VJP of the loss, with the gradient of tf.add."""
    d, e, delta = _parts(x, c, k, label)
    return g * delta * e, g * delta * (e + d), g * delta * d, None


def by_formula(g, x, c, k, label):
    """The VJP with the formula; c gets its part of e, and through d the part of the formula and that of the product."""
    d, e, delta = _parts(x, c, k, label)
    upstream = g * delta * d
    to_d = g * delta * e + e * upstream
    return to_d, (e + d) * upstream + to_d, d * upstream, None


def by_d_only(g, x, c, k, label):
    """The VJP where e has no gradient: c gets its part through d."""
    _, e, delta = _parts(x, c, k, label)
    return g * delta * e, g * delta * e, None, None


def closed(g, x, c, k, label):
    """The formula without its third part."""
    d, e, delta = _parts(x, c, k, label)
    upstream = g * delta * d
    return g * delta * e, (e + d) * upstream + g * delta * e, d * upstream, None


def _adam(gradient, x, c, k, label):
    """Losses before each step, and weights after it.

    The optimizer keeps its rates, and their powers, in float32, whatever the weights are.
    """
    beta1, beta2, epsilon = np.float32(0.9), np.float32(0.999), float(np.float32(1e-8))
    power1, power2 = beta1, beta2
    moments = [[np.zeros_like(c)] * 2 for _ in range(2)]
    losses: list[np.ndarray] = []
    trajectory: list[list[np.ndarray]] = [[], []]
    for _ in range(STEPS):
        losses.append(loss(x, c, k, label))
        gradients = gradient(1.0, x, c, k, label)[1:3]
        rate = RATE * np.sqrt(1 - float(power2)) / (1 - float(power1))
        moved = []
        for i, (w, g) in enumerate(zip((c, k), gradients, strict=True)):
            m, v = moments[i]
            m, v = m + (g - m) * (1 - float(beta1)), v + (g * g - v) * (1 - float(beta2))
            moments[i] = [m, v]
            moved.append(w - rate * m / (np.sqrt(v) + epsilon))
            trajectory[i].append(moved[-1])
        c, k = moved
        power1, power2 = power1 * beta1, power2 * beta2
    return tuple(np.stack(column) for column in (losses, *trajectory))


def trained(gradient):
    """The trajectory as a program with sessions gives it."""
    return lambda *inputs: _adam(gradient, *inputs)


def steps(gradient):
    """The trajectory as a program with state gives it."""

    def reference(*inputs):
        losses, c, k = _adam(gradient, *inputs)
        return losses, {"c": c[-1], "k": k[-1]}

    return reference


def loss_bound(u, g, x, c, k, label):
    """The error of a = d·e, rounded three times, in both terms; of the exponentials, their sum and its logarithm."""
    return 8 * u * (1 + 2 * np.max(np.abs((x + c) * (c + k))))


def grad_bound(u, g, x, c, k, label):
    """The error of δ, whose derivative by an exponent is 1/4 at most, and of the products and sums of each term."""
    d, e, _ = _parts(x, c, k, label)
    terms = np.abs(d) + np.abs(e) + 2 * np.abs(d * e) + d * d
    return np.abs(g) * u * terms * (13 + 2 * np.max(np.abs(d * e)))


def trained_bound(u, g, *inputs):
    """A step moves a weight by the rate at most, or little more, and takes over the relative error of its gradient."""
    return STEPS * RATE * 256 * u
