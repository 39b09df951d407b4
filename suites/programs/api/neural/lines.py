"""Convolutions and pools of `tf.nn` in other forms than those of their ops. The images and filters are whole numbers.

All sums of whole numbers are exact, whatever their order.
"""

from itertools import product

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.programs.linear import linear


def _whole(*shapes):
    """A recipe: small whole numbers in these shapes."""
    return {"whole": lambda draw, d: tuple(draw.integers(*shape, low=-4, high=5).astype(d) for shape in shapes)}


def _convolved(x, filters, rate=1):
    """The sums of products of windows without padding: channels last, with holes between the elements of filters."""
    sizes = filters.shape[:-2]
    wanted = [n - rate * (k - 1) for n, k in zip(x.shape[1:-1], sizes, strict=True)]
    y = np.zeros((x.shape[0], *wanted, filters.shape[-1]))
    for place in product(*map(range, sizes)):
        window = tuple(slice(rate * i, rate * i + n) for i, n in zip(place, wanted, strict=True))
        y += x[(slice(None), *window)] @ filters[place]
    return y


def _spread(y, filters, rate=1):
    """The transpose of a convolution by the images: filters (…, outputs, inputs)."""
    sizes = filters.shape[:-2]
    wanted = [n + rate * (k - 1) for n, k in zip(y.shape[1:-1], sizes, strict=True)]
    x = np.zeros((y.shape[0], *wanted, filters.shape[-2]))
    for place in product(*map(range, sizes)):
        window = tuple(slice(rate * i, rate * i + n) for i, n in zip(place, y.shape[1:-1], strict=True))
        x[(slice(None), *window)] += y @ filters[place].T
    return x


def _filter_gradient(g, x, filters, rate=1):
    """The gradient of a convolution by its filters."""
    gradient, axes = np.zeros(filters.shape), tuple(range(g.ndim - 1))
    for place in product(*map(range, filters.shape[:-2])):
        window = tuple(slice(rate * i, rate * i + n) for i, n in zip(place, g.shape[1:-1], strict=True))
        gradient[place] = np.tensordot(x[(slice(None), *window)], g, (axes, axes))
    return gradient


def _convolution(name, program, rate=1):
    """A call of a convolution; of whole numbers and upstreams, only the gradients round."""

    def vjp(g, x, filters):
        return _spread(g, filters, rate), _filter_gradient(g, x, filters, rate)

    def grad_error(u, g, x, filters):
        return tuple(g.size * u * y for y in vjp(np.abs(g), np.abs(x), np.abs(filters)))

    return Call(
        name=name,
        program=program,
        reference=lambda x, filters: _convolved(x, filters, rate),
        vjp=vjp,
        grad_error=grad_error,
        signed=False,
    )


def _pooled(kind):
    """Windows of two elements, without overlap."""
    return lambda x: kind(x.reshape(x.shape[0], -1, 2, x.shape[-1]), axis=2)


SPECS = (
    *calls(
        "api-nn-lines",
        _convolution("nn.conv1d", lambda tf, x, w: tf.nn.conv1d(x, w, stride=1, padding="VALID")),
        recipes=_whole((2, 9, 3), (3, 3, 4)),
        arguments=2,
        ops="Conv2D",
    ),
    *calls(
        "api-nn-lines-transposed",
        Call(
            name="nn.conv1d_transpose",
            program=lambda tf, y, w: tf.nn.conv1d_transpose(y, w, [2, 9, 3], strides=1, padding="VALID"),
            reference=_spread,
            signed=False,
        ),
        recipes=_whole((2, 7, 4), (3, 3, 4)),
        arguments=2,
        ops="Conv2DBackpropInput",
    ),
    *calls(
        "api-nn-holes",
        _convolution("nn.atrous_conv2d", lambda tf, x, w: tf.nn.atrous_conv2d(x, w, rate=2, padding="VALID"), rate=2),
        _convolution(
            "nn.with_space_to_batch",
            lambda tf, x, w: tf.nn.with_space_to_batch(
                x, [2, 2], "VALID", lambda x, count, padding: tf.nn.conv2d(x, w, 1, padding), filter_shape=[2, 3]
            ),
            rate=2,
        ),
        recipes=_whole((1, 6, 8, 2), (2, 3, 2, 3)),
        arguments=2,
        ops="Conv2D;SpaceToBatchND;BatchToSpaceND",
    ),
    *calls(
        "api-nn-holes-transposed",
        Call(
            name="nn.atrous_conv2d_transpose",
            program=lambda tf, y, w: tf.nn.atrous_conv2d_transpose(y, w, [1, 6, 8, 2], rate=2, padding="VALID"),
            reference=lambda y, w: _spread(y, w, 2),
            signed=False,
        ),
        recipes=_whole((1, 4, 4, 3), (2, 3, 2, 3)),
        arguments=2,
        ops="Conv2DBackpropInput",
    ),
    *calls(
        "api-nn-separable",
        Call(
            name="nn.separable_conv2d",
            program=lambda tf, x, w, p: tf.nn.separable_conv2d(x, w, p, [1, 1, 1, 1], "VALID"),
            reference=lambda x, w, p: _convolved(x, np.einsum("hwcm,cmo->hwco", w, p[0, 0].reshape(2, 2, 3))),
            signed=False,
        ),
        recipes=_whole((1, 5, 6, 2), (2, 3, 2, 2), (1, 1, 4, 3)),
        arguments=3,
        ops="DepthwiseConv2dNative;Conv2D",
    ),
    *calls(
        "api-nn-pooled-lines",
        linear("nn.pool", lambda tf, x: tf.nn.pool(x, [2], "AVG", strides=[2]), _pooled(np.mean)),
        linear("nn.avg_pool1d", lambda tf, x: tf.nn.avg_pool1d(x, 2, 2, "VALID"), _pooled(np.mean)),
        Call(
            name="nn.max_pool1d",
            program=lambda tf, x: tf.nn.max_pool1d(x, 2, 2, "VALID"),
            reference=_pooled(np.max),
            vjp=lambda g, x: np.repeat(g, 2, 1) * (x == np.repeat(_pooled(np.max)(x), 2, 1)),
        ),
        recipes={"plain": lambda draw, d: (draw.values(d, 2, 8, 3),)},
        ops="AvgPool;MaxPool",
    ),
)
