"""Binary arithmetic on integers, bitwise operations and shifts: two's complement, and no gradient but None."""

from typing import Any

import numpy as np

from tf_opdiff.harness.spec.recipes import INTEGERS, bit_patterns, plain
from tf_opdiff.harness.spec.spec import Raises, Side, Spec
from tf_opdiff.suites.references.pairs import crossed, many

_SIGNED = ("int8", "int16", "int32", "int64")


def _none(g, *xs):
    return (None,) * len(xs)


def _program(op, names=("x", "y")):
    return lambda tf, *xs: getattr(tf.raw_ops, op)(**dict(zip(names, xs, strict=True)))


def _width(x):
    return x.dtype.itemsize * 8


def _shifted_left(x, y):
    return (x.view(f"u{x.dtype.itemsize}") << y.view(f"u{x.dtype.itemsize}")).view(x.dtype)


def _truncated(x, y):
    """The quotient that C gives: rounded towards zero."""
    quotient = x // y
    return quotient + ((quotient < 0) & (quotient * y != x)).astype(x.dtype)


def divisible(recipe):
    """The recipe without zero divisors, and without the one quotient that overflows."""

    def drawn(draw, dtype):
        x, y = recipe(draw, dtype)
        y = np.where(y == 0, np.array(3, dtype), y)
        return x, np.where((x == np.iinfo(dtype).min) & (y + 1 == 0), np.array(2, dtype), y)

    return drawn


def _with(change):
    """A recipe: bits, and other bits changed so that the operation is defined."""
    return lambda draw, dtype: change(draw, dtype, *many(bit_patterns)(draw, dtype))


def _amounts(draw, dtype, x, y):
    return x, (y % np.array(dtype.itemsize * 8, dtype)).astype(dtype)


def _exponents(draw, dtype, x, y):
    return x, draw.integers(x.size, low=0, high=12).astype(dtype)


def _far(draw, dtype, x, y):
    """Amounts of at least the width, and negative ones."""
    width = dtype.itemsize * 8
    return x, np.resize(np.array([width, width + 1, 100, -1, -width, 127]).astype(dtype), x.size)


def _ordered(draw, dtype):
    """Bits, and bounds of which the lower is not above the upper."""
    t, x, y = many(bit_patterns, 3)(draw, dtype)
    return t, np.minimum(x, y), np.maximum(x, y)


def _scalar_bounds(draw, dtype):
    return draw.values(dtype, 67), np.array(1, dtype), np.array(4, dtype)


_PAIRS = {"edges": crossed, "bits": many(bit_patterns), "plain": many(plain)}
_QUOTIENTS = {name: divisible(recipe) for name, recipe in _PAIRS.items()}
_SHIFTS = {"bits": _with(_amounts)}
_POWERS = {"bits": _with(_exponents)}

#: name: (OpDef, reference, dtypes, recipes).
_TABLE: dict[str, tuple[str, Any, tuple[str, ...], Any]] = {
    "add": ("Add", np.add, ("int8", "int16", "int32", "int64", "uint8"), _PAIRS),
    "add-v2": ("AddV2", np.add, INTEGERS, _PAIRS),
    "bitwise-and": ("BitwiseAnd", np.bitwise_and, INTEGERS, _PAIRS),
    "bitwise-or": ("BitwiseOr", np.bitwise_or, INTEGERS, _PAIRS),
    "bitwise-xor": ("BitwiseXor", np.bitwise_xor, INTEGERS, _PAIRS),
    "div": ("Div", _truncated, INTEGERS, _QUOTIENTS),
    "floor-div": ("FloorDiv", np.floor_divide, INTEGERS, _QUOTIENTS),
    "floor-mod": ("FloorMod", np.mod, INTEGERS, _QUOTIENTS),
    "left-shift": ("LeftShift", _shifted_left, INTEGERS, _SHIFTS),
    "maximum": ("Maximum", np.maximum, INTEGERS, _PAIRS),
    "minimum": ("Minimum", np.minimum, INTEGERS, _PAIRS),
    "mod": ("Mod", np.fmod, ("int32", "int64"), _QUOTIENTS),
    "mul": ("Mul", np.multiply, INTEGERS, _PAIRS),
    "pow": ("Pow", np.power, _SIGNED, _POWERS),
    "right-shift": ("RightShift", np.right_shift, INTEGERS, _SHIFTS),
    "squared-difference": ("SquaredDifference", lambda x, y: (x - y) ** 2, ("int32", "int64"), _PAIRS),
    "sub": ("Sub", np.subtract, INTEGERS, _PAIRS),
    "truncate-div": ("TruncateDiv", _truncated, INTEGERS, _QUOTIENTS),
    "truncate-mod": ("TruncateMod", np.fmod, ("int32", "int64"), _QUOTIENTS),
}
_DIVISIONS = ("div", "floor-div", "floor-mod", "mod", "truncate-div", "truncate-mod")


def _over_zero(draw, dtype):
    """Every third divisor is zero."""
    x, y = (r[:67] for r in divisible(many(plain))(draw, dtype))
    return x, np.where(np.arange(67) % 3 == 1, np.array(0, dtype), y)


def _overflowing(draw, dtype):
    """The smallest number by -1, beside other numbers."""
    x, y = (r[:67] for r in divisible(many(plain))(draw, dtype))
    worst = np.arange(67) % 3 == 1
    return np.where(worst, np.iinfo(dtype).min, x).astype(dtype), np.where(worst, -1, y).astype(dtype)


def _negative(draw, dtype):
    """Bases 0, 1, -1 and others, to negative powers."""
    x = np.resize(np.array([0, 1, -1, 2, -3, 7], dtype), 67)
    return x, -draw.integers(67, low=1, high=6).astype(dtype)


def _reciprocal_power(x, y):
    """The power rounded towards zero: that of 1 or -1, or 0."""
    return np.where(np.abs(x) == 1, np.where(y % 2 == 0, 1, x), 0).astype(x.dtype)


_CWISE_OPS = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/kernels/cwise_ops.h"
_SHIFT = "https://www.tensorflow.org/api_docs/python/tf/bitwise/left_shift"
_DEFINED = "a shift by less than 0, or by the width or more, is implementation defined; XLA shifts everything out"
_NO_ERROR = "where no error can be raised, the power of what is neither 1 nor -1 is 0"


def _clamped(shift):
    """What the CPU kernels do with amounts that are out of range."""

    def clamped(x, y):
        wide = y.astype(object)
        amount = np.clip(wide, 0, _width(x) - 1).astype(x.dtype)
        return shift(x, amount)

    return clamped


def _shifted_out(fill):
    """Nothing is left, or the sign."""
    return lambda x, y: np.where(fill & (x < 0), -1, 0).astype(x.dtype) if x.dtype.kind == "i" else np.zeros_like(x)


SPECS = (
    *(
        Spec(
            name=name if name.startswith("bitwise") or name.endswith("shift") else f"{name}-integer",
            ops=op,
            program=_program(op),
            reference=reference,
            vjp=_none,
            recipes=recipes,
            dtypes=dtypes,
        )
        for name, (op, reference, dtypes, recipes) in _TABLE.items()
    ),
    Spec(
        name="add-n-integer",
        ops="AddN",
        program=lambda tf, *xs: tf.raw_ops.AddN(inputs=list(xs)),
        reference=lambda x, y, z: x + y + z,
        vjp=_none,
        recipes={"bits": many(bit_patterns, 3), "plain": many(plain, 3)},
        dtypes=INTEGERS,
    ),
    Spec(
        name="clip-by-value-integer",
        ops="ClipByValue",
        program=_program("ClipByValue", ("t", "clip_value_min", "clip_value_max")),
        reference=lambda t, low, high: np.minimum(np.maximum(t, low), high),
        vjp=_none,
        recipes={"bits": _ordered, "scalars": _scalar_bounds},
        dtypes=("int8", "int16", "int32", "int64", "uint8", "uint16"),
    ),
    *(
        Spec(
            name=f"{name}-by-zero",
            ops=_TABLE[name][0],
            program=_program(_TABLE[name][0]),
            reference=lambda x, y: Raises("INVALID_ARGUMENT", "ivision by zero"),
            recipes={"zeros": _over_zero},
            dtypes=_TABLE[name][2],
        )
        for name in _DIVISIONS
    ),
    *(
        Spec(
            name=f"{name}-overflow",
            ops=_TABLE[name][0],
            program=_program(_TABLE[name][0]),
            reference=_TABLE[name][1],
            recipes={"smallest": _overflowing},
            dtypes=tuple(d for d in _TABLE[name][2] if d in _SIGNED),
        )
        for name in _DIVISIONS
    ),
    *(
        Spec(
            name=f"{name}-beyond",
            ops=_TABLE[name][0],
            program=_program(_TABLE[name][0]),
            reference=_clamped(_TABLE[name][1]),
            recipes={"far": _with(_far)},
            dtypes=INTEGERS,
            contract={"*/xla": Side(reference=_shifted_out(name == "right-shift"), why=_DEFINED, link=_SHIFT)},
        )
        for name in ("left-shift", "right-shift")
    ),
    Spec(
        name="pow-negative",
        ops="Pow",
        program=_program("Pow"),
        reference=lambda x, y: Raises("INVALID_ARGUMENT", "negative integer powers are not allowed"),
        recipes={"negative": _negative},
        dtypes=_SIGNED,
        contract={
            pattern: Side(reference=_reciprocal_power, why=_NO_ERROR, link=_CWISE_OPS) for pattern in ("*/xla", "gpu/*")
        },
    ),
)
