"""Select: `tf.where` with three arguments (SelectV2, broadcasting) and v1 Select (a vector picks rows).

An upstream goes to the chosen side, zeros go to the other, nothing to the condition. A dead branch can't leak into the
output, but may leak into the gradient: its VJP is fed zeros, and 0 × inf is NaN
(https://www.tensorflow.org/api_docs/python/tf/where), unless its input is made safe as well (the double where).
"""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, SIZE, edges, is_float, subnormals
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.derived.sizes import alike
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, OF_XLA
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.recipes.hard_pairs import crossed_upstreams
from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast


def rows(c, x):
    """v1 Select: a condition of rank 1 picks along the first axis."""
    return c.reshape(c.shape + (1,) * (np.ndim(x) - np.ndim(c)))


def split(g, c, x, y):
    """The upstream for either side, summed over what was broadcast; none for the condition, nor for integers."""
    if x.dtype.kind in "iub":
        return None, None, None
    return None, unbroadcast(np.where(c, g, 0), x.shape), unbroadcast(np.where(c, 0, g), y.shape)


def _sides(c, x, y=None):
    """A recipe: a mixed condition and two sides of these shapes."""
    return lambda draw, d: (draw.booleans(*c), draw.values(d, *x), draw.values(d, *(x if y is None else y)))


def _scalar(chosen, x, y=None):
    """A recipe with a condition of rank 0."""
    return lambda draw, d: (np.array(chosen), draw.values(d, *x), draw.values(d, *(x if y is None else y)))


def nasty(draw, dtype):
    """Edge values, subnormals too, on both sides, rolled so that one side's NaN faces the other's number."""
    values = edges(draw, dtype)[0]
    if is_float(dtype):
        values = np.concatenate([values[:29], subnormals(draw, dtype)[0][: SIZE - 29]])
    return draw.booleans(values.size), values, np.roll(values, 7)


def dead(draw, dtype):
    """A recipe: on either side, NaN or inf stands where the condition rejects it."""
    c, bad = draw.booleans(SIZE), np.resize(np.array([np.nan, np.inf, -np.inf]), SIZE)
    x, y = draw.values(np.dtype("float64"), SIZE), draw.values(np.dtype("float64"), SIZE)
    return c, np.where(c, x, bad).astype(dtype), np.where(c, bad, y).astype(dtype)


def around_zero(draw, dtype):
    """A recipe: powers of four, whose roots, reciprocals and VJPs are exact, and inf; and dead numbers."""
    x = 4.0 ** draw.integers(SIZE, low=-3, high=4) * np.where(draw.booleans(SIZE), 1, -1)
    x[[3, 11, 20, 33, 40, 66]] = 0.0, -0.0, np.nan, np.inf, -np.inf, 0.0
    return (x.astype(dtype),)


_SAME = {"edges": nasty, "plain": _sides((SIZE,), (SIZE,))}
_ROWS = {"rows": _sides((5,), (5, 3)), "true": _scalar(True, (5, 3)), "false": _scalar(False, (5, 3))}
_SHAPES = {"scalar": _sides((), ()), "empty": _sides((0, 3), (0, 3)), "planes": _sides((3,), (3, 2, 5))}
#: Sides without elements or with one, of one shape, then broadcast. v1 broadcasts nothing but a vector of rows.
_ALIKE = {name: _sides(*shapes) for name, shapes in alike(2).items()} | {"no_rows_of_many": _sides((0,), (0, 3))}
_SIZES = {
    **_ALIKE,
    "no_rows_of_many": _sides((0, 1), (0, 3)),
    "one_with_none": _sides((1,), (0,)),
    "scalar_with_no_rows": _sides((), (0, 3), ()),
    "column_with_none": _sides((3, 1), (3, 0), (1, 1)),
    "planes_with_empty_inside": _sides((2, 1, 1), (1, 0, 2), (1, 1, 1)),
}
_FLAT = {k: _SHAPES[k] for k in ("scalar", "empty")}
_WIDE = {"both": _sides((4, 1), (1, 17), (4, 17)), "rank": _sides((2, 1, 3), (5, 1), (3,))}
_BROADCAST = {
    "columns": _sides((3,), (3, 3), (3, 1)),
    "constant": _sides((SIZE,), (SIZE,), ()),
    "grown": _sides((3, 5), (), (1,)),
    "none": _sides((0, 1), (1, 3), ()),
    "true": _scalar(True, (3, 5), (5,)),
    "false": _scalar(False, (3, 5), (5,)),
}
_ALL = (*FLOATS, *COMPLEX, *INTEGERS, "bool")


def _sum_bound(side):
    """(n - 1)·u·Σ|g| for the n terms that broadcasting sums up, in any order: nothing where there is one."""

    def bound(u, g, c, x, y):
        chosen = np.where(np.broadcast_to(c if side == 1 else ~c, np.shape(g)), np.abs(g), 0)
        terms = np.size(g) // max(1, np.size((c, x, y)[side]))
        return (terms - 1) * u * unbroadcast(chosen, np.shape((c, x, y)[side]))

    return bound


#: The bounds of the gradients of sides that are broadcast.
_SUMS = {f"grad[{side}]": _sum_bound(side) for side in (1, 2)}


def _around_dead(raw, *, program, value, vjp, ulp=None, contract=None):
    """Parts: where(x > 0, f(x), 0): as `where-dead-OP`, and, with the input of f made safe too, as `where-double-OP`.

    Args:
      raw: the OpDef of f.
      program: f of (tf, x).
      value, vjp: the same in NumPy, and its VJP of (g, x).
      ulp: budgets, as in `Spec`.
      contract: of where-dead-OP, as in `Spec`.
    """
    common: dict[str, Any] = {
        "reference": lambda x: np.where(x > 0, value(x), 0),
        "vjp": lambda g, x: np.where(x > 0, vjp(g, x), 0),  # nothing where x is dead
        "recipes": {"around_zero": around_zero},
        "ops": f"SelectV2;{raw}",
        "dtypes": FLOATS,
        "ulp": ulp or {},
    }

    def double(tf, x):
        return tf.where(x > 0, program(tf, tf.where(x > 0, x, tf.ones_like(x))), tf.zeros_like(x))

    return (
        part(
            f"-dead-{raw.lower()}",
            program=lambda tf, x: tf.where(x > 0, program(tf, x), tf.zeros_like(x)),
            contract=contract or {},
            **common,
        ),
        part(f"-double-{raw.lower()}", program=double, **common),
    )


#: What a spec says that promises that shapes do not fit.
_REFUSED: dict[str, Any] = {**WHEN_BUILT, "vjp": None}
#: The parts of strings, and of dtypes for which XLA alone has a kernel.
_STRINGS = part(
    "-string",
    recipes=_FLAT | {"plain": _SAME["plain"]},
    vjp=None,
    dtypes=("object",),
    # XLA has no strings, and asked twice it aborts: https://github.com/tensorflow/tensorflow/issues/120244.
    modes=WITHOUT_XLA,
)
_OF_XLA = part(
    "-of-xla",
    recipes={"sides": _sides((67,), (67,))},
    vjp=None,
    dtypes=(*FLOAT8_OF_CPU, *OF_XLA),
    modes=("xla",),
    tier="full",
)


def _values(recipes, *second_order):
    """A part: values and gradients in all dtypes."""
    return part(
        recipes=recipes | {"upstreams": nasty},
        upstreams={"upstreams": crossed_upstreams},
        dtypes=_ALL,
        linear=linear(*second_order, moving=(1, 2)),
    )


SPECS = (
    *op(
        "select",
        "Select",
        _values(_SAME | _ROWS, "plain"),
        small(_ALIKE),
        part("-shapes", recipes=_SHAPES),
        part(
            "-broadcast",  # v1 does not broadcast
            recipes={"sides": _sides((3,), (3, 3), (3, 1)), "columns": _sides((5,), (3, 5))},
            **_REFUSED,
        ),
        _STRINGS,
        _OF_XLA,
        program=lambda tf, c, x, y: tf.compat.v1.where(c, x, y),
        reference=lambda c, x, y: np.where(rows(c, x), x, y),
        vjp=lambda g, c, x, y: split(g, rows(c, x), x, y),
    ),
    *op(
        "where",
        "SelectV2",
        _values(_SAME, "plain", "edges"),
        small(_SIZES),
        part("-shapes", recipes=_FLAT),
        part("-broadcast-float", recipes=_WIDE, dtypes=(*FLOATS, *COMPLEX), bound=_SUMS),
        part("-broadcast-integer", recipes=_WIDE, dtypes=(*INTEGERS, "bool")),
        part("-broadcast-shapes", recipes=_BROADCAST, bound=_SUMS),
        part("-dead", recipes={"dead": dead}, dtypes=FLOATS, tier="smoke"),
        *_around_dead(
            "Log",
            program=lambda tf, x: tf.math.log(x),
            value=np.log,
            vjp=lambda g, x: g * (1 / x),
            ulp={"output": 1, "grad": {"float32": 2.5}},  # CUDA C++ Programming Guide, mathematical functions
            contract={
                "*/*": Side(
                    reference=lambda x: np.where(x > 0, np.log(x), 0),
                    vjp=lambda g, x: np.where(x > 0, g, 0) * (1 / x),  # zeros go in where x is dead, and meet 1 / x
                    why="the gradient of log multiplies the zeros for the dead side by 1 / x, which the documentation "
                    "of where warns of",
                    link="https://www.tensorflow.org/api_docs/python/tf/where",
                )
            },
        ),
        # The gradients of reciprocal and sqrt are kernels that keep to 0 where the upstream is 0. Eigen approximates
        # the reciprocal of float32, also of powers of two: 2.5 ULPs (OpenCL C 3.0, section 7.4), once or twice in a
        # gradient.
        *_around_dead(
            "Reciprocal",
            program=lambda tf, x: tf.math.reciprocal(x),
            value=lambda x: 1 / x,
            vjp=lambda g, x: -g / x / x,
            ulp={"output": {"float32": 2.5}, "grad": {"float32": 5}},
        ),
        *_around_dead("Sqrt", program=lambda tf, x: tf.sqrt(x), value=np.sqrt, vjp=lambda g, x: g * 0.5 / np.sqrt(x)),
        part(
            "-incompatible", recipes={"sides": _sides((4,), (4,), (3,)), "condition": _sides((3,), (2, 5))}, **_REFUSED
        ),
        _STRINGS,
        _OF_XLA,
        program=lambda tf, c, x, y: tf.where(c, x, y),
        reference=np.where,
        vjp=split,
    ),
)
