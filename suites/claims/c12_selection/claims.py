"""The gradient of a selection: the claims."""

from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, SIZE
from tf_opdiff.harness.spec.spec import Side, Spec
from tf_opdiff.suites.claims.c12_selection import program, reference
from tf_opdiff.suites.claims.c12_selection.topic import TOPIC

WIDE = ("float32", "float64")


def _mixed(draw, dtype):
    return draw.booleans(SIZE), *(draw.values(dtype, SIZE) for _ in range(2))


def _nasty(draw, dtype):
    """NaN and infinities on either side, chosen and not chosen."""
    c, bad = draw.booleans(SIZE), np.array([np.nan, np.inf, -np.inf])
    x, y = draw.values(dtype, SIZE), draw.values(dtype, SIZE)
    x[::2], y[::3] = np.resize(bad, x[::2].size), np.resize(bad, y[::3].size)
    return c, x, y


def _around_zero(draw, dtype):
    """Powers of four of either sign, whose roots and reciprocals are exact, and zeros of either sign."""
    x = 4.0 ** draw.integers(SIZE, low=-3, high=4) * np.where(draw.booleans(SIZE), 1, -1)
    x[[3, 11, 20, 33, 40]] = 0.0, -0.0, 0.0, -0.0, 0.0
    return (x.astype(dtype),)


_LEAKS = "the branch not chosen is differentiated too: where sends it zeros, and 0 · (1/0) is NaN"
#: As for where-dead-log in `suites/ops/array/indexing/select.py`.
_LOG: dict[str, Any] = {"output": 1, "grad": {"float32": 2.5}}

Where = partial(Spec, program=program.select, reference=np.where, vjp=reference.split, ops="SelectV2", dtypes=FLOATS)
Log = partial(
    Spec,
    reference=reference.where_positive(np.log),
    ulp=_LOG,
    recipes={"around_zero": _around_zero},
    ops="SelectV2;Log",
    dtypes=WIDE,
)
Sqrt = partial(
    Spec,
    reference=reference.where_positive(np.sqrt),
    vjp=reference.spared(reference.through_sqrt),
    recipes={"around_zero": _around_zero},
    ops="SelectV2;Sqrt",
    dtypes=WIDE,
)

SPECS = (
    Where(
        name="claim-c12-where",
        recipes={"mixed": _mixed},
        claims=(
            TOPIC.claim(
                "a", "The upstream goes to the side that was chosen, and zeros go to the other.", "grad[1]", "grad[2]"
            ),
            TOPIC.claim("b", "The condition has no gradient: it is None.", "grad[0]"),
        ),
    ),
    Where(
        name="claim-c12-where-values",
        recipes={"nasty": _nasty},
        claims=(
            TOPIC.claim(
                "c",
                "The values of the two sides are not used: NaN and infinities in them do not reach the gradient.",
                "grad",
            ),
        ),
    ),
    Log(
        name="claim-c12-log-where-positive",
        program=program.log_where_positive,
        vjp=reference.through_log,
        claims=(
            TOPIC.claim(
                "d",
                "where(x > 0, log(x), 0) keeps the gradient free of what log does at 0.",
                "grad",
                vjp=reference.spared(lambda g, x: g * (1 / x)),
                refuted={"*/*": _LEAKS},
                instead="claim-c12-log-of-safe",
            ),
        ),
    ),
    Log(
        name="claim-c12-log-of-safe",
        program=program.log_of_safe,
        vjp=reference.spared(lambda g, x: g * (1 / x)),
    ),
    Sqrt(
        name="claim-c12-sqrt-where-positive",
        program=program.sqrt_where_positive,
        contract={
            "*/xla": Side(
                reference=reference.where_positive(np.sqrt),
                vjp=reference.through_sqrt,
                why="XLA composes the gradient of sqrt of multiplications and divisions: 0 · (0.5/0) is NaN",
                link="https://github.com/tensorflow/tensorflow/issues/118674",
            )
        },
        claims=(
            TOPIC.claim(
                "e",
                "where(x > 0, sqrt(x), 0) keeps the gradient free of what sqrt does at 0 and below.",
                "grad",
                refuted={"*/xla": "XLA divides by the root: 0 · (0.5/0) is NaN; the kernel answers 0 with 0"},
                instead="claim-c12-sqrt-of-safe",
            ),
        ),
    ),
    Sqrt(
        name="claim-c12-sqrt-of-safe",
        program=program.sqrt_of_safe,
    ),
)
