"""Bitcast: the bits of a tensor as numbers of another dtype, of the same size, smaller, or larger.

The results are integers, so that every bit counts: floats and quantised numbers are cast back to integers.
"""

from typing import Any

import ml_dtypes  # noqa: F401  registers the names of its dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.array_ops.move_recipes import special
from tf_opdiff.suites.forms.aspects import in_shapes, small
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.forms.recipes.pairs import shaped

_NUMBERS = (*FLOATS, *COMPLEX, *INTEGERS)
_SHAPE = (3, 5)


def _size(name):
    """The number of bytes of a number of a dtype, which may be quantised."""
    return np.dtype(name.removeprefix("q")).itemsize


def _integers(name):
    """The dtype of integers that shows the bits of a dtype: those of 16 bytes are shown one by one."""
    return f"uint{8 * _size(name)}" if _size(name) <= 8 else "uint8"


def _bits(x, name):
    """The numbers as a dtype, as integers that show their bits."""
    size, shown = _size(name), np.dtype(_integers(name))
    parts = [n for n in (x.itemsize // size, size // shown.itemsize) if n > 1]
    shape = x.shape if size <= x.itemsize else x.shape[:-1]
    return np.frombuffer(x.tobytes(), shown).reshape(*shape, *parts)


def _bitcast(name, *dtypes, suffix="", **fields):
    """A part: casts of a dtype to dtypes. A row of the input has as many numbers as one larger number has parts."""
    types = tuple((to, _integers(to)) for to in dtypes)
    shapes = [(*_SHAPE, *([n] if (n := _size(to) // _size(name)) > 1 else [])) for to in dtypes]

    def program(tf, *xs):
        cast = tf.raw_ops.Bitcast
        return tuple(cast(input=cast(input=x, type=to), type=shown) for x, (to, shown) in zip(xs, types, strict=True))

    return part(
        f"-{name}{suffix}".replace("_", "-"),
        program=program,
        reference=lambda *xs: tuple(_bits(x.astype(name), to) for x, to in zip(xs, dtypes, strict=True)),
        recipes={"plain": shaped(*shapes), "special": special(shapes)},
        names=dtypes,
        **{"dtypes": tiered((name,)), **fields},
    )


_WRONG: dict[str, dict[str, Any]] = {
    "three_to_double": {"shape": [5, 3], "to": "float64"},
    "scalar_to_double": {"shape": [], "to": "complex64"},
    "four_to_double": {"shape": [2, 4], "to": "int64"},
    "vector_to_complex": {"shape": [3], "to": "complex128"},
}


SPECS = op(
    "bitcast",
    "Bitcast",
    *(_bitcast(name, *FLOATS, *INTEGERS, "qint8", "quint8", "qint32") for name in _NUMBERS),
    *(_bitcast(name, "complex64", suffix="-complex") for name in _NUMBERS),
    *(_bitcast(name, "complex128", suffix="-widest") for name in _NUMBERS),
    _bitcast("int32", "qint16", "quint16", suffix="-quantized-16-bits", modes=WITHOUT_XLA),
    small(
        in_shapes(EMPTY, plain),
        suffix="-float32",
        program=lambda tf, x: tf.raw_ops.Bitcast(input=x, type="uint32"),
        reference=lambda x: x.astype("float32").view("uint32"),
    ),
    part(
        "-refused",
        program=lambda tf, x, shape, to: tf.raw_ops.Bitcast(input=x, type=to),
        recipes={"plain": lambda draw, dtype, shape: (draw.values(dtype, *shape),)},
        attrs=_WRONG,
        **WHEN_BUILT,
    ),
)
