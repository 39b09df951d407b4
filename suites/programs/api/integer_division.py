"""Quotients and remainders of integers, which Python dispatches by dtype."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls

_SIZE = 67


def _integers(draw, dtype):
    """Dividends and divisors of both signs, both limits among the dividends; no zero divides."""
    info = np.iinfo(dtype)
    x = draw.integers(_SIZE, low=-100 if info.min else 0, high=100).astype(dtype)
    x[:4] = [info.max, info.min, info.max - 1, 0]
    y = draw.integers(_SIZE, low=1, high=12)
    y = np.where(draw.booleans(_SIZE) & bool(info.min), -y, y)
    y[:2] = 3
    return x, y.astype(dtype)


def _true_quotient(target):
    return lambda x, y: (x.astype(np.float64) / y.astype(np.float64)).astype(target)


SPECS = (
    *(
        spec
        for dtype, target in {
            "int8": "float32",
            "int16": "float32",
            "uint8": "float32",
            "int32": "",
            "int64": "",
        }.items()
        for spec in calls(
            f"api-integer-division-{dtype}",
            Call(
                name="math.truediv",
                program=lambda tf, x, y: tf.math.truediv(x, y),
                reference=_true_quotient(target or "float64"),
            ),
            Call(
                name="math.divide_no_nan",
                program=lambda tf, x, y: tf.math.divide_no_nan(x, y),
                reference=_true_quotient(target or "float64"),
            ),
            Call(
                name="math.floordiv",
                program=lambda tf, x, y: tf.math.floordiv(x, y),
                reference=lambda x, y: x // y,
            ),
            Call(
                name="math.floormod",
                program=lambda tf, x, y: tf.math.floormod(x, y),
                reference=lambda x, y: x % y,
            ),
            arguments=2,
            recipes={"integers": _integers},
            ops="RealDiv;DivNoNan;FloorDiv;FloorMod",
            dtypes=(dtype,),
            tier="default" if dtype == "int32" else "full",
        )
    ),
)
