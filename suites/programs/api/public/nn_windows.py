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


def _padding(padding, explicit_paddings=None):
    """The padding: a name, or pairs of numbers for each dimension."""
    return [explicit_paddings[i : i + 2] for i in (0, 2, 4, 6)] if padding == "EXPLICIT" else padding


def _convolved(f, input, filter, strides, dilations, padding, data_format, **explicit):
    return f(input, filter, strides, _padding(padding, **explicit), data_format, dilations)


def _depthwise(f, input, filter, strides, dilations, padding, data_format, **explicit):
    return f(input, filter, strides, _padding(padding, **explicit), data_format, dilations[1:3])


def _inside(f, input, filter, strides, dilations, padding, data_format):
    """A convolution whose strides and dilations are those of the spatial dimensions."""
    return f(input, filter, strides[1:-1], padding, data_format, dilations[1:-1])


def _transposed(f, filter, out_backprop, input_sizes, strides, dilations, padding, data_format, **explicit):
    return f(out_backprop, filter, input_sizes, strides, _padding(padding, **explicit), data_format, dilations)


def _filter(f, input, out_backprop, filter_sizes, strides, dilations, padding, data_format, **explicit):
    return f(input, filter_sizes, out_backprop, strides, _padding(padding, **explicit), data_format, dilations)


def _input(f, filter, out_backprop, input_sizes, strides, dilations, padding, data_format, **explicit):
    return f(input_sizes, filter, out_backprop, strides, _padding(padding, **explicit), data_format, dilations)


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
