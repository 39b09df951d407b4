"""The gradients of the net d = x + c, e = c + k, a = d·e in NumPy."""

import numpy as np

from tf_opdiff.suites.claims.c01_addition import reference

_STEP = 1e-100


def by_complex_step(g, x, c, k, label):
    """The VJP of the loss, by complex steps: exact to rounding, and without any formula of a derivative."""

    def loss(x, c, k):
        a = (x + c) * (c + k)
        return np.log(np.sum(np.exp(a))) - a[int(label)]

    def slope(which, i):
        steps = [np.zeros(x.size, complex) for _ in range(3)]
        steps[which][i] = 1j * _STEP
        return loss(x + steps[0], c + steps[1], k + steps[2]).imag / _STEP

    return *(g * np.array([slope(which, i) for i in range(x.size)]) for which in range(3)), None


def _delta(x, c, k, label):
    a = (x + c) * (c + k)
    p = np.exp(a - np.max(a))
    return p / np.sum(p) - (np.arange(x.size) == label)


def by_total_derivative(g, x, c, k, label):
    """The slide's formulas (e·G, (e + d)·G, d·G) by d, c and k, with G = ∂L/∂a. The gradient by x is that by d."""
    d, e, by_a = x + c, c + k, g * _delta(x, c, k, label)
    return e * by_a, (e + d) * by_a, d * by_a, None


def grad_is_by_e(g, x, c, k, label):
    """The VJP where k gets `grad` itself, which is ∂L/∂e = δ·d, and e sends nothing to c."""
    d, e, by_a = x + c, c + k, g * _delta(x, c, k, label)
    return e * by_a, e * by_a, d * by_a, None


def grad_is_by_a(g, x, c, k, label):
    """The VJP where k gets `grad` itself, if that were ∂L/∂a = δ."""
    e, by_a = c + k, g * _delta(x, c, k, label)
    return e * by_a, e * by_a, by_a, None


loss = reference.loss
by_d_only = reference.by_d_only
right = reference.right
BOUNDS = {"output": reference.loss_bound, "grad": reference.grad_bound}


def loss_and_twice(x, c, k, label):
    """The loss, and x + x."""
    return loss(x, c, k, label), 2 * x


def with_twice(vjp):
    """The VJP of the loss, and that of x + x, which reaches x."""

    def both(g, x, c, k, label):
        by_x, *others = vjp(g[0], x, c, k, label)
        return by_x + 2 * g[1], *others

    return both


def _bound_with_twice(u, g, *inputs):
    """The bound of the loss's gradient, and three roundings of x + x and of the sum of both."""
    return reference.grad_bound(u, g[0], *inputs) + 4 * u * np.abs(g[1])


BOUNDS_WITH_TWICE = {"output[0]": reference.loss_bound, "grad": _bound_with_twice}
