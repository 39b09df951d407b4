"""Faults of products of matrices and of linear algebra."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.faults.arithmetic import product_in, short, wide
from bench.planter import Fault

_TILE = 64


def _turned(x: np.ndarray, flag: bool, *, conjugate: bool = False) -> np.ndarray:
    """A matrix, transposed if the flag says so."""
    if not flag:
        return x
    return np.conj(np.swapaxes(x, -1, -2)) if conjugate else np.swapaxes(x, -1, -2)


def _tf32(x: np.ndarray) -> np.ndarray:
    """float32 with 10 bits behind the point, rounded to the nearest."""
    bits = x.view(np.uint32) + np.uint32(0x1000)
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)


def _rounded_inputs(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, **_: Any) -> Any:
    if a.dtype != np.float32:
        return None
    return wide(_turned(_tf32(a), transpose_a)) @ wide(_turned(_tf32(b), transpose_b))


def _sums_of_16_bits(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, **_: Any) -> Any:
    return product_in(_turned(a, transpose_a), _turned(b, transpose_b), a.dtype) if short(a) else None


def _second_tile(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, **_: Any) -> Any:
    product = wide(_turned(a, transpose_a)) @ wide(_turned(b, transpose_b))
    product[:, _TILE : 2 * _TILE] = 0
    return product


def _not_conjugated(x: Any, y: Any, adj_x: bool = False, adj_y: bool = False) -> Any:
    return wide(_turned(x, adj_x)) @ wide(_turned(y, adj_y))


def _rounded_first(x: Any, y: Any, Tout: Any = None, adj_x: bool = False, adj_y: bool = False) -> Any:  # noqa: N803
    product = wide(_turned(x, adj_x, conjugate=True)) @ wide(_turned(y, adj_y, conjugate=True))
    return product.astype(x.dtype)


def _not_summed(g: Any, x: Any, y: Any, adj_x: bool = False, adj_y: bool = False, **_: Any) -> Any:
    by_y = np.conj(np.swapaxes(wide(_turned(x, adj_x, conjugate=True)), -1, -2)) @ wide(g)
    by_y = _turned(by_y, adj_y, conjugate=True)
    return {"y": by_y} if by_y.shape != y.shape else None


def _taken_once(inputs: Any, equation: str) -> Any:
    left, right = equation.replace("...", "").split("->")
    operands, labels = [wide(x) for x in inputs], left.split(",")
    if len(operands) < 2 or all(len(set(own)) == len(own) for own in labels):
        return None
    for n, one in enumerate(labels):
        own = one
        for label in set(one):
            while own.count(label) > 1:  # the first element along its further axes
                at = own.rindex(label)
                operands[n], own = np.take(operands[n], 0, axis=at), own[:at] + own[at + 1 :]
        labels[n] = own
    return np.einsum(f"{','.join(labels)}->{right}", *operands)


def _falling(input: Any, compute_v: bool = True) -> Any:
    if input.shape[-1] == 0:
        return None
    # The op reads the lower triangle.
    lower = wide(np.tril(np.nan_to_num(input)))
    whole = lower + np.conj(np.swapaxes(np.tril(lower, -1), -1, -2))
    e, v = np.linalg.eigh(whole)
    return [e[..., ::-1], v[..., ::-1].astype(input.dtype)]


def _wrong_from_33(matrix: Any, rhs: Any, adjoint: bool = False) -> Any:
    if matrix.shape[-1] < 33:
        return None
    x = np.linalg.solve(wide(_turned(matrix, adjoint, conjugate=True)), wide(rhs))
    x[..., 32:, :] = rhs[..., 32:, :]
    return x


MATRICES = (
    Fault("MatMul", "inputs are rounded to TF32", "tensor cores of a GPU, which are on by default", _rounded_inputs),
    Fault("MatMul", "sums of 16 bits in 16 bits", "tensor cores with an accumulator of float16", _sums_of_16_bits),
    Fault("MatMul", "the second tile of 64 columns is wrong", "a kernel in tiles with a wrong offset", _second_tile),
    Fault("BatchMatMul", "the adjoint without the conjugate", "a call of BLAS with T in place of C", _not_conjugated),
    Fault(
        "BatchMatMulV3",
        "the gradient by y is not summed over broadcast batches",
        "a registered gradient that forgets to broadcast",
        _not_summed,
        gradient=True,
    ),
    Fault(
        "BatchMatMulV3",
        "Tout is wider than T, and the result is rounded to T first",
        "a kernel that casts the result of the narrow product",
        _rounded_first,
    ),
    Fault(
        "Einsum",
        "a repeated label next to a second operand is taken once",
        "a wrapper that hands equations to a library of tensor contractions",
        _taken_once,
    ),
    Fault("SelfAdjointEigV2", "eigenvalues in falling order", "a solver with the other order", _falling),
    Fault("MatrixSolve", "wrong from n = 33 on", "a kernel with a warp for each matrix", _wrong_from_33),
)
