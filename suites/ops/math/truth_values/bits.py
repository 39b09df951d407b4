"""Bits: bitwise operations on integers, and shifts."""

from dataclasses import replace

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import INTEGERS
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.elementwise.integers import EXACT, changed_bits, integers
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, unconnected
from tf_opdiff.suites.forms.recipes.pairs import shaped

_SHIFT = "https://www.tensorflow.org/api_docs/python/tf/bitwise/left_shift"
_DEFINED = "a shift by less than 0, or by the width or more, is implementation defined; XLA shifts everything out"


def _shifted_left(x, y):
    return (x.view(f"u{x.dtype.itemsize}") << y.view(f"u{x.dtype.itemsize}")).view(x.dtype)


def _amounts(draw, dtype, x, y):
    """Amounts from 0 to the width less 1."""
    return x, np.asarray(y % np.array(dtype.itemsize * 8, dtype)).astype(dtype)


def _far(draw, dtype, x, y):
    """Amounts of at least the width, and negative ones."""
    width = dtype.itemsize * 8
    return x, np.resize(np.array([width, width + 1, 100, -1, -width, 127]).astype(dtype), x.size)


def _extremes(inside):
    """A recipe: the limits and single bits by every amount from 0 to the width less 1, or by every other amount."""

    def recipe(draw, dtype):
        width, info = dtype.itemsize * 8, np.iinfo(dtype)
        values = [0, 1, 2, 3, info.max, info.max - 1, info.min, info.min + 1, info.max // 3] + [-1, -2] * (info.min < 0)
        beyond = {width, width + 1, 2 * width, 31, 32, 63, 64, info.max - 1, info.max} - set(range(width))
        below = [-1, -2, 1 - width, -width, -width - 1, info.min] if info.min < 0 else []
        amounts = list(range(width)) if inside else [*sorted(v for v in beyond if v <= info.max), *below]
        pairs = np.meshgrid(np.array(values, dtype), np.array(amounts, dtype), indexing="ij")
        return tuple(np.resize(a, 841) for a in pairs)

    return recipe


def _clamped(shift):
    """The shift by the nearest amount from 0 to the width less 1, as the CPU kernels do it."""

    def clamped(x, y):
        wide = y.astype(object)
        amount = np.clip(wide, 0, x.dtype.itemsize * 8 - 1).astype(x.dtype)
        return shift(x, amount)

    return clamped


def _zeros(x, y):
    """All bits are shifted out."""
    return np.zeros_like(x)


def _signs(x, y):
    """Only the sign is left: -1 or 0."""
    return np.where(x < 0, -1, 0).astype(x.dtype)


def _shift(reference, shifted_out):
    """Parts: a shift, and one by amounts that are out of range."""
    out = Side(reference=shifted_out, why=_DEFINED, link=_SHIFT)

    def low_half(dtype, g, x, y):
        """The result on a GPU, which takes the lower 32 bits of the lowest number of int64 as the amount: 0."""
        return [np.where(y.astype(np.float64) == -(2.0**63), x, shifted_out(x, y))]

    return (
        integers(reference, recipes={"bits": changed_bits(_amounts), "extremes": _extremes(True)}, suffix=""),
        part(
            "-beyond",
            reference=_clamped(reference),
            recipes={"far": changed_bits(_far), "extremes": _extremes(False)},
            dtypes=INTEGERS,
            contract={
                "gpu/*": replace(out, why=f"{_DEFINED}; GPUs as well", alternatives={"output": low_half}),
                "*/xla": out,
            },
        ),
    )


def _broadcast(reference, amounts=False):
    """A part: arguments whose shapes differ; the second is an amount of a shift if `amounts`."""

    def recipe(one, other):
        def drawn(draw, dtype):
            x, y = shaped(one, other)(draw, dtype)
            return _amounts(draw, dtype, x, y) if amounts else (x, y)

        return drawn

    recipes = {"planes": recipe((2, 1, 3), (5, 1)), "row": recipe((3,), (2, 3)), "one": recipe((2, 3), ())}
    return part("-broadcast", reference=reference, vjp=unconnected, recipes=recipes, dtypes=INTEGERS)


def _ones(x):
    """The number of set bits, of two's complement: NumPy counts those of |x|."""
    return np.bitwise_count(x.view(f"u{x.itemsize}"))


SPECS = (
    *op("bitwise-and", "BitwiseAnd", integers(np.bitwise_and, suffix=""), _broadcast(np.bitwise_and)),
    *op("bitwise-or", "BitwiseOr", integers(np.bitwise_or, suffix=""), _broadcast(np.bitwise_or)),
    *op("bitwise-xor", "BitwiseXor", integers(np.bitwise_xor, suffix=""), _broadcast(np.bitwise_xor)),
    *op("invert", "Invert", integers(np.invert, suffix="", **EXACT)),
    *op("left-shift", "LeftShift", *_shift(_shifted_left, _zeros), _broadcast(_shifted_left, amounts=True)),
    *op("population-count", "PopulationCount", integers(_ones, suffix="", **EXACT)),
    *op("right-shift", "RightShift", *_shift(np.right_shift, _signs), _broadcast(np.right_shift, amounts=True)),
)
