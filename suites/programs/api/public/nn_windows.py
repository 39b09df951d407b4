"""Functions of `tf.nn` of windows: convolutions, pools and dilations."""

from tf_opdiff.suites.forms.programs.public import Public, twins
from tf_opdiff.suites.ops.nn.windows import (
    average_pooling,
    convolution,
    convolution_3d,
    depthwise_convolution,
    dilation,
    max_pooling,
)


def _attributes(strides, dilations, padding, data_format, explicit_paddings=()):
    """Strides, padding, data format and dilations; an explicit padding is a pair of numbers for each dimension."""
    pairs = [explicit_paddings[i : i + 2] for i in (0, 2, 4, 6)]
    return strides, pairs if padding == "EXPLICIT" else padding, data_format, dilations


def _convolved(f, input, filter, **attributes):
    return f(input, filter, *_attributes(**attributes))


def _depthwise(f, input, filter, **attributes):
    *others, dilations = _attributes(**attributes)
    return f(input, filter, *others, dilations[1:3])


def _inside(f, input, filter, **attributes):
    """A convolution whose strides and dilations are those of the spatial dimensions."""
    strides, *others, dilations = _attributes(**attributes)
    return f(input, filter, strides[1:-1], *others, dilations[1:-1])


def _transposed(f, filter, out_backprop, input_sizes, **attributes):
    return f(out_backprop, filter, input_sizes, *_attributes(**attributes))


def _filter(f, input, out_backprop, filter_sizes, **attributes):
    return f(input, filter_sizes, out_backprop, *_attributes(**attributes))


def _input(f, filter, out_backprop, input_sizes, **attributes):
    return f(input_sizes, filter, out_backprop, *_attributes(**attributes))


def _dilated(f, input, filter, strides, rates, padding):
    return f(input, filter, strides, padding, "NHWC", rates)


def _eroded(f, input, filter, strides, rates, padding):
    """The dilation by way of the erosion, by the definition of erosion as a dual."""
    return -f(-input, filter[::-1, ::-1], strides, padding, "NHWC", rates)


def _with_argmax(f, input, ksize, strides, padding, **batch):
    return f(input, ksize, strides, padding, **batch)


SPECS = (
    *twins(
        average_pooling,
        "nn.avg_pool",
        Public("nn.avg_pool2d", of="avg-pool"),
        Public("nn.avg_pool3d", of="avg-pool-3d"),
    ),
    *twins(
        max_pooling,
        "nn.max_pool",
        Public("nn.max_pool2d", of="max-pool"),
        Public("nn.max_pool3d", of="max-pool-3d"),
        Public("nn.max_pool_with_argmax", call=_with_argmax),
    ),
    *twins(convolution, Public("nn.conv2d", call=_convolved)),
    *twins(convolution, Public("nn.conv2d_transpose", of="conv2d-backprop-input", call=_transposed)),
    *twins(
        convolution_3d,
        Public("nn.conv3d", call=_convolved),
        Public("nn.conv3d_transpose", of="conv3d-backprop-input-v2", call=_transposed),
        Public("nn.conv_transpose", of="conv3d-backprop-input-v2", call=_transposed),
        Public("nn.convolution", of="conv3d", call=_inside),
    ),
    *twins(
        depthwise_convolution,
        Public("nn.depthwise_conv2d", of="depthwise-conv2d-native", call=_depthwise),
        Public("nn.depthwise_conv2d_backprop_filter", of="depthwise-conv2d-native-backprop-filter", call=_filter),
        Public("nn.depthwise_conv2d_backprop_input", of="depthwise-conv2d-native-backprop-input", call=_input),
    ),
    *twins(
        dilation,
        Public("nn.dilation2d", call=_dilated),
        Public("nn.erosion2d", of="dilation2d", call=_eroded, ops="Dilation2D;Neg"),
    ),
)
