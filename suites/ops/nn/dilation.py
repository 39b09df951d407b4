"""Dilations: the largest sums of the windows of an image and of a filter."""

from tf_opdiff.suites.forms.calls import Wrong
from tf_opdiff.suites.forms.dilation import Grid, dilation, raw
from tf_opdiff.suites.forms.errors import IN_KERNEL, UNSUPPORTED, WHEN_BUILT

_GRIDS = {
    "valid": Grid(image=(2, 4, 5, 3), filter=(2, 3, 3)),
    "strided": Grid(image=(1, 5, 6, 2), filter=(3, 2, 2), strides=(2, 3), padding="SAME"),
    "rates": Grid(image=(1, 6, 5, 2), filter=(3, 2, 2), rates=(2, 3), padding="SAME"),
    "point": Grid(image=(2, 3, 2, 5), filter=(1, 1, 5)),
}
_SMALL = {
    "no_batch": Grid(image=(0, 3, 2, 2), filter=(2, 1, 2)),
    "no_channels": Grid(image=(2, 3, 2, 0), filter=(2, 1, 0)),
    "one": Grid(image=(1, 1, 1, 1), filter=(1, 1, 1)),
    "one_of_many": Grid(image=(1, 3, 2, 1), filter=(3, 2, 1)),
}
_PLAIN = Grid(image=(1, 4, 4, 2), filter=(2, 2, 2))
_ATTRIBUTES = {
    "no-stride": {"strides": [1, 0, 1, 1]},
    "negative-stride": {"strides": [1, -1, 1, 1]},
    "no-rate": {"rates": [1, 0, 1, 1]},
}
_FEW_STRIDES = {"few-strides": {"strides": [1, 1, 1]}}
_OF_OTHER_AXES = {
    "strided-batch": {"strides": [2, 1, 1, 1]},
    "rates-of-channels": {"rates": [1, 1, 1, 2]},
}
_SHAPES = {
    "too-flat": ((4, 4, 2), (2, 2, 2)),
    "deep-filter": ((1, 4, 4, 2), (2, 2, 2, 1)),
    "other-channels": ((1, 4, 4, 3), (2, 2, 2)),
}
_OTHER_UPSTREAMS = {
    "other-batch": (2, 3, 3, 2),
    "other-size": (1, 4, 3, 2),
    "other-outputs": (1, 3, 3, 3),
}


def _wrong(op, result):
    """Calls of an op that it refuses."""
    promise = WHEN_BUILT if result == "output" else IN_KERNEL
    tensors, upstream = _PLAIN.shapes(result), _PLAIN.shapes("image")[2:]
    every = ((_ATTRIBUTES, promise), (_FEW_STRIDES, WHEN_BUILT), (_OF_OTHER_AXES, UNSUPPORTED))
    calls = {
        label: Wrong(raw(op, _PLAIN, **own), tensors, kind) for changes, kind in every for label, own in changes.items()
    }
    rest = upstream if result != "output" else ()
    calls |= {label: Wrong(raw(op, _PLAIN), (*shapes, *rest), promise) for label, shapes in _SHAPES.items()}
    if result != "output":
        others = _OTHER_UPSTREAMS.items()
        calls |= {label: Wrong(raw(op, _PLAIN), (*tensors[:2], shape), promise) for label, shape in others}
    return calls


def _dilation(name, op, result):
    return dilation(name, op, result, _GRIDS, _SMALL, _wrong(op, result))


SPECS = (
    *_dilation("dilation2d", "Dilation2D", "output"),
    *_dilation("dilation2d-backprop-filter", "Dilation2DBackpropFilter", "filter"),
    *_dilation("dilation2d-backprop-input", "Dilation2DBackpropInput", "image"),
)
