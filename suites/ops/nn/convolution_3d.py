"""Convolutions in three dimensions. Errors count the roundings of any order: see `suites.reference.convolution`."""

from typing import Any

from tf_opdiff.suites.forms.convolution import Calls, Convolved, Windows, convolution
from tf_opdiff.suites.forms.errors import IN_KERNEL, REMOVED, UNSUPPORTED, WHEN_BUILT, WRONG_OR_UNSUPPORTED
from tf_opdiff.suites.forms.op import op

_WINDOWS = {
    "valid": Windows(image=(2, 3, 3, 2, 3), filter=(2, 3, 1, 3, 4)),
    "strided": Windows(image=(1, 3, 4, 5, 2), filter=(2, 2, 3, 2, 3), strides=(2, 1, 3), padding="SAME"),
    "pointwise": Windows(image=(1, 2, 2, 3, 5), filter=(1, 1, 1, 5, 2)),
}
#: Windows for which not every CPU kernel has gradients.
_FURTHER = {
    "dilated": Windows(image=(1, 3, 4, 2, 2), filter=(2, 2, 1, 2, 1), dilations=(2, 3, 1), padding="SAME"),
    "groups": Windows(image=(1, 2, 2, 3, 4), filter=(2, 2, 2, 2, 4)),
    "first": Windows(image=(1, 3, 3, 2, 3), filter=(2, 3, 1, 3, 4), channels_first=True),
}
_LARGE = {"large": Windows(image=(1, 3, 4, 5, 17), filter=(3, 2, 3, 17, 19), padding="SAME")}
_SMALL = {
    "no_batch": Windows(image=(0, 2, 3, 4, 2), filter=(1, 2, 3, 2, 3)),
    "one": Windows(image=(1, 1, 1, 1, 1), filter=(1, 1, 1, 1, 1)),
    "one_of_many": Windows(image=(1, 2, 3, 2, 2), filter=(2, 3, 2, 2, 1)),
}
_CALLS: dict[str, Any] = {"windows": _WINDOWS, "further": _FURTHER, "large": _LARGE, "small": _SMALL}
_PLAIN = Windows(image=(1, 2, 3, 3, 2), filter=(2, 2, 2, 2, 3))
#: Attributes that no convolution takes.
_WRONG = {
    "no-stride": {"strides": [1, 0, 1, 1, 1]},
    "negative-stride": {"strides": [1, -1, 1, 1, 1]},
}
_NO_DILATION = {"no-dilation": {"dilations": [1, 0, 1, 1, 1]}}
_STRIDED_BATCH = {"strided-batch": {"strides": [2, 1, 1, 1, 1]}}
_DILATED_BATCH = {"dilated-batch": {"dilations": [2, 1, 1, 1, 1]}}
_OF_KERNELS = {**_NO_DILATION, **_STRIDED_BATCH, **_DILATED_BATCH}
_FEW_STRIDES = {"few-strides": {"strides": [1, 1, 1]}}
_FORMATS = ("NDHWC", "NCDHW")
_CONV3D = Convolved(raw="Conv3D", formats=_FORMATS)
_BY_FILTER = Convolved(raw="Conv3DBackpropFilter", result="filter", formats=(), size="filter", shape_of=True)
_BY_FILTER_V2 = Convolved(raw="Conv3DBackpropFilterV2", result="filter", formats=_FORMATS, size="filter_sizes")
_BY_INPUT = Convolved(raw="Conv3DBackpropInput", result="image", formats=(), size="input", shape_of=True)
_BY_INPUT_V2 = Convolved(raw="Conv3DBackpropInputV2", result="image", formats=_FORMATS, size="input_sizes")
_OTHER_FILTERS = {
    "other-size": [3, 2, 2, 2, 3],
    "other-channels": [2, 2, 2, 3, 3],
    "other-outputs": [2, 2, 2, 2, 4],
}
_OTHER_IMAGES = {"other-size": [1, 2, 4, 3, 2], "other-batch": [2, 2, 3, 3, 2], "other-channels": [1, 2, 3, 3, 3]}

SPECS = (
    *convolution(
        "conv3d",
        _CONV3D,
        Calls(
            **_CALLS,
            wrong={
                **_CONV3D.changed(_PLAIN, {**_WRONG, **_FEW_STRIDES, **_NO_DILATION}, WHEN_BUILT),
                **_CONV3D.changed(_PLAIN, _STRIDED_BATCH, UNSUPPORTED),
                **_CONV3D.changed(_PLAIN, _DILATED_BATCH, WRONG_OR_UNSUPPORTED),
                **_CONV3D.reshaped(
                    _PLAIN,
                    {
                        "too-flat": {"image": (4, 4, 4, 2)},
                        "flat-filter": {"filter": (2, 2, 2, 2)},
                        "too-small": {"image": (1, 1, 3, 3, 2)},
                        "other-channels": {"image": (1, 2, 3, 3, 3)},
                    },
                    WHEN_BUILT,
                ),
            },
        ),
    ),
    *op("conv3d-backprop-filter", _BY_FILTER.raw, wrong=_BY_FILTER.changed(_PLAIN, {"removed": {}}, REMOVED)),
    *convolution(
        "conv3d-backprop-filter-v2",
        _BY_FILTER_V2,
        Calls(
            **_CALLS,
            wrong={
                **_BY_FILTER_V2.changed(_PLAIN, _WRONG, IN_KERNEL),
                **_BY_FILTER_V2.changed(_PLAIN, _FEW_STRIDES, WHEN_BUILT),
                **_BY_FILTER_V2.changed(_PLAIN, _OF_KERNELS, WRONG_OR_UNSUPPORTED),
                **_BY_FILTER_V2.sized(
                    _PLAIN,
                    {
                        "few-sizes": [2, 2, 2, 3],
                        "negative-size": [2, -2, 2, 2, 3],
                        "matrix-of-sizes": [[2, 2, 2, 2, 3]],
                    },
                    WHEN_BUILT,
                ),
                **_BY_FILTER_V2.sized(_PLAIN, {**_OTHER_FILTERS, "huge-size": [2**30, 2**30, 2**30, 2, 3]}, IN_KERNEL),
            },
        ),
    ),
    *op("conv3d-backprop-input", _BY_INPUT.raw, wrong=_BY_INPUT.changed(_PLAIN, {"removed": {}}, REMOVED)),
    *convolution(
        "conv3d-backprop-input-v2",
        _BY_INPUT_V2,
        Calls(
            **_CALLS,
            wrong={
                **_BY_INPUT_V2.changed(_PLAIN, _WRONG, IN_KERNEL),
                **_BY_INPUT_V2.changed(_PLAIN, _FEW_STRIDES, WHEN_BUILT),
                **_BY_INPUT_V2.changed(_PLAIN, _OF_KERNELS, WRONG_OR_UNSUPPORTED),
                **_BY_INPUT_V2.sized(
                    _PLAIN,
                    {
                        "few-sizes": [1, 3, 3, 2],
                        "negative-size": [1, -2, 3, 3, 2],
                        "matrix-of-sizes": [[1, 2, 3, 3, 2]],
                    },
                    WHEN_BUILT,
                ),
                **_BY_INPUT_V2.sized(_PLAIN, {**_OTHER_IMAGES, "huge-size": [1, 2**30, 2**30, 2**30, 2]}, IN_KERNEL),
            },
        ),
    ),
)
