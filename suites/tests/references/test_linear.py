"""References of linear algebra agree with NumPy, with differences, and with the residuals of what floats give."""

import numpy as np
import pytest

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.suites.forms.linear_algebra.matrices import ordinary, triangular
from tf_opdiff.suites.reference.factorizations.cholesky import Cholesky
from tf_opdiff.suites.reference.factorizations.determinant import Determinant, LogDeterminant
from tf_opdiff.suites.reference.linear_algebra.linear import lu
from tf_opdiff.suites.reference.linear_algebra.solving import Inverting, Matrix, Solving
from tf_opdiff.suites.reference.linear_algebra.tridiagonal import Bands, TridiagonalProduct

FLOAT32 = 2.0**-24
WIDE = {False: np.dtype("float64"), True: np.dtype("complex128")}


def matrices(draw, dtype, *shape):
    return ordinary(draw, dtype, *shape)


def definite(draw, dtype, *shape):
    x = ordinary(draw, dtype, *shape)
    return x @ np.conj(np.swapaxes(x, -1, -2))


def plain(draw, dtype, *shape):
    return draw.values(dtype, *shape)


def dominant(draw, dtype, *shape):
    x = draw.values(dtype, *shape)
    x[..., 1, :] += 16
    return x


#: A promise, and the shapes and makers of its inputs.
PROMISES = {
    "inverse": (Inverting(), (((2, 3, 3), matrices),)),
    "inverse-adjoint": (Inverting(Solving(Matrix(adjoint=True))), (((2, 3, 3), matrices),)),
    "solution": (Solving(), (((2, 3, 3), matrices), ((2, 3, 2), plain))),
    "solution-adjoint": (Solving(Matrix(adjoint=True)), (((2, 3, 3), matrices), ((2, 3, 2), plain))),
    "lower": (Solving(Matrix("lower")), (((2, 3, 3), triangular), ((3, 2), plain))),
    "upper-adjoint": (Solving(Matrix("upper", adjoint=True)), (((3, 3), triangular), ((2, 3, 2), plain))),
    "determinant": (Determinant(), (((2, 3, 3), matrices),)),
    "log-determinant": (LogDeterminant(), (((2, 3, 3), matrices),)),
    "cholesky": (Cholesky(), (((2, 3, 3), definite),)),
    "bands": (Solving(Bands()), (((2, 3, 4), dominant), ((2, 4, 2), plain))),
    "product": (TridiagonalProduct(), (*((((2, 1, 4)), plain),) * 3, ((2, 4, 2), plain))),
}


@pytest.fixture(params=[False, True], ids=["real", "complex"])
def dtype(request):
    return WIDE[request.param]


def inputs(name, dtype):
    draw = Draw(11)
    return [make(draw, dtype, *shape) for shape, make in PROMISES[name][1]]


def inner(x, y):
    return float(np.sum(np.conj(x) * y).real)


def directions(xs, dtype, name):
    """Directions of change; those of Hermitian matrices are Hermitian."""
    draw = Draw(12)
    ts = [draw.values(dtype, *x.shape) for x in xs]
    return [(t + np.conj(np.swapaxes(t, -1, -2))) / 2 for t in ts] if name == "cholesky" else ts


def difference(function, xs, ts):
    """The derivative of a function along ts, by differences of long doubles."""
    h = np.longdouble(2.0) ** -20
    plus, minus = ([x + s * h * t for x, t in zip(xs, ts, strict=True)] for s in (1, -1))
    return (function(*plus) - function(*minus)) / (2 * h)


@pytest.mark.parametrize("name", PROMISES)
def test_derivatives_agree_with_differences(name, dtype):
    promise, xs = PROMISES[name][0], inputs(name, dtype)
    ts = directions(xs, dtype, name)
    y = promise.f(*xs)
    g = Draw(13).values(dtype, *y.shape)
    change = difference(promise.f, xs, ts)
    assert np.allclose(promise.jvp(ts, *xs).astype(dtype), change.astype(dtype), rtol=1e-8, atol=1e-8)
    total = sum(inner(d, t) for d, t in zip(promise.vjp(g, *xs), ts, strict=True))
    assert total == pytest.approx(inner(g, change), rel=1e-8)
    for i, second in enumerate(promise.hvp(g, ts, *xs)):
        expected = difference(lambda *moved, i=i: promise.vjp(g, *moved)[i], xs, ts)
        assert np.allclose(second.astype(dtype), expected.astype(dtype), rtol=1e-7, atol=1e-7)


NUMPY = {
    "inverse": np.linalg.inv,
    "solution": np.linalg.solve,
    "determinant": np.linalg.det,
    "log-determinant": lambda a: np.stack(np.linalg.slogdet(a)),
    "cholesky": np.linalg.cholesky,
    "lower": lambda a, b: np.linalg.solve(np.tril(a), np.broadcast_to(b, (2, 3, 2))),
    "upper-adjoint": lambda a, b: np.linalg.solve(np.triu(a).conj().T, b),
}


@pytest.mark.parametrize("name", NUMPY)
def test_results_are_those_of_numpy(name, dtype):
    xs = inputs(name, dtype)
    assert np.allclose(PROMISES[name][0].f(*xs).astype(dtype), NUMPY[name](*xs), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", NUMPY)
def test_float32_is_within_the_errors_and_a_change_is_not(name, dtype):
    narrow = np.dtype("complex64" if dtype.kind == "c" else "float32")
    promise, xs = PROMISES[name][0], [x.astype(narrow) for x in inputs(name, dtype)]
    exact, errors = promise.f(*xs).astype(dtype), promise.error(FLOAT32, *xs)
    result = NUMPY[name](*xs).astype(dtype)
    assert (np.abs(result - exact) <= errors).all()
    assert (np.abs(result * (1 + 2e-4) - exact) > errors).any()


def test_pivots_are_the_largest_numbers_of_their_columns():
    a = inputs("inverse", WIDE[False])[0]
    order, lower, upper = lu(a)
    assert np.allclose(np.take_along_axis(a, order[..., None], axis=-2), (lower @ upper).astype(float), atol=1e-15)
    assert np.abs(lower).max() <= 1


def test_a_singular_matrix_has_a_gradient_of_its_determinant():
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    assert Determinant().f(a) == 0
    assert np.array_equal(Determinant().vjp(np.array(3.0), a)[0], [[12, -6], [-6, 3]])


def test_nothing_is_rounded_in_the_inverse_of_powers_of_two():
    a = np.array([[0.0, 4.0], [-0.5, 0.0]])
    assert not (Inverting().error(FLOAT32, a) - FLOAT32 * np.abs(np.linalg.inv(a))).any()


def test_a_number_outside_of_a_triangle_is_not_used():
    a = np.array([[2.0, np.nan], [1.0, 4.0]])
    assert np.array_equal(Solving(Matrix("lower")).f(a, np.array([[2.0], [9.0]])), [[1], [2]])
