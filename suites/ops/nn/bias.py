"""Biases: one number for each channel. Errors are those of sums in any order: see `suites.reference.bias`."""

from tf_opdiff.harness.spec.recipes import COMPLEX, INTEGERS
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.contraction import contraction
from tf_opdiff.suites.reference.bias import BiasAdd, BiasAddGrad

#: Label → the shape of a tensor, and whether its channels are first.
_TENSORS = {
    "rows": ((3, 7), False),
    "planes": ((2, 3, 5), False),
    "images": ((2, 3, 2, 5), False),
    "volumes": ((2, 1, 3, 2, 4), False),
    "first": ((2, 5, 3), True),
    "first_images": ((2, 3, 2, 5), True),
    "first_volumes": ((1, 4, 3, 2, 2), True),
}
_SMALL = {"no_rows": (0, 3), "no_channels": (2, 0), "no_places": (2, 0, 3), "one": (1, 1), "ones": (1, 1, 1)}
_FORMATS = {False: "NHWC", True: "NCHW"}
_LAST = {label: shape for label, (shape, first) in _TENSORS.items() if not first}


def _of(name):
    """program(tf, value, bias) of an op that has no data format."""
    return lambda tf, value, bias: getattr(tf.raw_ops, name)(value=value, bias=bias)


def _add(shape, first=False):
    """A call of `BiasAdd`."""
    channels = shape[1 if first else -1]
    return Call(
        lambda tf, value, bias: tf.raw_ops.BiasAdd(value=value, bias=bias, data_format=_FORMATS[first]),
        BiasAdd(first),
        (shape, (channels,)),
    )


def _add_v1(shape):
    """A call of `BiasAddV1`."""
    return Call(_of("BiasAddV1"), BiasAdd(), (shape, shape[-1:]))


def _grad(shape, first=False):
    """A call of `BiasAddGrad`."""
    return Call(
        lambda tf, g: tf.raw_ops.BiasAddGrad(out_backprop=g, data_format=_FORMATS[first]), BiasAddGrad(first), (shape,)
    )


#: Label → shapes of a tensor and a bias that do not fit.
_WRONG = {
    "vector": ((3,), (3,)),
    "matrix-of-biases": ((2, 3), (2, 3)),
    "scalar-bias": ((2, 3), ()),
    "other-channels": ((2, 3), (2,)),
    "one-bias": ((2, 3), (1,)),
}

SPECS = (
    *contraction(
        "bias-add",
        "BiasAdd",
        {label: _add(*tensor) for label, tensor in _TENSORS.items()},
        {label: {"only": _add(shape)} for label, shape in _SMALL.items()},
        batch={label: _add(*tensor) for label, tensor in _TENSORS.items()},
        shared=(1,),
        wrong={label: Wrong(_of("BiasAdd"), shapes) for label, shapes in _WRONG.items()},
        complex_dtypes=COMPLEX,
        integers=INTEGERS,
    ),
    *contraction(
        "bias-add-grad",
        "BiasAddGrad",
        {label: _grad(*tensor) for label, tensor in _TENSORS.items()},
        {label: {"only": _grad(shape)} for label, shape in _SMALL.items()},
        wrong={"vector": Wrong(lambda tf, g: tf.raw_ops.BiasAddGrad(out_backprop=g), ((3,),))},
        complex_dtypes=COMPLEX,
        integers=INTEGERS,
    ),
    *contraction(
        "bias-add-v1",
        "BiasAddV1",
        {label: _add_v1(shape) for label, shape in _LAST.items()},
        {label: {"only": _add_v1(shape)} for label, shape in _SMALL.items()},
        batch={label: _add_v1(shape) for label, shape in _LAST.items()},
        shared=(1,),
        wrong={label: Wrong(_of("BiasAddV1"), shapes) for label, shapes in _WRONG.items()},
        complex_dtypes=COMPLEX,
        integers=INTEGERS,
    ),
)
