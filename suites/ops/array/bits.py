"""Bitcast: the bits of a tensor as numbers of another dtype, of the same size, smaller, or larger.

The results are integers, so that every bit counts: floats and quantised numbers are cast back to integers.
"""

from typing import Any

import ml_dtypes  # noqa: F401  registers the names of its dtypes
import numpy as np

from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.sizes import EMPTY, sizes
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.move_recipes import special
from tf_opdiff.suites.forms.pairs import shaped

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


def _casts(name, dtypes):
    """Casts of a dtype to dtypes: the shape of the input, the dtype, and the dtype of the result, which shows its bits.

    A row of the input has as many numbers as one larger number has parts.
    """
    return tuple(((*_SHAPE, *([n] if (n := _size(to) // _size(name)) > 1 else [])), to, _integers(to)) for to in dtypes)


def _bitcast(suffix, name, dtypes, **fields):
    """The spec of casts of a dtype to dtypes."""
    casts = _casts(name, dtypes)
    shapes = [shape for shape, *_ in casts]
    types = tuple((to, shown) for _, to, shown in casts)

    def program(tf, *xs):
        cast = tf.raw_ops.Bitcast
        return tuple(cast(input=cast(input=x, type=to), type=shown) for x, (to, shown) in zip(xs, types, strict=True))

    return Spec(
        name=f"bitcast-{name}{suffix}".replace("_", "-"),
        ops="Bitcast",
        program=program,
        reference=lambda *xs: tuple(_bits(x.astype(name), to) for x, (to, _) in zip(xs, types, strict=True)),
        recipes={"plain": shaped(*shapes), "special": special(shapes)},
        dtypes=(name,),
        names=tuple(dtypes),
        **{"tier": "default" if name in ("float32", "int32") else "full", **fields},
    )


_WRONG: dict[str, dict[str, Any]] = {
    "three_to_double": {"shape": [5, 3], "to": "float64"},
    "scalar_to_double": {"shape": [], "to": "complex64"},
    "four_to_double": {"shape": [2, 4], "to": "int64"},
    "vector_to_complex": {"shape": [3], "to": "complex128"},
}


def _to_bits(tf, x):
    return tf.raw_ops.Bitcast(input=x, type="uint32")


_ONE = Spec(
    name="bitcast-float32",
    ops="Bitcast",
    program=_to_bits,
    reference=lambda x: x.astype("float32").view("uint32"),
    recipes={label: lambda draw, d, shape=shape: (draw.values(d, *shape),) for label, shape in EMPTY.items()},
)

SPECS = (
    *(_bitcast("", name, (*FLOATS, *INTEGERS, "qint8", "quint8", "qint32")) for name in _NUMBERS),
    *(_bitcast("-complex", name, ("complex64",)) for name in _NUMBERS),
    *(_bitcast("-widest", name, ("complex128",)) for name in _NUMBERS),
    _bitcast("-quantized-16-bits", "int32", ("qint16", "quint16"), modes=WITHOUT_XLA),
    *sizes(_ONE, _ONE.recipes),
    Spec(
        name="bitcast-refused",
        ops="Bitcast",
        program=lambda tf, x, shape, to: tf.raw_ops.Bitcast(input=x, type=to),
        recipes={"plain": lambda draw, dtype, shape: (draw.values(dtype, *shape),)},
        attrs=_WRONG,
        **WHEN_BUILT,
    ),
)
