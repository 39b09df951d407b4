"""Indices of extremes: the smallest index in case of ties, as tf.math.argmax and tf.math.argmin document it."""

import numpy as np

from tf_opdiff.harness.spec.recipes import FLOATS, INTEGERS
from tf_opdiff.suites.derived.sizes import EMPTY
from tf_opdiff.suites.forms.aspects import batches, in_shapes, small
from tf_opdiff.suites.forms.calls import call
from tf_opdiff.suites.forms.elements import uniform
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.reduction_recipes import OF_INTEGERS, infinite, large, plain, small_integers, special, ties
from tf_opdiff.suites.reference.promise import OfOneTensor

_LAST = {"last": call(axis=-1, to="int64")}
#: The number that a function chooses last. Comparisons with NaN are false, so that the kernels pass over it.
_LAST_CHOICE = {np.argmax: -np.inf, np.argmin: np.inf}
#: Axes that no tensor of rank 3 has, and a list of axes.
_WRONG_AXES = {"past_last": 3, "before_first": -4, "beyond": 2**31 - 1, "vector": [0]}
#: The shapes of inputs whose last axis has elements, and of those whose last axis has none.
_SOME = {label: shape for label, shape in EMPTY.items() if shape[-1]}
_NONE = {label: shape for label, shape in EMPTY.items() if not shape[-1]}


def _promise(function):
    """The index of an extreme element; if there is NaN, the index of any NaN. No gradient passes."""

    def index(x, axis, to):
        return np.asarray(function(x, axis=axis), to)

    def past_nans(x, axis, to):
        return index(np.where(np.isnan(x), _LAST_CHOICE[function], x), axis, to)

    def other_nans(dtype, x, axis, to):
        first = index(x, axis, to)
        if x.dtype.kind != "f" or not np.isnan(x).any():
            return []
        order = np.cumsum(np.isnan(x), axis=axis)
        later = [np.argmax(order == n, axis=axis) for n in range(2, int(order.max(initial=0)) + 1)]
        return [np.where((order == n).any(axis=axis), k, first).astype(to) for n, k in enumerate(later, 2)]

    return OfOneTensor(f=index, vjp=lambda g, x, axis, to: None, others=other_nans, mistaken=past_nans)


def _arg_extreme(name, raw, function):
    return op(
        name,
        raw,
        part("-nan", recipes={"special": special}, gradient=False),
        part("-bool", recipes={"plain": plain}, dtypes=("bool",), tier="full", gradient=False),
        batches(_LAST, plain, tier="full", gradient=False),
        small(in_shapes(_SOME, uniform), _LAST, gradient=False),
        part(
            "-wrong-axes",
            program=lambda tf, x, axis: getattr(tf.raw_ops, raw)(input=x, dimension=axis),
            recipes={"plain": lambda draw, dtype: plain(draw, dtype)},
            attrs={label: {"axis": axis} for label, axis in _WRONG_AXES.items()},
            lowest_tier=True,
            **WHEN_BUILT,
        ),
        part(
            "-of-nothing",
            program=lambda tf, x, axis: getattr(tf.raw_ops, raw)(input=x, dimension=axis),
            recipes=in_shapes(_NONE, uniform),
            attrs={"last": {"axis": -1}},
            lowest_tier=True,
            **IN_KERNEL,
        ),
        program=lambda tf, x, axis, to: getattr(tf.raw_ops, raw)(input=x, dimension=axis, output_type=to),
        promise=_promise(function),
        calls={
            "first": call(axis=0, to="int64"),
            "middle": call(axis=-2, to="int32"),
            "last": call(axis=2, to="int64"),
            "from_end": call(axis=-3, to="int32"),
        },
        blocks={
            "long": call((3, 1100), axis=1, to="int64"),
            "blocks": call((4201, 2), axis=0, to="int32"),
        },
        dtypes=tiered(FLOATS),
        integers=tiered(INTEGERS),
        of_integers=OF_INTEGERS,
        recipes={"plain": plain, "exact": small_integers, "ties": ties, "large": large, "infinite": infinite},
    )


SPECS = (
    *_arg_extreme("arg-max", "ArgMax", np.argmax),
    *_arg_extreme("arg-min", "ArgMin", np.argmin),
)
