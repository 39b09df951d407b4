"""OneHot: one value at the place that an index names, another value at all other places. And Range."""

import numpy as np

from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Raises
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import IN_KERNEL, REFUSED_BY_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered

_REST = ("float64", "int8", "complex64", "bool", "bfloat16", "complex128", "float16", "int32", "int64")
#: Indices in and out of the range of depth 4; an index out of it names no place.
_INDICES = {
    "int32": np.array([[0, 3, -1], [2, 4, 1]], np.int32),
    "int64": np.array([[0, 3, -1], [2**32 + 1, 4, 1]], np.int64),
    "int8": np.array([0, 3, 127, -128, 1], np.int8),
    "uint8": np.array([0, 3, 255, 2, 1], np.uint8),
    "scalar": np.array(2, np.int32),
    "one": np.array([1], np.int32),
    "empty": np.zeros((0, 3), np.int32),
}


def _with(indices):
    """A recipe: indices, a value, and another value."""

    def recipe(draw, dtype):
        on, off = (np.array(v, dtype) for v in ((1, 0) if dtype.kind == "b" else (3, 7)))
        return indices, on, off

    return recipe


def _placed(indices, on, off, depth, axis):
    here = np.asarray(indices)[..., None] == np.arange(depth)
    return np.moveaxis(np.where(here, on, off), -1, axis)


def _numbers(*values):
    """A recipe: start, limit and step."""
    return lambda draw, dtype: tuple(np.array(v).astype(dtype) for v in values)


def _counted(start, limit, delta):
    return (start + delta * np.arange(max(0, np.ceil((limit - start) / delta)))).astype(start.dtype)


_RANGES = {"up": _numbers(0, 7, 2), "down": _numbers(5, -4, -3), "empty": _numbers(1, 1, 2), "one": _numbers(3, 4, 5)}

_DEPTHS = {"last": {"depth": 4, "axis": -1}, "first": {"depth": 4, "axis": 0}, "none": {"depth": 0, "axis": -1}}
_ONE = {"int32": _with(_INDICES["int32"])}

SPECS = (
    *op(
        "one-hot",
        "OneHot",
        part(
            recipes={label: _with(indices) for label, indices in _INDICES.items()},
            attrs=_DEPTHS,
            dtypes=tiered(("float32", *_REST), ("float32",)),
            of_others=("int32",),
        ),
        small({label: _with(np.zeros(shape, np.int32)) for label, shape in EMPTY.items()}, attrs=_DEPTHS),
        part(
            "-refused",
            reference=lambda *xs, depth, axis: Raises("ValueError" if depth < 0 else "INVALID_ARGUMENT"),
            recipes=_ONE,
            attrs={"depth": {"depth": -1, "axis": -1}, "axis": {"depth": 4, "axis": 3}},
            contract=REFUSED_BY_KERNEL,
        ),
        arguments=("indices", "on_value", "off_value"),
        reference=_placed,
        any_dtype=True,
    ),
    *op(
        "range",
        "Range",
        part(recipes=_RANGES, dtypes=tiered(("float32", "int32", "float64", "bfloat16", "float16", "int64"))),
        small({label: _RANGES[label] for label in ("empty", "one")}),
        part(
            "-of-xla",
            recipes=_RANGES,
            dtypes=tiered(("float32", "int32", "float64", "bfloat16", "float16", "int64")),
            modes=("xla",),
        ),
        part(
            "-refused",
            recipes={"no_step": _numbers(0, 3, 0), "wrong_way": _numbers(0, 3, -1)},
            dtypes=("float32", "int32"),
            modes=MODES,
            **IN_KERNEL,
        ),
        arguments=("start", "limit", "delta"),
        reference=_counted,
        modes=WITHOUT_XLA,  # the size of the result depends on the values: XLA compiles it anew for each
        ordinary={"*": "an end or a step that is no number, and a step of 0, are refused"},
    ),
)
