"""Indices of extremes: the smallest index in case of ties, as tf.math.argmax and tf.math.argmin document it."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.aspects import batches, in_shapes, small
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import uniform
from tf_opdiff.suites.forms.reductions.reduction_recipes import (
    OF_INTEGERS,
    infinite,
    large,
    plain,
    small_integers,
    special,
    ties,
)
from tf_opdiff.suites.reference.promises.promise import OfOneTensor

_LAST = {"last": call(axis=-1, output_type="int64")}
#: The number that a function chooses last. Comparisons with NaN are false, so that the kernels pass over it.
_LAST_CHOICE = {np.argmax: -np.inf, np.argmin: np.inf}
#: Axes that no tensor of rank 3 has, and a list of axes.
_WRONG_AXES = {"past_last": 3, "before_first": -4, "beyond": 2**31 - 1, "vector": [0]}
#: The shapes of inputs whose last axis has elements, and of those whose last axis has none.
_SOME = {label: shape for label, shape in EMPTY.items() if shape[-1]}
_NONE = {label: shape for label, shape in EMPTY.items() if not shape[-1]}


def _promise(function):
    """The index of an extreme element; if there is NaN, the index of any NaN. No gradient passes."""

    def index(x, axis, output_type):
        return np.asarray(function(x, axis=axis), output_type)

    def past_nans(x, axis, output_type):
        return index(np.where(np.isnan(x), _LAST_CHOICE[function], x), axis, output_type)

    def other_nans(dtype, x, axis, output_type):
        first = index(x, axis, output_type)
        if x.dtype.kind != "f" or not np.isnan(x).any():
            return []
        order = np.cumsum(np.isnan(x), axis=axis)
        later = [np.argmax(order == n, axis=axis) for n in range(2, int(order.max(initial=0)) + 1)]
        return [np.where((order == n).any(axis=axis), k, first).astype(output_type) for n, k in enumerate(later, 2)]

    return OfOneTensor(f=index, vjp=lambda g, x, axis, output_type: None, alternatives=other_nans, mistaken=past_nans)


def _along(raw):
    """A program that calls an op along an axis."""
    return lambda tf, x, axis, **to: getattr(tf.raw_ops, raw)(input=x, dimension=axis, **to)


_PARTS = (
    part("-nan", recipes={"special": special}, gradient=False),
    part("-bool", recipes={"plain": plain}, dtypes=("bool",), tier="full", gradient=False),
    batches(_LAST, plain, tier="full", gradient=False),
    small(in_shapes(_SOME, uniform), _LAST, gradient=False),
    part(
        "-wrong-axes",
        recipes={"plain": lambda draw, dtype: plain(draw, dtype)},
        attrs={label: {"axis": axis} for label, axis in _WRONG_AXES.items()},
        lowest_tier=True,
        **WHEN_BUILT,
    ),
    part(
        "-of-nothing",
        recipes=in_shapes(_NONE, uniform),
        attrs={"last": {"axis": -1}},
        lowest_tier=True,
        **IN_KERNEL,
    ),
)
_SHARED = {
    "calls": {
        "first": call(axis=0, output_type="int64"),
        "middle": call(axis=-2, output_type="int32"),
        "last": call(axis=2, output_type="int64"),
        "from_end": call(axis=-3, output_type="int32"),
    },
    "blocks": {
        "long": call((3, 1100), axis=1, output_type="int64"),
        "blocks": call((4201, 2), axis=0, output_type="int32"),
    },
    "dtypes": tiered(FLOATS),
    "integers": tiered(INTEGERS),
    "of_integers": OF_INTEGERS,
    "recipes": {"plain": plain, "exact": small_integers, "ties": ties, "large": large, "infinite": infinite},
}
SPECS = (
    *op(
        "arg-max",
        "ArgMax",
        *_PARTS,
        program=_along("ArgMax"),
        promise=_promise(np.argmax),
        **_SHARED,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op(
        "arg-min",
        "ArgMin",
        *_PARTS,
        program=_along("ArgMin"),
        promise=_promise(np.argmin),
        **_SHARED,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
)
