"""Convolutions in two dimensions. Errors count the roundings of any order: see
`suites.reference.neural_networks.convolution`."""

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.suites.forms.errors import IN_KERNEL, UNCHECKED_IN_EAGER, UNSUPPORTED, WHEN_BUILT, WRONG_OR_UNSUPPORTED
from tf_opdiff.suites.forms.neural_networks.convolution import Changes, Convolved, Tables, Windows, convolution
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes import ordinary

_WINDOWS = {
    "valid": Windows(image=(2, 4, 4, 3), filter=(3, 2, 3, 4)),
    "strided": Windows(image=(2, 5, 6, 3), filter=(3, 2, 3, 2), strides=(2, 3), padding="SAME"),
    "explicit": Windows(image=(1, 3, 4, 2), filter=(3, 2, 2, 3), strides=(1, 2), padding=((1, 2), (0, 1))),
    "pointwise": Windows(image=(2, 2, 3, 5), filter=(1, 1, 5, 2)),
}
#: Windows for which not every CPU kernel has gradients.
_FURTHER = {
    "dilated": Windows(image=(1, 5, 4, 2), filter=(3, 2, 2, 3), dilations=(2, 3), padding="SAME"),
    "groups": Windows(image=(1, 3, 4, 4), filter=(2, 3, 2, 6)),
    "first": Windows(image=(2, 4, 4, 3), filter=(3, 2, 3, 4), channels_first=True),
    "first_strided": Windows(
        image=(1, 5, 4, 2), filter=(2, 3, 2, 1), strides=(2, 1), padding="SAME", channels_first=True
    ),
}
_LARGE = {"large": Windows(image=(2, 9, 8, 17), filter=(3, 3, 17, 19), padding="SAME")}
_SMALL = {
    "no_batch": Windows(image=(0, 3, 4, 2), filter=(2, 3, 2, 3)),
    "one": Windows(image=(1, 1, 1, 1), filter=(1, 1, 1, 1)),
    "one_of_many": Windows(image=(1, 3, 2, 2), filter=(3, 2, 2, 1)),
}
_PLAIN = Windows(image=(1, 4, 4, 2), filter=(2, 2, 2, 3))
_TABLES = Tables(windows=_WINDOWS, further=_FURTHER, large=_LARGE, small=_SMALL, fitting=_PLAIN)
#: What no convolution takes.
_WRONG: Changes = {
    "no-stride": {"strides": [1, 0, 1, 1]},
    "negative-stride": {"strides": [1, -1, 1, 1]},
    "few-strides": {"strides": [1, 1, 1]},
    "negative-padding": {"padding": "EXPLICIT", "explicit_paddings": [0, 0, -1, 0, 0, 0, 0, 0]},
    "padded-batch": {"padding": "EXPLICIT", "explicit_paddings": [1, 0, 0, 0, 0, 0, 0, 0]},
    "paddings-of-valid": {"explicit_paddings": [0, 0, 1, 0, 0, 0, 0, 0]},
}
_NO_DILATION: Changes = {"no-dilation": {"dilations": [1, 0, 1, 1]}}
_FEW_PADDINGS: Changes = {"few-paddings": {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 0]}}
_OF_BATCH: Changes = {"strided-batch": {"strides": [2, 1, 1, 1]}, "dilated-batch": {"dilations": [2, 1, 1, 1]}}
_SHAPES: Changes = {
    "too-flat": {"image": (4, 4, 2)},
    "flat-filter": {"filter": (2, 2, 2)},
    "other-channels": {"image": (1, 4, 4, 3)},
    "too-small": {"image": (1, 1, 4, 2)},
}

SPECS = (
    *op(
        "conv",
        **convolution(
            Convolved(raw="Conv", formats=("CHANNELS_LAST", "CHANNELS_FIRST"), grouped=True),
            Tables(
                windows={**_WINDOWS, "dilated": _FURTHER["dilated"]},
                further={label: windows for label, windows in _FURTHER.items() if label != "dilated"},
                large={
                    **_LARGE,
                    "cube": Windows(image=(1, 3, 4, 5, 2), filter=(2, 2, 3, 2, 3), strides=(2, 1, 3), padding="SAME"),
                },
                small=_SMALL,
                fitting=_PLAIN,
            ),
            (WHEN_BUILT, {**_WRONG, **_NO_DILATION, **_SHAPES}),
            (WHEN_BUILT, {"line": {"image": (1, 4, 2), "filter": (2, 2, 3)}, "groups-unsaid": {"image": (1, 4, 4, 4)}}),
            (UNCHECKED_IN_EAGER, _FEW_PADDINGS),
            (WRONG_OR_UNSUPPORTED, _OF_BATCH),
            dtypes=(*FLOATS, "int32"),
            gradient=False,
        ),
        ordinary=ordinary.padding("1"),
    ),
    *op(
        "conv2d",
        **convolution(
            Convolved(raw="Conv2D"),
            _TABLES,
            (WHEN_BUILT, {**_WRONG, **_NO_DILATION, **_SHAPES}),
            (
                WHEN_BUILT,
                {
                    "no-channels": {"image": (1, 4, 4, 0), "filter": (2, 2, 0, 3)},
                    "no-rows": {"image": (2, 0, 4, 2), "filter": (1, 2, 2, 3)},
                },
            ),
            (UNCHECKED_IN_EAGER, _FEW_PADDINGS),
            (UNSUPPORTED, _OF_BATCH),
            (IN_KERNEL, {"no-outputs": {"filter": (2, 2, 2, 0)}, "no-filter": {"filter": (0, 2, 2, 3)}}),
            dtypes=(*FLOATS, "int32"),
        ),
        ordinary=ordinary.padding("1"),
    ),
    *op(
        "conv2d-backprop-filter",
        **convolution(
            Convolved(raw="Conv2DBackpropFilter", result="filter", size="filter_sizes"),
            _TABLES,
            (IN_KERNEL, {**_WRONG, **_FEW_PADDINGS}),
            (WRONG_OR_UNSUPPORTED, _NO_DILATION),
            (
                WHEN_BUILT,
                {
                    "few-sizes": {"size": [2, 2, 2]},
                    "negative-size": {"size": [2, -2, 2, 3]},
                    "matrix-of-sizes": {"size": [[2, 2, 2, 3]]},
                },
            ),
            (
                IN_KERNEL,
                {
                    "other-size": {"size": [3, 2, 2, 3]},
                    "other-channels": {"size": [2, 2, 3, 3]},
                    "other-outputs": {"size": [2, 2, 2, 4]},
                    "huge-size": {"size": [2**30, 2**30, 2, 3]},
                    "other-batch": {"image": (2, 4, 4, 2)},
                },
            ),
        ),
        ordinary=ordinary.padding("1"),
    ),
    *op(
        "conv2d-backprop-input",
        **convolution(
            Convolved(raw="Conv2DBackpropInput", result="image", size="input_sizes"),
            _TABLES,
            (IN_KERNEL, {**_WRONG, **_FEW_PADDINGS}),
            (WRONG_OR_UNSUPPORTED, _NO_DILATION),
            (
                WHEN_BUILT,
                {
                    "few-sizes": {"size": [1, 4, 4]},
                    "negative-size": {"size": [1, -4, 4, 2]},
                    "matrix-of-sizes": {"size": [[1, 4, 4, 2]]},
                    "other-batch": {"size": [2, 4, 4, 2]},
                    "other-outputs": {"output": (1, 3, 3, 4)},
                },
            ),
            (
                IN_KERNEL,
                {
                    "other-size": {"size": [1, 5, 4, 2]},
                    "other-channels": {"size": [1, 4, 4, 3]},
                    "huge-size": {"size": [1, 2**30, 2**30, 2]},
                },
            ),
            dtypes=(*FLOATS, "int32"),
        ),
        ordinary=ordinary.padding("[01]"),
    ),
)
