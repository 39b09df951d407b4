"""Where: the places of the elements of a tensor that are not zero, in order. NaN is no zero; a zero has two signs."""

from dataclasses import replace

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, is_float, subnormals
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.sizes import EMPTY, sizes
from tf_opdiff.suites.forms.calls import call, fields
from tf_opdiff.suites.forms.copies import Dtypes
from tf_opdiff.suites.forms.move_recipes import special
from tf_opdiff.suites.forms.subnormal import flushing
from tf_opdiff.suites.reference.moves import Forward

_SHAPES = {
    "matrix": (3, 5),
    "vector": (67,),
    "cube": (2, 3, 4),
    "empty": (0,),
    "empty_inside": (3, 0, 2),
    "single": (1,),
    "batch_of_one": (1, 4),
    "rank8": (1, 2, 1, 1, 2, 1, 3, 1),
}
_CALLS = {label: call(shape) for label, shape in _SHAPES.items()}


def _where(tf, x):
    return tf.raw_ops.Where(condition=x)


def _holes(draw, dtype, shape):
    """Numbers, and zeros in half of the places."""
    return np.where(draw.booleans(*shape), draw.values(dtype, *shape), np.zeros((), dtype))


_special = special([*_SHAPES.values()])


def _tiny(x):
    """Where a number has a part that is subnormal."""
    if x.dtype.kind == "c":
        return _tiny(x.real) | _tiny(x.imag)
    return (
        (x != 0) & (np.abs(x) < ml_dtypes.finfo(x.dtype).smallest_normal)
        if is_float(x.dtype)
        else np.zeros(x.shape, bool)
    )


def _without_subnormals(x):
    return np.where(_tiny(x), np.ones((), x.dtype), x)


def _filled(value):
    """A recipe: one value in all shapes."""
    return lambda draw, dtype: tuple(np.full(shape, value, dtype) for shape in _SHAPES.values())


_MAIN = Spec(
    name="nonzero",
    ops="Where",
    **fields(_CALLS, _where, Forward(np.argwhere), gradient=False, rounded=()),
    recipes={
        "plain": lambda draw, dtype: tuple(_holes(draw, dtype, shape) for shape in _SHAPES.values()),
        "special": lambda draw, dtype: tuple(map(_without_subnormals, _special(draw, dtype))),
        "zeros": _filled(0),
        "ones": _filled(1),
    },
)
#: Where threads take subnormals for zeros, they have no places, but those of 16 bits have.
_SUBNORMALS = Spec(
    name="nonzero-subnormals",
    ops="Where",
    program=_where,
    reference=np.argwhere,
    recipes={"special": subnormals},
    contract={"cpu/*": flushing(np.argwhere)},
)
_FLOATS = tuple(dtype for dtype in FLOATS if dtype != "float32")
_OTHER = (*_FLOATS, *COMPLEX, *INTEGERS, "bool")
_ONE = Spec(
    name="nonzero",
    ops="Where",
    program=_where,
    reference=np.argwhere,
    recipes={label: lambda draw, d, shape=shape: (_holes(draw, d, shape),) for label, shape in EMPTY.items()},
)
_NONE = Dtypes(smooth=(), rough=(), more=(), without_xla=(), of_xla=(), quantized=(), quantized_without_xla=())

SPECS = (
    _MAIN,
    replace(_MAIN, name="nonzero-other", dtypes=_OTHER, tier="full"),
    *replace(_NONE, quantized_of_xla=("int8", "uint8", "int32")).twins(_MAIN, {"plain": _MAIN.recipes["plain"]}),
    *sizes(_ONE, _ONE.recipes),
    _SUBNORMALS,
    replace(_SUBNORMALS, name="nonzero-subnormals-float64", dtypes=("float64",), tier="full"),
    replace(_SUBNORMALS, name="nonzero-subnormals-16-bits", dtypes=("float16", "bfloat16"), contract={}, tier="full"),
    Spec(
        name="nonzero-rank9",
        ops="Where",
        program=_where,
        reference=np.argwhere,
        recipes={"plain": lambda draw, dtype: (_holes(draw, dtype, (1, 2, 1, 1, 2, 1, 3, 1, 1)),)},
    ),
)
