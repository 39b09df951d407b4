"""NumPy in TensorFlow's place: `TF` has the functions of `tensorflow` that compositions use, computed by NumPy.

The text of a program, such as `tf.sqrt(tf.square(x))`, is evaluated with `tf` as this object and with each input as a
`Step`. A rewrite of the program, such as |x| for √x², does not give these results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from operator import add
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
from scipy import special

from tf_opdiff.suites.reference.promises.step import Step, cast, exact, gathered, moved, rounded, signed, where


def _power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x^y by C99, annex F.9.4.4: NumPy takes √x for x^0.5, also at -0 and at -inf, if the exponent is a scalar."""
    return np.power(x, np.broadcast_to(y, np.broadcast(x, y).shape).copy())


def _softmax(x: np.ndarray) -> np.ndarray:
    """Along the last axis."""
    shifted = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(shifted / shifted.sum(-1, keepdims=True))


def _log_softmax(x: np.ndarray) -> np.ndarray:
    """Along the last axis."""
    shifted = x - x.max(-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(-1, keepdims=True)))


def _zero_if(condition: Callable[..., Any], f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, y: np.where(condition(x, y), x.dtype.type(0), f(x, y))


def _like(value: float) -> Callable[[Step], Step]:
    return lambda x: Step(np.full_like(x.value, value), None, x.flushing)


def reduced(f: Callable[..., Any]) -> Callable[..., Step]:
    """A reduction that does not round, over one axis, several axes, or all."""

    def step(x: Step, axis: Any = None, keepdims: bool = False) -> Step:
        axes = tuple(axis) if isinstance(axis, list) else axis
        return exact(lambda a: np.asarray(f(a, axis=axes, keepdims=keepdims)).astype(a.dtype))(x)

    return step


def _index_of(f: Callable[..., Any]) -> Callable[..., Step]:
    return lambda x, axis=0: exact(lambda a: np.asarray(f(a, axis=axis)).astype(np.int64))(x)


def _split(a: np.ndarray, sizes: int | Sequence[int], axis: int = 0) -> list[np.ndarray]:
    return np.split(a, sizes if isinstance(sizes, int) else np.cumsum(sizes)[:-1], axis)


def _slice(a: np.ndarray, begin: Sequence[int], size: Sequence[int]) -> np.ndarray:
    return a[tuple(slice(b, None if n == -1 else b + n) for b, n in zip(begin, size, strict=True))]


def _cumsum(a: np.ndarray, axis: int, exclusive: bool) -> np.ndarray:
    """Sums that begin with +0, so that none is -0."""
    sums = np.cumsum(a, axis, a.dtype) + a.dtype.type(0)
    return sums - a if exclusive else sums


def _convolution(x: Step, filters: Step, strides: int, padding: str) -> Step:
    """The convolution of an image (1, n, m, 1) with a filter (a, b, 1, 1), with step 1 and without padding."""
    windows = np.lib.stride_tricks.sliding_window_view(x.value[0, :, :, 0], filters.value.shape[:2])
    return Step(np.einsum("ijab,ab->ij", windows, filters.value[:, :, 0, 0])[None, :, :, None], None, x.flushing)


def _clip(x: Any, low: Any, high: Any) -> Step:
    return exact(np.minimum)(exact(np.maximum)(x, low), high)


#: Ops that round exactly and have NumPy's name.
_SAME_NAME = (
    *("add", "ceil", "divide", "equal", "floor", "greater", "greater_equal", "less", "less_equal", "logical_and"),
    *("logical_not", "logical_or", "maximum", "minimum", "multiply", "not_equal", "sign", "sqrt", "square", "subtract"),
)
_EXACT = {
    **{name: getattr(np, name) for name in _SAME_NAME},
    "divide_no_nan": _zero_if(lambda x, y: np.broadcast_to(y == 0, x.shape), np.divide),
    "is_inf": np.isinf,
    "is_nan": np.isnan,
    "multiply_no_nan": _zero_if(lambda x, y: np.broadcast_to(y == 0, x.shape), np.multiply),
    "round": np.rint,
    "squared_difference": lambda x, y: np.square(x - y),
    "truediv": np.divide,
}
_ROUNDED = {
    **{
        name: getattr(np, name) for name in ("cos", "cosh", "exp", "expm1", "log", "log1p", "reciprocal", "sin", "sinh")
    },
    **{name: getattr(np, name) for name in ("tan", "tanh")},
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "erf": special.erf,
    "pow": _power,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": special.expit,
    "softplus": lambda x: np.logaddexp(x, 0),
}
_MATH = SimpleNamespace(
    **{name: exact(f) for name, f in _EXACT.items()},
    **{name: rounded(f) for name, f in _ROUNDED.items()},
    **{f"reduce_{n}": reduced(getattr(np, n)) for n in ("all", "any", "max", "min", "prod", "sum")},
    abs=signed(np.abs),
    add_n=lambda values: reduce(add, values),
    argmax=_index_of(np.argmax),
    argmin=_index_of(np.argmin),
    conj=signed(np.conj),
    imag=moved(np.imag),
    negative=signed(np.negative),
    real=moved(np.real),
)
_BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift")
_DTYPES = ("float16", "float32", "float64", "complex64", "int8", "int16", "int32", "int64", "uint8", "uint32", "bool")

#: Stands in for the module `tensorflow`.
TF = SimpleNamespace(
    **vars(_MATH),
    math=_MATH,
    **{name: np.dtype(name) for name in _DTYPES},
    bfloat16=np.dtype(ml_dtypes.bfloat16),
    bitwise=SimpleNamespace(**{name: exact(getattr(np, name)) for name in _BITWISE}),
    nn=SimpleNamespace(
        bias_add=exact(np.add),
        conv2d=_convolution,
        log_softmax=rounded(_log_softmax),
        relu=exact(lambda x: np.maximum(x, x.dtype.type(0))),
        relu6=exact(lambda x: np.clip(x, x.dtype.type(0), x.dtype.type(6))),
        softmax=rounded(_softmax),
    ),
    bitcast=lambda x, dtype: Step(x.value.view(dtype), None, x.flushing),
    cast=cast,
    clip_by_value=_clip,
    concat=gathered(np.concatenate),
    cumsum=lambda x, axis=0, exclusive=False: exact(partial(_cumsum, axis=axis, exclusive=exclusive))(x),
    expand_dims=moved(np.expand_dims),
    gather=moved(lambda a, at, axis=0: np.take(a, at, axis)),
    identity=moved(np.asarray),
    matmul=exact(np.matmul),
    ones=lambda shape: Step(np.ones(shape, np.float32)),
    ones_like=_like(1),
    pad=moved(np.pad),
    reshape=moved(np.reshape),
    reverse=moved(lambda a, axis: np.flip(a, tuple(axis))),
    slice=moved(_slice),
    split=moved(_split),
    squeeze=moved(np.squeeze),
    stack=gathered(np.stack),
    stop_gradient=moved(np.asarray),
    tile=moved(np.tile),
    transpose=moved(np.transpose),
    unstack=moved(lambda a: list(a)),
    where=where,
    zeros=lambda shape: Step(np.zeros(shape, np.float32)),
    zeros_like=_like(0),
)
