"""Ops that turn dimensions, and sizes of dimensions, of one layout of images into those of another one."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import edges
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part

_FORMATS = {
    "to_first": ("NHWC", "NCHW"),
    "to_last": ("NCHW", "NHWC"),
    "same": ("NHWC", "NHWC"),
    "other_order": ("HWNC", "CNWH"),
    "volumes": ("NDHWC", "NCDHW"),
}
_ATTRS = {label: {"src_format": source, "dst_format": to} for label, (source, to) in _FORMATS.items()}
_WRONG = {
    "short": {"src_format": "NHW", "dst_format": "NCHW"},
    "short_destination": {"src_format": "NHWC", "dst_format": "NCH"},
    "no_permutation": {"src_format": "NHWC", "dst_format": "NCHX"},
    "repeated": {"src_format": "NHWC", "dst_format": "NCHH"},
}
_DTYPES = ("int32", "int64")


def _mapped(x, src_format, dst_format):
    """The place in the destination of each dimension of the source; dimensions are counted from the end as well."""
    return np.array([dst_format.index(letter) for letter in src_format], x.dtype)[x]


def _permuted(x, src_format="NHWC", dst_format="NCHW"):
    """The rows in the order of the destination; two rows are those of the dimensions of images."""
    source, to = src_format, dst_format
    if len(x) == len(src_format) - 2:
        source, to = ([letter for letter in text if letter not in "NC"] for text in (source, to))
    return x[[source.index(letter) for letter in to]]


def _dimensions(*shape):
    """A recipe: dimensions from the first one to the last one, counted from both ends."""
    return lambda draw, dtype: (draw.integers(*shape, low=-4, high=4).astype(dtype),)


def _rows(*shape):
    return lambda draw, dtype: (draw.integers(*shape, low=-99, high=99).astype(dtype),)


def _limits(draw, dtype):
    return (np.resize(np.unique(edges(draw, np.dtype(dtype))[0])[::-1], (4,)),)


_PAIRS = {"pairs": _rows(4, 2), "pairs_of_images": _rows(2, 2)}
_OF_IMAGES = {label: formats for label, formats in _ATTRS.items() if label != "volumes"}
_SMALL = {"none": (0,), "one": (1,), "no_rows": (0, 3), "one_by_one": (1, 1), "empty_inside": (1, 0, 2)}
_FIRST = {"to_first": _ATTRS["to_first"]}
#: Values that the vectors and matrices of VecPermute cannot have: they hold 4 rows or 2.
_WRONG_ROWS = {
    "three": _rows(3),
    "six": _rows(6),
    "three_columns": _rows(4, 3),
    "scalar": _rows(),
    "cube": _rows(4, 2, 1),
    "none": _rows(0),
    "no_rows": _rows(0, 2),
    "no_columns": _rows(4, 0),
}

SPECS = (
    *op(
        "data-format-dim-map",
        "DataFormatDimMap",
        part(
            recipes={
                "plain": _dimensions(3, 7),
                "every": lambda draw, dtype: (np.arange(-4, 4, dtype=dtype),),
                "scalar": _dimensions(),
            },
            attrs=_ATTRS,
        ),
        small({label: _dimensions(*shape) for label, shape in _SMALL.items()}, attrs=_FIRST),
        part("-refused", recipes={"plain": _dimensions(3)}, attrs=_WRONG, **IN_KERNEL),
        reference=_mapped,
        dtypes=_DTYPES,
    ),
    *op(
        "data-format-vec-permute",
        "DataFormatVecPermute",
        part(recipes=_PAIRS, attrs=_OF_IMAGES),
        part("-vectors", recipes={"vector": _rows(4), "images": _rows(2), "limits": _limits}, attrs=_OF_IMAGES),
        part(
            "-volumes",
            recipes={"vector": _rows(5), "pairs": _rows(5, 2), "images": _rows(3), "pairs_of_images": _rows(3, 2)},
            attrs={"volumes": _ATTRS["volumes"]},
        ),
        small(_PAIRS, attrs=_FIRST),
        part("-refused", recipes={"plain": _rows(4)}, attrs=_WRONG, **IN_KERNEL),
        part("-refused-shape", recipes=_WRONG_ROWS, attrs=_FIRST, **IN_KERNEL),
        arguments=("x",),
        reference=_permuted,
        dtypes=_DTYPES,
    ),
)
