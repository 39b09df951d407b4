"""Least squares and pseudoinverses, also of matrices whose columns depend on each other."""

from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.forms.errors import undocumented
from tf_opdiff.suites.forms.linear_algebra import matrices as of
from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.reference.linear_algebra.least_squares import LeastSquares, OfRankOne, Pseudoinverse


def _independent(draw, dtype, *shape):
    """Matrices of ordinary condition, whose columns or rows are independent."""
    return (draw.values("float64", *shape) / 4 + 2 * np.eye(*shape[-2:])).astype(dtype)


_dependent = of.dependent(_independent)
#: Label → the matrices that have no inverse of any side.
_DEFICIENT = {"rank_one": _dependent, "zero": of.zero}


def _matrices(shape, *right):
    """Recipes of matrices of full rank, and of right-hand sides."""
    return {"plain": lambda draw, dtype: (_independent(draw, dtype, *shape), *_right(draw, dtype, right))}


def _deficient(shape, *right):
    """Recipes of matrices of lower rank, and of right-hand sides."""

    def recipe(elements):
        return lambda draw, dtype: (elements(draw, np.dtype(dtype), *shape), *_right(draw, dtype, right))

    return {label: recipe(elements) for label, elements in _DEFICIENT.items()}


def _right(draw, dtype, shapes):
    return [draw.values(dtype, *shape) for shape in shapes]


def _solution(tf, a, b, l2=0.0, fast=True):
    return tf.linalg.lstsq(a, b, l2_regularizer=l2, fast=fast)


def _inverse(tf, a):
    return tf.linalg.pinv(a)


def _call(name, program, promise, inputs):
    """A call with a gradient by each of its inputs."""
    return Call(
        name=name,
        program=program,
        reference=promise.f,
        vjp=promise.vjp,
        error=promise.error,
        grad_error=lambda u, g, *xs: tuple(promise.grad_error(i, u, g, *xs) for i in range(inputs)),
        signed=False,
    )


def _with_gradients(program):
    """A program that also gives its gradients, where no upstream is promised."""

    def both(tf, *xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = program(tf, *xs)
        return y, *tape.gradient(y, xs)

    return both


def _lower_rank(a, *_):
    """Whether a matrix of a batch has a lower rank than its shape allows."""
    return np.linalg.matrix_rank(a).min() < min(a.shape[-2:])


def _unpromised(name, program, called, recipes, why, **fields):
    """A spec of results and gradients that nothing documents: plans are compared. Ordinary matrices have a result."""
    return Spec(
        name=f"api-{name}-gradient-deficient",
        program=_with_gradients(program),
        reference=undocumented(why, error=_lower_rank),
        recipes=recipes,
        ops="",
        evidence=f"called:{called}",
        dtypes=("float32",),
        **fields,
    )


_TALL, _WIDE = (2, 5, 3), (2, 3, 4)
_LEAST = tuple(_call("linalg.lstsq", partial(_solution, l2=l2), LeastSquares(l2), 2) for l2 in (0.0, 0.5))
_PINV = _call("linalg.pinv", _inverse, Pseudoinverse(), 1)
_FIELDS: dict[str, Any] = {"dtypes": ("float32",), "more": ("float64",)}

SPECS = (
    *calls("api-lstsq", *_LEAST, recipes=_matrices(_TALL, (2, 5, 2)), arguments=2, **_FIELDS),
    *calls("api-lstsq-wide", *_LEAST, recipes=_matrices(_WIDE, (2, 3, 1)), arguments=2, **_FIELDS),
    *calls(
        "api-lstsq-orthogonal",
        Call(
            name="linalg.lstsq",
            program=partial(_solution, fast=False),
            reference=lambda a, b: OfRankOne().f(a) @ b,
            error=lambda u, a, b: OfRankOne().error(u, a) @ np.abs(b) * 2,
            signed=False,
        ),
        recipes=_deficient((5, 3), (5, 2)),
        arguments=2,
        modes=WITHOUT_XLA,
        **_FIELDS,
    ),
    _unpromised(
        "lstsq",
        _solution,
        "linalg.lstsq",
        _matrices(_TALL, (2, 5, 2)) | _deficient(_TALL, (2, 5, 2)),
        "the documentation calls the normal equations stable for a matrix of full rank only",
    ),
    *calls("api-pinv", _PINV, recipes=_matrices(_TALL), **_FIELDS),
    *calls("api-pinv-wide", _PINV, recipes=_matrices(_WIDE), tier="full", **_FIELDS),
    *calls(
        "api-pinv-deficient",
        Call(name="linalg.pinv", program=_inverse, reference=OfRankOne().f, error=OfRankOne().error, signed=False),
        recipes=_deficient(_TALL),
        **_FIELDS,
    ),
    _unpromised(
        "pinv",
        _inverse,
        "linalg.pinv",
        _matrices(_TALL) | _deficient(_TALL),
        "a pseudoinverse has no derivative where the rank changes, and nothing documents the gradient there",
        tier="full",  # XLA takes a minute to compile it
    ),
)
