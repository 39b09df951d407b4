"""Convolutions in two dimensions in which each channel has filters of its own, and their gradients."""

from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.neural_networks.convolution import Changes, Convolved, Tables, Windows, convolution
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import plain

_WINDOWS = {
    "valid": Windows(image=(2, 4, 4, 3), filter=(3, 2, 3, 2)),
    "strided": Windows(image=(2, 5, 6, 3), filter=(3, 2, 3, 2), strides=(2, 2), padding="SAME"),
    "explicit": Windows(image=(1, 3, 4, 2), filter=(3, 2, 2, 3), padding=((1, 2), (0, 1))),
    "pointwise": Windows(image=(2, 2, 3, 5), filter=(1, 1, 5, 1)),
}
#: Windows that not every kernel takes.
_FURTHER = {
    "dilated": Windows(image=(1, 5, 6, 2), filter=(3, 2, 2, 3), dilations=(2, 3), padding="SAME"),
    "unlike_strides": Windows(image=(1, 5, 6, 2), filter=(2, 3, 2, 1), strides=(1, 2), padding="SAME"),
    "first": Windows(image=(1, 5, 4, 2), filter=(2, 3, 2, 2), strides=(2, 2), padding="SAME", channels_first=True),
}
_LARGE = {"large": Windows(image=(2, 9, 8, 17), filter=(3, 3, 17, 2), padding="SAME")}
_SMALL = {
    "no_channels": Windows(image=(2, 3, 4, 0), filter=(2, 3, 0, 1)),
    "one": Windows(image=(1, 1, 1, 1), filter=(1, 1, 1, 1)),
    "one_of_many": Windows(image=(1, 3, 2, 1), filter=(3, 2, 1, 1)),
}
_TABLES = Tables(
    windows=_WINDOWS,
    further=_FURTHER,
    large=_LARGE,
    small=_SMALL,
    fitting=Windows(image=(1, 4, 4, 2), filter=(2, 2, 2, 3)),
    apart=True,
)
_WRONG: Changes = {
    "no-stride": {"strides": [1, 0, 0, 1]},
    "few-strides": {"strides": [1, 1, 1]},
    "negative-padding": {"padding": "EXPLICIT", "explicit_paddings": [0, 0, -1, 0, 0, 0, 0, 0]},
    "few-paddings": {"padding": "EXPLICIT", "explicit_paddings": [0, 0, 1, 0]},
    "paddings-of-valid": {"explicit_paddings": [0, 0, 1, 0, 0, 0, 0, 0]},
}
_OUTPUT = Convolved(raw="DepthwiseConv2dNative", depthwise=True)
_BY_FILTER = Convolved(raw="DepthwiseConv2dNativeBackpropFilter", result="filter", size="filter_sizes", depthwise=True)
_BY_INPUT = Convolved(raw="DepthwiseConv2dNativeBackpropInput", result="image", size="input_sizes", depthwise=True)


def _no_batch(convolved):
    """A part: a batch without images, without gradients.

    TensorFlow's own kernel allocates the gradient by the filter of such a batch and writes nothing into it. The numbers
    differ from run to run, and may be zeros, which are right: no promise can be kept or broken reliably.
    """
    calls = {"only": convolved.call(Windows(image=(0, 3, 4, 2), filter=(2, 3, 2, 3)))}
    return also("-no-batch", calls=calls, recipes={"plain": plain}, gradient=False, dtypes=("float32",))


SPECS = (
    *op(
        "depthwise-conv2d-native",
        **convolution(
            _OUTPUT,
            _TABLES,
            (
                WHEN_BUILT,
                {
                    **_WRONG,
                    "too-flat": {"image": (4, 4, 2)},
                    "flat-filter": {"filter": (2, 2, 2)},
                    "other-channels": {"image": (1, 4, 4, 3)},
                    "too-small": {"image": (1, 1, 4, 2)},
                },
            ),
            more=(_no_batch(_OUTPUT),),
        ),
        ordinary=ordinary.padding("1"),
    ),
    *op(
        "depthwise-conv2d-native-backprop-filter",
        **convolution(
            _BY_FILTER,
            _TABLES,
            (WHEN_BUILT, {"few-sizes": {"size": [2, 2, 2]}}),
            (IN_KERNEL, {**_WRONG, "other-size": {"size": [3, 2, 2, 3]}, "other-channels": {"size": [2, 2, 3, 3]}}),
        ),
        ordinary=ordinary.padding("1"),
    ),
    *op(
        "depthwise-conv2d-native-backprop-input",
        **convolution(
            _BY_INPUT,
            _TABLES,
            (WHEN_BUILT, {"few-sizes": {"size": [1, 4, 4]}}),
            (IN_KERNEL, {**_WRONG, "other-size": {"size": [1, 5, 4, 2]}, "other-channels": {"size": [1, 4, 4, 3]}}),
            more=(_no_batch(_BY_INPUT),),
        ),
        ordinary=ordinary.padding("[01]"),
    ),
)
