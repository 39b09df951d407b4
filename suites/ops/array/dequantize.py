"""Dequantize: the numbers that the steps of a range stand for; NumPy has the steps as integers."""

from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.array_ops.quantized import of_bits
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part

#: The lower and the upper end of a range whose steps of any number of bits meet 0.
_ENDS = (-1.5, 3.0)
#: The ends of the ranges of three slices.
_SLICES = ([-1.5, -3.0, 0.0], [3.0, 6.0, 2.0])
#: Unit round-off of float32, in which all results are computed.
_UNIT = 2.0**-24
#: Smaller sums with the lower end cancel, and keep less than half of their digits: no input has such a sum.
_CANCELS = 2.0**-8


def _meant(q, mode="MIN_COMBINED", narrow_range=False, ends=_ENDS):
    """The numbers that the steps of a range stand for, as the documentation of Dequantize has it."""
    info, (low, high) = np.iinfo(q.dtype), ends
    if mode != "SCALED":
        return low + (q - float(info.min)) * ((high - low) / (float(info.max) - info.min))
    down = 0.0 if not info.min else low / (info.min + narrow_range)
    return q * np.maximum(down, high / info.max)


def _dequantized(tf, q, ends=_ENDS, **attrs):
    low, high = (tf.constant(end, tf.float32) for end in ends)
    return tf.raw_ops.Dequantize(input=of_bits(tf, q), min_range=low, max_range=high, **attrs)


def _all_steps(draw, dtype):
    """A recipe: the ends of the range of a dtype, and steps all over it, but none whose number is next to 0."""
    info = np.iinfo(dtype)
    steps = np.concatenate([[info.min, info.max, 0], draw.bits(29).astype(dtype)]).astype(dtype)
    return (np.where(np.abs(_meant(steps)) < _CANCELS, info.max, steps).astype(dtype),)


def _close(u, g, q, mode="MIN_COMBINED", ends=_ENDS, **attrs):
    """Of a product, the scale, the product, and the rounded reference; of a sum, also the operands and their sum."""
    want, low = _meant(q, mode, ends=ends, **attrs), ends[0]
    if mode == "SCALED":
        return 4 * _UNIT * np.abs(want)
    return _UNIT * (4 * (np.abs(want - low) + abs(low)) + 2 * np.abs(want))


_STEPS = {"all": _all_steps}
_NO_MODE = {
    "*/xla": Side(
        reference=raises("INVALID_ARGUMENT", "must be 'MIN_COMBINED'"),
        why="XLA implements one mode of three, and says so",
        link="https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/compiler/tf2xla/kernels/dequantize_op.cc",
    )
}
_BFLOAT16: dict[str, Any] = {
    "program": lambda tf, q, **attrs: _dequantized(tf, q, dtype=tf.bfloat16, **attrs),
    "reference": lambda q, **attrs: _meant(q, **attrs).astype(ml_dtypes.bfloat16),
    "ulp": {"output": 1},
}

SPECS = op(
    "dequantize",
    "Dequantize",
    part(recipes=_STEPS, attrs={"combined": {}, "narrow": {"narrow_range": True}}),
    part("-bfloat16", recipes=_STEPS, **_BFLOAT16),
    part(
        "-modes",
        recipes=_STEPS,
        attrs={
            "first": {"mode": "MIN_FIRST"},
            "scaled": {"mode": "SCALED"},
            "scaled_narrow": {"mode": "SCALED", "narrow_range": True},
        },
        contract=_NO_MODE,
    ),
    part(
        "-axis",
        program=lambda tf, q: _dequantized(tf, q, _SLICES, axis=1, mode="SCALED"),
        reference=lambda q: _meant(q, "SCALED", ends=np.array(_SLICES)).astype(np.float32),
        recipes={"slices": lambda draw, d: (draw.bits(5, 3).astype(d),)},
        bound={"output": lambda u, g, q: _close(u, g, q, "SCALED", np.array(_SLICES))},
        modes=WITHOUT_XLA,  # XLA has no axis
    ),
    part("-wide", recipes=_STEPS, dtypes=("int32", "int16", "uint16"), modes=WITHOUT_XLA),
    small({"none": lambda draw, d: (np.zeros((0, 3), d),), "one": lambda draw, d: (np.full((1,), 7, d),)}),
    program=_dequantized,
    reference=lambda q, **attrs: _meant(q, **attrs).astype(np.float32),
    bound={"output": _close},
    dtypes=("int8", "uint8"),
)
