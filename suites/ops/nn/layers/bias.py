"""Biases: one number for each channel. Errors are those of sums in any order: see
`suites.reference.neural_networks.bias`."""

from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS
from tf_opdiff.suites.forms.calls import call, each
from tf_opdiff.suites.forms.linear_algebra.contraction import CONTRACTED, of_complex
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.reference.neural_networks.bias import BiasAdd, BiasAddGrad

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


def _add(shape, first=False):
    """A call with a tensor and its biases."""
    return call(shape, (shape[1 if first else -1],), data_format=_FORMATS[first])


def _add_v1(shape):
    return call(shape, shape[-1:])


_SHARED: dict[str, Any] = {**CONTRACTED, "dtypes": tiered(FLOATS), "integers": tiered(INTEGERS)}
_OF_BIASES: dict[str, Any] = {
    **_SHARED,
    "arguments": ("value", "bias"),
    "shared": (1,),
    "wrong": {
        "vector": ((3,), (3,)),
        "matrix-of-biases": ((2, 3), (2, 3)),
        "scalar-bias": ((2, 3), ()),
        "other-channels": ((2, 3), (2,)),
        "one-bias": ((2, 3), (1,)),
    },
}

SPECS = (
    *op(
        "bias-add",
        "BiasAdd",
        of_complex,
        promise=BiasAdd,
        calls={label: _add(*tensor) for label, tensor in _TENSORS.items()},
        small={label: _add(shape) for label, shape in _SMALL.items()},
        batch={label: _add(*tensor) for label, tensor in _TENSORS.items()},
        **_OF_BIASES,
    ),
    *op(
        "bias-add-grad",
        "BiasAddGrad",
        of_complex,
        arguments=("out_backprop",),
        promise=BiasAddGrad,
        calls={label: call(shape, data_format=_FORMATS[first]) for label, (shape, first) in _TENSORS.items()},
        small=each(_SMALL, data_format=_FORMATS[False]),
        wrong={"vector": ((3,),)},
        **_SHARED,
    ),
    *op(
        "bias-add-v1",
        "BiasAddV1",
        of_complex,
        promise=BiasAdd(),
        calls={label: _add_v1(shape) for label, shape in _LAST.items()},
        small={label: _add_v1(shape) for label, shape in _SMALL.items()},
        batch={label: _add_v1(shape) for label, shape in _LAST.items()},
        **_OF_BIASES,
    ),
)
