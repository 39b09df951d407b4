"""Dilations: the largest sums of the windows of an image and of a filter, and their gradients."""

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.calls import call, unfit
from tf_opdiff.suites.forms.errors import IN_KERNEL, UNSUPPORTED, WHEN_BUILT
from tf_opdiff.suites.forms.linear_algebra.contraction import upstreams
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import plain, special
from tf_opdiff.suites.reference.neural_networks.dilation import Dilation

#: Label → the shapes of an image and a filter, the strides, the rates and the padding.
_WINDOWS = {
    "valid": ((2, 4, 5, 3), (2, 3, 3), (1, 1), (1, 1), "VALID"),
    "strided": ((1, 5, 6, 2), (3, 2, 2), (2, 3), (1, 1), "SAME"),
    "rates": ((1, 6, 5, 2), (3, 2, 2), (1, 1), (2, 3), "SAME"),
    "point": ((2, 3, 2, 5), (1, 1, 5), (1, 1), (1, 1), "VALID"),
}
_SMALL = {
    "no_batch": ((0, 3, 2, 2), (2, 1, 2)),
    "no_channels": ((2, 3, 2, 0), (2, 1, 0)),
    "one": ((1, 1, 1, 1), (1, 1, 1)),
    "one_of_many": ((1, 3, 2, 1), (3, 2, 1)),
}
_PLAIN, _UPSTREAM = ((1, 4, 4, 2), (2, 2, 2)), (1, 3, 3, 2)
_ATTRIBUTES = {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": "VALID"}


def _numbers(draw, dtype, *shape):
    """Small integers."""
    return draw.integers(*shape, low=0 if np.dtype(dtype).kind == "u" else -3, high=3).astype(dtype)


def _image(draw, dtype, *shape):
    """Multiples of 1, or of 16 in integers: with those of a filter, their sums within a window all differ."""
    return (_numbers(draw, dtype, *shape) * np.float64(_unit(dtype))).astype(dtype)


def _filter(draw, dtype, *shape):
    """Each place has a fraction of its own, a multiple of 1/16, or of 1."""
    own = np.arange(int(np.prod(shape[:-1]))).reshape(*shape[:-1], 1) / 16
    return ((_numbers(draw, dtype, *shape).astype(float) + own) * _unit(dtype)).astype(dtype)


def _unit(dtype):
    return 16 if np.dtype(dtype).kind in "iu" else 1


def _infinite(draw, dtype, *shape):
    """Numbers, and negative infinities; some windows have nothing but these."""
    x = draw.values(dtype, *shape)
    x.reshape(-1)[: x.size // 2] = -np.inf
    return x


_DISTINCT = (_image, _filter, _numbers)


def _dilation(result):
    """The fields of an op with this result; a gradient has an upstream as its third input."""

    def promise(strides, rates, padding):
        return Dilation(result=result, strides=tuple(strides[1:3]), rates=tuple(rates[1:3]), padding=padding)

    def windows(image, kernel, strides=(1, 1), rates=(1, 1), padding="VALID"):
        own = Dilation(result=result, strides=strides, rates=rates, padding=padding)
        shapes = (image, kernel) if result == "output" else (image, kernel, own.shape(image, kernel))
        return call(*shapes, strides=[1, *strides, 1], rates=[1, *rates, 1], padding=padding)

    calls = {label: windows(*one) for label, one in _WINDOWS.items()}
    return {
        "arguments": ("input", "filter", "out_backprop")[: 2 if result == "output" else 3],
        "promise": promise,
        "calls": calls,
        "recipes": {"distinct": _DISTINCT, "upstreams": _DISTINCT},
        "small": {label: windows(*shapes) for label, shapes in _SMALL.items()},
        "of_small": _DISTINCT,
        "batch": {} if result == "filter" else calls,
        "shared": (1,),
        "dtypes": tiered(FLOATS),
        "modes": WITHOUT_XLA,
    }


def _wrong(kernel, *upstream):
    """Calls that an op refuses: `kernel` is the promise where the kernel checks the argument; `upstream` goes along."""

    def refused(changes, promise, *shapes):
        return {label: unfit(*shapes, promise=promise, **_ATTRIBUTES | own) for label, own in changes.items()}

    of_kernel = {
        "no-stride": {"strides": [1, 0, 1, 1]},
        "negative-stride": {"strides": [1, -1, 1, 1]},
        "no-rate": {"rates": [1, 0, 1, 1]},
    }
    of_other_axes = {"strided-batch": {"strides": [2, 1, 1, 1]}, "rates-of-channels": {"rates": [1, 1, 1, 2]}}
    return {
        **refused(of_kernel, kernel, *_PLAIN, *upstream),
        **refused({"few-strides": {"strides": [1, 1, 1]}}, WHEN_BUILT, *_PLAIN, *upstream),
        **refused(of_other_axes, UNSUPPORTED, *_PLAIN, *upstream),
        **refused({"too-flat": {}}, kernel, (4, 4, 2), (2, 2, 2), *upstream),
        **refused({"deep-filter": {}}, kernel, (1, 4, 4, 2), (2, 2, 2, 1), *upstream),
        **refused({"other-channels": {}}, kernel, (1, 4, 4, 3), (2, 2, 2), *upstream),
    }


_OTHER_UPSTREAMS = {"other-batch": (2, 3, 3, 2), "other-size": (1, 4, 3, 2), "other-outputs": (1, 3, 3, 3)}
_OF_GRADIENT = {
    "gradient": False,
    "wrong": _wrong(IN_KERNEL, _UPSTREAM)
    | {label: unfit(*_PLAIN, shape, promise=IN_KERNEL, **_ATTRIBUTES) for label, shape in _OTHER_UPSTREAMS.items()},
}
_INTEGER = part("-integer", recipes={"distinct": _DISTINCT}, dtypes=INTEGERS, tier="full", gradient=False, rounded=())
SPECS = (
    *op(
        "dilation2d",
        "Dilation2D",
        _INTEGER,
        wrong=_wrong(WHEN_BUILT),
        upstreams={"upstreams": upstreams},
        second=("distinct",),
        forward={"plain": plain, "special": special, "infinite": _infinite},
        **_dilation("output"),
        ordinary=ordinary.IN_OWN_RECIPES | ordinary.TIES,
    ),
    *op(
        "dilation2d-backprop-filter",
        "Dilation2DBackpropFilter",
        _INTEGER,
        **_dilation("filter"),
        **_OF_GRADIENT,
        ordinary=ordinary.IN_OWN_RECIPES | ordinary.TIES,
    ),
    *op(
        "dilation2d-backprop-input",
        "Dilation2DBackpropInput",
        _INTEGER,
        **_dilation("image"),
        **_OF_GRADIENT,
        ordinary=ordinary.IN_OWN_RECIPES | ordinary.TIES,
    ),
)
