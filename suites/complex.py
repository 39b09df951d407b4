"""Unary elementwise ops of complex numbers; the gradient is g conj(f'(z)), of a real part g times a complex number."""

from __future__ import annotations

import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, plain
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.analytic import axes, small
from tf_opdiff.suites.references.analytic import ANALYTIC, wide

#: name: (OpDef, errors in units of u |f(z)| that output and gradient may have, each part by itself). Of complex
#: arithmetic, only the error relative to |f(z)| is small: Higham, Accuracy and Stability of Numerical Algorithms,
#: section 3.6. Measured in all modes.
_TABLE = {
    "acos": ("Acos", 2.5, 6),
    "acosh": ("Acosh", 2.5, 8),
    "asin": ("Asin", 2.5, 6),
    "asinh": ("Asinh", 3.5, 6),
    "atan": ("Atan", 4, 9),
    "atanh": ("Atanh", 4, 8),
    "cos": ("Cos", 4, 7),
    "cosh": ("Cosh", 4, 4.5),
    "exp": ("Exp", 3, 4),
    "expm1": ("Expm1", 6, 4),
    "inv": ("Inv", 3, 6.5),
    "log": ("Log", 7, 4.5),
    "log1p": ("Log1p", 6, 5),
    "neg": ("Neg", 0, 0),
    "reciprocal": ("Reciprocal", 3, 6.5),
    "rsqrt": ("Rsqrt", 4, 10),
    "sigmoid": ("Sigmoid", 6, 4),
    "sin": ("Sin", 7, 6),
    "sinh": ("Sinh", 5, 4),
    "sqrt": ("Sqrt", 3.5, 4),
    "square": ("Square", 2, 3),
    "tan": ("Tan", 10, 11),
    "tanh": ("Tanh", 5, 4),
}


def _values(name):
    return wide(ANALYTIC[name].f), wide(ANALYTIC[name].d)


def _near_branch_point(name):
    """1 / √(1 - z²) and its like: z², rounded, is off by u beside 1."""
    _, d = _values(name)
    return {"grad[0]": lambda u, g, z: u * np.abs(g * d(z)) * (6 + 4 * np.abs(d(z)) ** 2)}


def _near_pole(name):
    """1 / (1 ± z²): z², rounded, is off by u z²."""
    _, d = _values(name)
    return {"grad[0]": lambda u, g, z: u * np.abs(g * d(z)) * (6 + 4 * np.abs(z * z * d(z)))}


def _sigmoid():
    """1 / (1 + exp(-z)), of which the denominator cancels near π i; the gradient is y (1 - y)."""
    f, _ = _values("sigmoid")

    def output(u, g, z):
        return u * np.abs(f(z)) * (6 + 4 * np.abs(z * (1 - f(z))))

    def gradient(u, g, z):
        y = f(z)
        return np.abs(g) * (4 * u * np.abs(y) * (1 + np.abs(y)) + np.abs(1 - 2 * y) * output(u, g, z))

    return {"output[0]": output, "grad[0]": gradient}


def _tanh():
    """The gradient is 1 - y²."""
    f, _ = _values("tanh")
    return {"grad[0]": lambda u, g, z: 10 * u * np.abs(g) * (1 + np.abs(f(z)) ** 2)}


#: Where the error is that of a larger term that cancels.
_BOUNDS = {
    **{name: _near_branch_point(name) for name in ("acos", "acosh", "asin", "asinh")},
    **{name: _near_pole(name) for name in ("atan", "atanh")},
    "sigmoid": _sigmoid(),
    "tanh": _tanh(),
}


def _row(name, op, output, grad):
    f, d = _values(name)
    return Spec(
        name=f"{name}-complex",
        ops=op,
        program=lambda tf, z: getattr(tf.raw_ops, op)(x=z),
        reference=f,
        vjp=lambda g, z: g * np.conj(d(z)),
        recipes={"axes": axes, "plain": plain, "small": small},
        dtypes=COMPLEX,
        bound={
            "output[0]": lambda u, g, z: output * u * np.abs(f(z)),
            "grad[0]": lambda u, g, z: grad * u * np.abs(g * d(z)),
            **_BOUNDS.get(name, {}),
        },
    )


SPECS = tuple(_row(name, *row) for name, row in _TABLE.items())
