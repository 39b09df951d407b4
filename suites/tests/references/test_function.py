"""The functions of several arguments that are references agree with mpmath, and so do their derivatives."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.suites.reference.promises.function import Function
from tf_opdiff.suites.reference.promises.wide import mp

_REFERENCES = {spec.reference: name for name, spec in reversed(Catalog.load("tf_opdiff.suites.ops.math").specs.items())}
#: The first spec that has a function as its reference → the function.
FUNCTIONS = {name: function for function, name in _REFERENCES.items() if isinstance(function, Function)}


def points(function):
    """Some points inside the domain, no two of one argument alike."""
    axes = [low + (high - low) * (np.arange(1, 8) - 0.37) / 7 for low, high in function.domain]
    xs = [np.roll(axis, 3 * i)[: 7 - i] for i, axis in enumerate(axes)]
    n = min(x.size for x in xs)
    return [np.floor(x[:n]) if i in function.whole else x[:n] for i, x in enumerate(xs)]


def close(values, expected, by=1e-15):
    return all(abs(v - e) <= max(abs(e), 1e-12) * by for v, e in zip(values, expected, strict=True))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_agree_with_mpmath(name):
    function = FUNCTIONS[name]
    xs = points(function)
    exact = [float(function.exact(*map(mp.mpf, point))) for point in zip(*xs, strict=True)]
    assert close(function(*xs), exact)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_derivative_agrees_with_a_numerical_one(name):
    function = FUNCTIONS[name]
    xs = points(function)
    for i, derivative in enumerate(function.partials):
        if derivative is not None:
            order = tuple(int(i == j) for j in range(len(xs)))
            numerical = [
                float(mp.re(mp.diff(function.exact, tuple(map(mp.mpf, point)), order)))
                for point in zip(*xs, strict=True)
            ]
            assert close(np.broadcast_to(derivative(*xs), xs[0].shape), numerical), i
