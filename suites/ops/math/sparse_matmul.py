"""SparseMatMul: products of matrices of float32 and bfloat16, in float32; hints say which one has many zeros."""

from typing import Any

import numpy as np

from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.reference.promises.accumulation import gamma

#: Unit round-off of float32, in which sums are taken.
_UNIT = 2.0**-24
_FLAGS: dict[str, dict[str, bool]] = {
    "plain": {},
    "left": {"transpose_a": True, "a_is_sparse": True},
    "right": {"transpose_b": True, "b_is_sparse": True},
    "both": {"transpose_a": True, "transpose_b": True, "a_is_sparse": True, "b_is_sparse": True},
    "sparse": {"a_is_sparse": True, "b_is_sparse": True},
}


def _turned(x: Any, turned: bool) -> Any:
    return x.T if turned else x


def _product(a: Any, b: Any, **flags: bool) -> Any:
    """The product in float64."""
    left, right = (_turned(x, flags.get(f"transpose_{name}", False)) for x, name in ((a, "a"), (b, "b")))
    return np.asarray(left, np.float64) @ np.asarray(right, np.float64)


def _bound(u: float, g: Any, a: Any, b: Any, **flags: bool) -> Any:
    """To add a term that is 0 takes no rounding."""
    count = _product(a != 0, b != 0, **flags)
    return gamma(count, _UNIT) * _product(np.abs(a), np.abs(b), **flags) + _UNIT * np.abs(_product(a, b, **flags))


def _vjp(g: Any, a: Any, b: Any, **flags: bool) -> Any:
    left, right = flags.get("transpose_a", False), flags.get("transpose_b", False)
    by_a, by_b = g @ _turned(b, right).T, _turned(a, left).T @ g
    return _turned(by_a, left), _turned(by_b, right)


def _grad_bound(number: int) -> Any:
    def bound(u: float, g: Any, a: Any, b: Any, **flags: bool) -> Any:
        sizes = _vjp(np.abs(g), np.abs(a), np.abs(b), **flags)[number]
        count = _vjp(*((x != 0).astype(np.float64) for x in (g, a, b)), **flags)[number] + 2
        return gamma(count, _UNIT) * sizes + u * np.abs(_vjp(g, a, b, **flags)[number])

    return bound


def _matrices(m: int, k: int, n: int, zeros: float = 0.0) -> Any:
    """A recipe: square enough matrices that they fit whether they are turned or not, if all sizes are equal."""

    def recipe(draw: Any, dtype: Any) -> Any:
        a, b = draw.values(dtype, m, k), draw.values(dtype, k, n)
        empty = (draw.uniform(m, k, low=0, high=1) < zeros), (draw.uniform(k, n, low=0, high=1) < zeros)
        return np.where(empty[0], 0, a).astype(dtype), np.where(empty[1], 0, b).astype(dtype)

    return recipe


SPECS = op(
    "sparse-mat-mul",
    "SparseMatMul",
    part(
        recipes={
            "square": _matrices(7, 7, 7),
            "zeros": _matrices(13, 13, 13, 0.7),
            "tiles": _matrices(67, 67, 67, 0.5),
        },
        attrs=_FLAGS,
        vjp=_vjp,
    ),
    part(
        "-shapes",
        recipes={"odd": _matrices(3, 7, 5), "row": _matrices(1, 9, 3), "long": _matrices(3, 300, 5, 0.7)},
        vjp=_vjp,
    ),
    small({"one": _matrices(1, 1, 1), "no_rows": _matrices(0, 2, 3), "no_columns": _matrices(3, 2, 0)}),
    part(
        "-unfit",
        recipes={"terms": lambda draw, d: (draw.values(d, 3, 5), draw.values(d, 4, 3))},
        lowest_tier=True,
        **WHEN_BUILT,
    ),
    part(
        "-mixed",
        program=lambda tf, a, b, **flags: tf.raw_ops.SparseMatMul(a=tf.cast(a, tf.bfloat16), b=b, **flags),
        recipes={"whole": lambda draw, d: (draw.integers(5, 5, low=-8, high=9).astype(d), draw.values(d, 5, 5))},
        attrs={label: _FLAGS[label] for label in ("plain", "sparse")},
        dtypes=("float32",),
    ),
    arguments=("a", "b"),
    reference=lambda a, b, **flags: _product(a, b, **flags).astype(np.float32),
    bound={"output": _bound, "grad[0]": _grad_bound(0), "grad[1]": _grad_bound(1)},
    dtypes={"float32": "default", "bfloat16": "full"},
)
