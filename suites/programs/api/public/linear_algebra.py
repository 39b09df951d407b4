"""Functions of `tf.linalg`."""

from typing import Any, NamedTuple

from tf_opdiff.suites.forms.programs.public import Public, twins
from tf_opdiff.suites.ops.array.layouts import diagonals, diagonals_set, layout
from tf_opdiff.suites.ops.linalg import (
    cholesky,
    determinant,
    inverse,
    lu,
    orthogonal,
    self_adjoint,
    singular,
    triangular,
    tridiagonal,
)
from tf_opdiff.suites.ops.math.products import cross, einsum, matmul


class _Eigen(NamedTuple):
    """The outputs of `SelfAdjointEigV2`."""

    e: Any
    v: Any


def _eigh(f, input, compute_v=True):
    return _Eigen(*f(input))


def _eigvalsh(f, input, compute_v=True):
    return _Eigen(f(input), None)


def _svd(f, input, full_matrices=False, compute_uv=True):
    values = f(input, full_matrices, compute_uv)
    return values if compute_uv else (values, None, None)


def _lu(f, input, output_idx_type=None):
    return f(input) if output_idx_type is None else f(input, output_idx_type)


def _of_diagonals(f, superdiag, maindiag, subdiag, rhs):
    """The product of a matrix of three diagonals: the raw op takes each of them as a matrix of one row."""
    return f([x[..., 0, :] for x in (superdiag, maindiag, subdiag)], rhs, diagonals_format="sequence")


def _product(f, transpose_a=False, transpose_b=False, adj_x=False, adj_y=False, **operands):
    return f(*operands.values(), transpose_a, transpose_b, adj_x, adj_y)


SPECS = (
    *twins(diagonals, Public("linalg.band_part", of="matrix-band-part")),
    *twins(
        diagonals_set,
        Public(
            "linalg.set_diag",
            of="matrix-set-diag-v3",
            call=lambda f, input, diagonal, k, align: f(input, diagonal, k=k, align=align),
        ),
    ),
    *twins(layout, Public("linalg.tensor_diag", of="diag")),
    *twins(cholesky, "linalg.cholesky"),
    *twins(
        determinant,
        Public("linalg.det", of="matrix-determinant"),
        Public("linalg.slogdet", of="log-matrix-determinant"),
    ),
    *twins(inverse, Public("linalg.inv", of="matrix-inverse"), Public("linalg.solve", of="matrix-solve")),
    *twins(lu, Public("linalg.lu", call=_lu)),
    *twins(orthogonal, Public("linalg.qr", of=("qr", "qr-properties"))),
    *twins(
        self_adjoint,
        Public("linalg.eigh", of=("self-adjoint-eig-v2", "self-adjoint-eig-v2-vectors"), call=_eigh),
        Public("linalg.eigvalsh", of="self-adjoint-eig-v2", call=_eigvalsh),
    ),
    *twins(singular, Public("linalg.svd", of=("svd", "svd-vectors"), call=_svd)),
    *twins(triangular, Public("linalg.triangular_solve", of="matrix-triangular-solve")),
    *twins(
        tridiagonal,
        Public("linalg.tridiagonal_matmul", call=_of_diagonals),
        Public(
            "linalg.tridiagonal_solve",
            of=("tridiagonal-solve", "tridiagonal-solve-thomas"),
            call=lambda f, diagonals, rhs, partial_pivoting: f(diagonals, rhs, partial_pivoting=partial_pivoting),
        ),
    ),
    *twins(cross, "linalg.cross"),
    *twins(einsum, Public("linalg.einsum", call=lambda f, inputs, equation: f(equation, *inputs))),
    *twins(matmul, Public("linalg.matmul", of=("matmul", "batch-matmul-v2"), call=_product)),
)
