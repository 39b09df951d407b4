"""Where: the places of the elements of a tensor that are not zero, in order. NaN is no zero; a zero has two signs."""

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS, is_float, subnormals
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.array_ops.move_recipes import special
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA
from tf_opdiff.suites.forms.aspects import in_shapes, small
from tf_opdiff.suites.forms.calls import Call, OfAll
from tf_opdiff.suites.forms.elementwise.copies import COMMON
from tf_opdiff.suites.forms.elementwise.subnormal import flushing
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.ranges import exactly
from tf_opdiff.suites.reference.arrays.moves import Forward

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
_CALLS = {label: Call(promise=Forward(np.argwhere), shapes=(shape,)) for label, shape in _SHAPES.items()}


def _holes(draw, dtype, *shape):
    """Numbers, and zeros in half of the places."""
    return np.where(draw.booleans(*shape), draw.values(dtype, *shape), np.zeros((), dtype))


def _tiny(x):
    """Where a number has a part that is subnormal."""
    if x.dtype.kind == "c":
        return _tiny(x.real) | _tiny(x.imag)
    return (
        (x != 0) & (np.abs(x) < ml_dtypes.finfo(x.dtype).smallest_normal)
        if is_float(x.dtype)
        else np.zeros(x.shape, bool)
    )


def _special(draw, dtype):
    """Special values but subnormals."""
    xs = special([*_SHAPES.values()])(draw, dtype)
    return tuple(np.where(_tiny(x), np.ones((), x.dtype), x) for x in xs)


_QUANTIZED_OF_XLA = replace(COMMON, smooth=(), rough=(), without_xla=(), quantized_of_xla=IN_XLA)


def _of_xla(spec):
    """The twins of quantized dtypes."""
    return _QUANTIZED_OF_XLA.twins(spec, {"plain": spec.recipes["plain"]}) if spec.tier == "default" else ()


_PLACES: dict[str, Any] = {"reference": np.argwhere}
#: Where threads take subnormals for zeros, they have no places, but those of 16 bits have.
_FLUSHED = {"cpu/*": flushing(np.argwhere)}

SPECS = op(
    "nonzero",
    "Where",
    part(
        calls=_CALLS,
        recipes={"plain": _holes, "special": OfAll(_special), "zeros": exactly(0), "ones": exactly(1)},
        rounded=(),
        twins=(_of_xla,),
        dtypes=tiered((*FLOATS, *COMPLEX, *INTEGERS, "bool"), ("float32",)),
    ),
    small(in_shapes(EMPTY, _holes), **_PLACES),
    part("-subnormals", recipes={"special": subnormals}, contract=_FLUSHED, **_PLACES),
    part(
        "-subnormals-float64",
        recipes={"special": subnormals},
        contract=_FLUSHED,
        dtypes=("float64",),
        tier="full",
        **_PLACES,
    ),
    part(
        "-subnormals-16-bits", recipes={"special": subnormals}, dtypes=("float16", "bfloat16"), tier="full", **_PLACES
    ),
    part("-rank9", recipes=in_shapes({"plain": (1, 2, 1, 1, 2, 1, 3, 1, 1)}, _holes), **_PLACES),
    arguments=("condition",),
    gradient=False,
    ordinary=ordinary.FLUSHED,
)
