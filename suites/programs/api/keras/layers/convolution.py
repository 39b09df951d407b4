"""Convolution layers: https://keras.io/api/layers/convolution_layers/."""

from tf_opdiff.suites.forms.programs.keras_layers import Layer, layers
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.reference.neural_networks.convolution import Convolution


def _convolved(strides, dilations, padding="VALID", depthwise=0):
    """A convolution, and a bias."""
    form = Convolution(strides=strides, dilations=dilations, padding=padding, depthwise=depthwise)
    return lambda x, kernel, bias: form.f(x, kernel) + bias


def _transposed(strides, dilations, padding, size):
    """The gradient of a convolution by an image of this size, and a bias."""
    form = Convolution(result="image", strides=strides, dilations=dilations, padding=padding, size=size)
    return lambda x, kernel, bias: form.f(kernel, x) + bias


def _separable(strides, padding):
    """A convolution of each channel, a product with a matrix at each place, and a bias."""
    ones = (1,) * len(strides)
    each = Convolution(strides=strides, dilations=ones, padding=padding, depthwise=2)
    return lambda x, kernel, pointwise, bias: each.f(x, kernel) @ pointwise.reshape(pointwise.shape[-2:]) + bias


def _conv(name, make, formula, image, *weights):
    return Layer(name=name, make=make, formula=formula, shapes=(image,), weights=weights, units=2)


SPECS = (
    layers(
        "api-keras-convolution",
        _conv(
            "Conv1D",
            lambda tf, d: tf.keras.layers.Conv1D(4, 3, padding="causal", dilation_rate=2, dtype=d),
            _convolved((1,), (2,), ((4, 0),)),
            *((2, 7, 2), (3, 2, 4), (4,)),
        ),
        _conv(
            "Conv2D",
            lambda tf, d: tf.keras.layers.Conv2D(4, (3, 2), strides=(2, 1), padding="same", groups=2, dtype=d),
            _convolved((2, 1), (1, 1), "SAME"),
            *((2, 5, 4, 4), (3, 2, 2, 4), (4,)),
        ),
        _conv(
            "Conv3D",
            lambda tf, d: tf.keras.layers.Conv3D(3, 2, strides=(1, 2, 1), dtype=d),
            _convolved((1, 2, 1), (1, 1, 1)),
            *((1, 3, 4, 3, 2), (2, 2, 2, 2, 3), (3,)),
        ),
        _conv(
            "DepthwiseConv1D",
            lambda tf, d: tf.keras.layers.DepthwiseConv1D(3, strides=2, depth_multiplier=2, dtype=d),
            _convolved((2,), (1,), depthwise=2),
            *((2, 7, 3), (3, 3, 2), (6,)),
        ),
        _conv(
            "DepthwiseConv2D",
            lambda tf, d: tf.keras.layers.DepthwiseConv2D((3, 2), padding="same", depth_multiplier=2, dtype=d),
            _convolved((1, 1), (1, 1), "SAME", 2),
            *((1, 5, 4, 3), (3, 2, 3, 2), (6,)),
        ),
        Layer(
            name="SeparableConv1D",
            make=lambda tf, d: tf.keras.layers.SeparableConv1D(4, 3, strides=2, depth_multiplier=2, dtype=d),
            formula=_separable((2,), "VALID"),
            shapes=((2, 7, 2),),
            weights=((3, 2, 2), (1, 4, 4), (4,)),
            units=12,
        ),
        Layer(
            name="SeparableConv2D",
            make=lambda tf, d: tf.keras.layers.SeparableConv2D(3, 3, padding="same", depth_multiplier=2, dtype=d),
            formula=_separable((1, 1), "SAME"),
            shapes=((1, 5, 4, 2),),
            weights=((3, 3, 2, 2), (1, 1, 4, 3), (3,)),
            units=24,
        ),
        recipes={"plain": plain},
        ops="Conv2D;Conv3D;DepthwiseConv2dNative",
    ),
    layers(
        "api-keras-transposed-convolution",
        _conv(
            "Conv1DTranspose",
            lambda tf, d: tf.keras.layers.Conv1DTranspose(4, 3, strides=2, dtype=d),
            _transposed((2,), (1,), "VALID", (2, 9, 4)),
            *((2, 4, 2), (3, 4, 2), (4,)),
        ),
        _conv(
            "Conv2DTranspose",
            lambda tf, d: tf.keras.layers.Conv2DTranspose(3, (3, 2), strides=2, padding="same", dtype=d),
            _transposed((2, 2), (1, 1), "SAME", (2, 6, 4, 3)),
            *((2, 3, 2, 2), (3, 2, 3, 2), (3,)),
        ),
        _conv(
            "Conv3DTranspose",
            lambda tf, d: tf.keras.layers.Conv3DTranspose(2, 2, strides=(1, 2, 1), dtype=d),
            _transposed((1, 2, 1), (1, 1, 1), "VALID", (1, 3, 4, 4, 2)),
            *((1, 2, 2, 3, 2), (2, 2, 2, 2, 2), (2,)),
        ),
        recipes={"plain": plain},
        ops="Conv2DBackpropInput;Conv3DBackpropInputV2",
    ),
)
