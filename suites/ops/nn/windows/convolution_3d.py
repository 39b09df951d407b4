"""Convolutions in three dimensions. Errors count the roundings of any order: see
`suites.reference.neural_networks.convolution`."""

from dataclasses import replace

from tf_opdiff.suites.forms.errors import IN_KERNEL, REMOVED, UNSUPPORTED, WHEN_BUILT, WRONG_OR_UNSUPPORTED
from tf_opdiff.suites.forms.linear_algebra.contraction import OF_FLOATS
from tf_opdiff.suites.forms.neural_networks.convolution import Changes, Convolved, Tables, Windows, convolution
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.programs.removed import Removed
from tf_opdiff.suites.forms.recipes import ordinary

_PADDED = ordinary.padding("[01]")
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
_PLAIN = Windows(image=(1, 2, 3, 3, 2), filter=(2, 2, 2, 2, 3))
_TABLES = Tables(windows=_WINDOWS, further=_FURTHER, large=_LARGE, small=_SMALL, fitting=_PLAIN)
#: What no convolution takes.
_WRONG: Changes = {"no-stride": {"strides": [1, 0, 1, 1, 1]}, "negative-stride": {"strides": [1, -1, 1, 1, 1]}}
_NO_DILATION: Changes = {"no-dilation": {"dilations": [1, 0, 1, 1, 1]}}
_STRIDED_BATCH: Changes = {"strided-batch": {"strides": [2, 1, 1, 1, 1]}}
_DILATED_BATCH: Changes = {"dilated-batch": {"dilations": [2, 1, 1, 1, 1]}}
_FEW_STRIDES: Changes = {"few-strides": {"strides": [1, 1, 1]}}
#: What both gradients refuse.
_OF_GRADIENTS = (
    (IN_KERNEL, _WRONG),
    (WHEN_BUILT, _FEW_STRIDES),
    (WRONG_OR_UNSUPPORTED, {**_NO_DILATION, **_STRIDED_BATCH, **_DILATED_BATCH}),
)
_FORMATS = ("NDHWC", "NCDHW")
_BY_FILTER = Convolved(raw="Conv3DBackpropFilter", result="filter", formats=(), size="filter", shape_of=True)
_BY_INPUT = Convolved(raw="Conv3DBackpropInput", result="image", formats=(), size="input", shape_of=True)


def _older(convolved, suffix="-older", windows=_WINDOWS, dtypes=("float32", "float64", "float16")):
    """A part: values of an op that GraphDef lacks since version 10, in an older graph."""
    removed = Removed(convolved.raw, (), version=10)
    calls = {label: convolved.call(one) for label, one in windows.items()}
    return also(
        suffix,
        calls={label: replace(one, program=removed.older(one.program)) for label, one in calls.items()},
        recipes={label: OF_FLOATS[label] for label in ("plain", "exact")},
        dtypes=tiered(dtypes),
        gradient=False,
        **removed.fields,
    )


SPECS = (
    *op(
        "conv3d",
        **convolution(
            Convolved(raw="Conv3D", formats=_FORMATS),
            _TABLES,
            (
                WHEN_BUILT,
                {
                    **_WRONG,
                    **_FEW_STRIDES,
                    **_NO_DILATION,
                    "too-flat": {"image": (4, 4, 4, 2)},
                    "flat-filter": {"filter": (2, 2, 2, 2)},
                    "too-small": {"image": (1, 1, 3, 3, 2)},
                    "other-channels": {"image": (1, 2, 3, 3, 3)},
                },
            ),
            (UNSUPPORTED, _STRIDED_BATCH),
            (WRONG_OR_UNSUPPORTED, _DILATED_BATCH),
        ),
        ordinary=_PADDED,
    ),
    *op(
        "conv3d-backprop-filter",
        _BY_FILTER.raw,
        _older(_BY_FILTER),
        _older(_BY_FILTER, "-older-small", _SMALL, ("float32",)),
        wrong=_BY_FILTER.unfit(_PLAIN, REMOVED, {"removed": {}}),
        ordinary=_PADDED,
    ),
    *op(
        "conv3d-backprop-filter-v2",
        **convolution(
            Convolved(raw="Conv3DBackpropFilterV2", result="filter", formats=_FORMATS, size="filter_sizes"),
            _TABLES,
            *_OF_GRADIENTS,
            (
                WHEN_BUILT,
                {
                    "few-sizes": {"size": [2, 2, 2, 3]},
                    "negative-size": {"size": [2, -2, 2, 2, 3]},
                    "matrix-of-sizes": {"size": [[2, 2, 2, 2, 3]]},
                },
            ),
            (
                IN_KERNEL,
                {
                    "other-size": {"size": [3, 2, 2, 2, 3]},
                    "other-channels": {"size": [2, 2, 2, 3, 3]},
                    "other-outputs": {"size": [2, 2, 2, 2, 4]},
                    "huge-size": {"size": [2**30, 2**30, 2**30, 2, 3]},
                },
            ),
        ),
        ordinary=_PADDED,
    ),
    *op(
        "conv3d-backprop-input",
        _BY_INPUT.raw,
        _older(_BY_INPUT),
        _older(_BY_INPUT, "-older-small", _SMALL, ("float32",)),
        wrong=_BY_INPUT.unfit(_PLAIN, REMOVED, {"removed": {}}),
        ordinary=_PADDED,
    ),
    *op(
        "conv3d-backprop-input-v2",
        **convolution(
            Convolved(raw="Conv3DBackpropInputV2", result="image", formats=_FORMATS, size="input_sizes"),
            _TABLES,
            *_OF_GRADIENTS,
            (
                WHEN_BUILT,
                {
                    "few-sizes": {"size": [1, 3, 3, 2]},
                    "negative-size": {"size": [1, -2, 3, 3, 2]},
                    "matrix-of-sizes": {"size": [[1, 2, 3, 3, 2]]},
                },
            ),
            (
                IN_KERNEL,
                {
                    "other-size": {"size": [1, 2, 4, 3, 2]},
                    "other-batch": {"size": [2, 2, 3, 3, 2]},
                    "other-channels": {"size": [1, 2, 3, 3, 3]},
                    "huge-size": {"size": [1, 2**30, 2**30, 2**30, 2]},
                },
            ),
        ),
        ordinary=_PADDED,
    ),
)
