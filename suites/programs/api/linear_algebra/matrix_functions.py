"""Functions of `tf.linalg` that Python composes of several ops, or whose op has no spec of its own.

The matrices are near twice the identity, so that their condition is small, and an error is a few units of the largest
number in a result.
"""

import numpy as np
import scipy.linalg

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.programs.linear import linear

#: The number of rows, and the largest error of a result in units of its largest number.
_N, _UNITS = 4, 256
#: The row of a matrix that each row of the product of its factors is.
_ORDER = [2, 0, 3, 1]


def _each(f):
    """The function of each matrix of a batch."""
    return lambda a: np.stack([f(matrix) for matrix in a])


def _near(draw, dtype):
    """A recipe: matrices near twice the identity."""
    return ((draw.uniform(2, _N, _N, low=-0.5, high=0.5) + 2 * np.eye(_N)).astype(dtype),)


def _definite(draw, dtype):
    """A recipe: symmetric matrices near twice the identity."""
    a = draw.uniform(2, _N, _N, low=-0.25, high=0.25).astype(dtype)
    return ((a + np.swapaxes(a, -1, -2) + 2 * np.eye(_N)).astype(dtype),)


def _with_columns(matrices):
    """A recipe: matrices, and two columns for each."""
    return lambda draw, dtype: (*matrices(draw, dtype), draw.uniform(2, _N, 2, low=-2, high=2).astype(dtype))


def _call(name, program, reference, **fields):
    """A call whose result is off by a few units of its largest number."""

    def error(u, *xs):
        y = reference(*xs)
        return _UNITS * u * np.max(np.abs(y)) * np.ones(np.shape(y))

    return Call(name=name, program=program, reference=reference, error=error, signed=False, **fields)


def _factored(name, reference):
    """A call with the factors of two matrices in one, and the places of the rows of their product."""
    last = name.rpartition(".")[2]
    return _call(name, lambda tf, a, *bs: getattr(tf.linalg, last)(a, tf.constant([_ORDER] * 2), *bs), reference)


def _product(a):
    """The matrix whose row `_ORDER[i]` is row i of the product of the factors, the lower of which has ones inside."""
    rows = (np.tril(a, -1) + np.eye(_N)) @ np.triu(a)
    return rows[:, np.argsort(_ORDER)]


def _banded(a):
    """The lower triangle with one diagonal below the main one."""
    return np.tril(a) - np.tril(a, -2)


def _bands(tf, a):
    """The rows of the bands: the main diagonal, and the one below it."""
    below = tf.linalg.diag_part(a[:, 1:, :-1])
    return tf.stack([tf.linalg.diag_part(a), tf.pad(below, [[0, 0], [1, 0]])], 1)


def _eig(tf, a):
    """The product of the eigenvectors, the eigenvalues and the inverse of the eigenvectors."""
    e, v = tf.linalg.eig(a)
    return tf.math.real(tf.matmul(v * e[..., None, :], tf.linalg.inv(v)))


def _moments(tf, a):
    """The sums of the eigenvalues and of their squares, whose order is open."""
    e = tf.linalg.eigvals(a)
    return tf.math.real(tf.reduce_sum(tf.stack([e, e * e]), -1))


def _logm(tf, a):
    return tf.math.real(tf.linalg.logm(tf.cast(a, "complex64")))


def _normalized(a):
    norm = np.sqrt(np.sum(a * a, axis=-1, keepdims=True))
    return a / norm, norm


SPECS = (
    *calls(
        "api-linalg-linear",
        linear("linalg.trace", lambda tf, a: tf.linalg.trace(a), lambda a: np.trace(a, axis1=-2, axis2=-1)),
        linear("linalg.eye", lambda tf, a: a * tf.linalg.eye(_N, batch_shape=[2]), lambda a: a * np.eye(_N)),
        recipes={"near": _near},
        ops="MatrixDiagPartV3;Mul",
    ),
    *calls(
        "api-linalg-matrix-functions",
        _call("linalg.expm", lambda tf, a: tf.linalg.expm(a), _each(scipy.linalg.expm)),
        Call(
            name="linalg.matrix_rank",
            program=lambda tf, a: tf.linalg.matrix_rank(a),
            reference=lambda a: np.linalg.matrix_rank(a).astype(np.int32),
        ),
        _call(
            "linalg.global_norm",
            lambda tf, a: tf.linalg.global_norm([a, a[0]]),
            lambda a: np.sqrt(np.sum(a * a) + np.sum(a[0] * a[0])),
        ),
        Call(
            name="linalg.normalize",
            program=lambda tf, a: tf.linalg.normalize(a, axis=-1),
            reference=_normalized,
            error=lambda u, a: tuple(_UNITS * u * np.abs(y) for y in _normalized(a)),
            outputs=2,
        ),
        recipes={"near": _near, "rank_one": lambda draw, d: (np.ones((2, _N, _N), d) * draw.values(d, 2, 1, 1),)},
        ops="MatrixSolve;Svd",
    ),
    *calls(
        "api-linalg-definite",
        _call("linalg.logdet", lambda tf, a: tf.linalg.logdet(a), lambda a: np.linalg.slogdet(a)[1]),
        recipes={"definite": _definite},
        ops="Cholesky",
    ),
    *calls(
        "api-linalg-products",
        _call("linalg.matvec", lambda tf, a, b: tf.linalg.matvec(a, b[..., 0]), lambda a, b: (a @ b)[..., 0]),
        _call(
            "linalg.matvec",
            lambda tf, a, b: tf.linalg.matvec(a, b[..., 0], transpose_a=True),
            lambda a, b: (np.swapaxes(a, -1, -2) @ b)[..., 0],
        ),
        _call(
            "linalg.tensordot",
            lambda tf, a, b: tf.linalg.tensordot(a, b, axes=[[0, 2], [0, 1]]),
            lambda a, b: np.tensordot(a, b, ((0, 2), (0, 1))),
        ),
        _call("linalg.tensordot", lambda tf, a, b: tf.linalg.tensordot(a, b[0], 1), lambda a, b: a @ b[0]),
        recipes={"near": _with_columns(_near)},
        arguments=2,
        ops="BatchMatMulV2;MatMul",
    ),
    *calls(
        "api-linalg-eigh-tridiagonal",
        _call(
            "linalg.eigh_tridiagonal",
            lambda tf, d, e: tf.linalg.eigh_tridiagonal(d, e),
            lambda d, e: np.linalg.eigvalsh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1)),
        ),
        recipes={"plain": lambda draw, d: (draw.values(d, 5), draw.values(d, 4))},
        arguments=2,
        ops="Square",
    ),
    *calls(
        "api-linalg-cholesky-solve",
        _call(
            "linalg.cholesky_solve",
            lambda tf, a, b: tf.linalg.cholesky_solve(tf.linalg.cholesky(a), b),
            lambda a, b: np.linalg.solve(a, b),
        ),
        recipes={"definite": _with_columns(_definite)},
        arguments=2,
        ops="Cholesky;MatrixTriangularSolve",
    ),
    *calls(
        "api-linalg-roots",
        _call("linalg.sqrtm", lambda tf, a: tf.linalg.sqrtm(a), _each(lambda a: scipy.linalg.sqrtm(a).real)),
        _call("linalg.logm", _logm, _each(lambda a: scipy.linalg.logm(a).real)),
        _call("linalg.eig", _eig, lambda a: a),
        _call("linalg.eigvals", _moments, lambda a: np.stack([np.trace(x, axis1=-2, axis2=-1) for x in (a, a @ a)])),
        recipes={"near": _near},
        ops="MatrixSquareRoot;MatrixLogarithm;Eig",
        modes=WITHOUT_XLA,
    ),
    *calls(
        "api-linalg-banded",
        _call(
            "linalg.banded_triangular_solve",
            lambda tf, a, b: tf.linalg.banded_triangular_solve(_bands(tf, a), b),
            lambda a, b: np.linalg.solve(_banded(a), b),
        ),
        recipes={"near": _with_columns(_near)},
        arguments=2,
        ops="BandedTriangularSolve",
        modes=WITHOUT_XLA,
    ),
    *calls(
        "api-linalg-factors",
        _factored("linalg.lu_matrix_inverse", lambda a: np.linalg.inv(_product(a))),
        _factored("linalg.lu_reconstruct", _product),
        recipes={"near": _near},
        ops="MatrixTriangularSolve;BatchMatMulV2",
    ),
    *calls(
        "api-linalg-factors-solved",
        _factored("linalg.lu_solve", lambda a, b: np.linalg.solve(_product(a), b)),
        recipes={"near": _with_columns(_near)},
        arguments=2,
        ops="MatrixTriangularSolve",
    ),
)
