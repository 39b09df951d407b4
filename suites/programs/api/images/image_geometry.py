"""Functions of `tf.image` that move, crop, scale and filter the pixels of an image."""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.programs.linear import linear
from tf_opdiff.suites.programs.api.images.image_color import YIQ, YUV

_SHAPE = (1, 4, 6, 3)


def _image(draw, dtype):
    return (draw.uniform(*_SHAPE, low=0, high=1).astype(dtype),)


def _weights(size, wanted):
    """The weights of linear interpolation between the centers of pixels; beyond the border, its pixel counts."""
    places = np.clip((np.arange(wanted) + 0.5) * size / wanted - 0.5, 0, size - 1)
    below = np.minimum(np.floor(places).astype(int), max(size - 2, 0))
    weights = np.zeros((wanted, size))
    weights[np.arange(wanted), below] += 1 - (places - below)
    weights[np.arange(wanted), np.minimum(below + 1, size - 1)] += places - below
    return weights


def _resized(x, height, width):
    """A bilinear interpolation."""
    return np.einsum("hy,wx,byxc->bhwc", _weights(x.shape[1], height), _weights(x.shape[2], width), x)


def _nearest(x, height, width):
    """The pixel in whose area the center of a new pixel lies."""
    rows, columns = (
        np.floor((np.arange(n) + 0.5) * size / n).astype(int) for n, size in ((height, x.shape[1]), (width, x.shape[2]))
    )
    return x[:, rows][:, :, columns]


def _padded(x, top, left, height, width):
    """An image of a size, with zeros around the pixels."""
    y = np.zeros((x.shape[0], height, width, x.shape[3]))
    y[:, top : top + x.shape[1], left : left + x.shape[2]] = x
    return y


def _sobel(x):
    """The differences across rows and columns, each smoothed by 1, 2, 1; the border is reflected."""
    p = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect")
    down = p[:, 2:] - p[:, :-2]
    right = p[:, :, 2:] - p[:, :, :-2]
    return np.stack(
        [
            down[:, :, :-2] + 2 * down[:, :, 1:-1] + down[:, :, 2:],
            right[:, :-2] + 2 * right[:, 1:-1] + right[:, 2:],
        ],
        -1,
    )


def _gradients(x):
    """The differences to the next row and to the next column; the last ones are 0."""
    down, right = np.zeros_like(x), np.zeros_like(x)
    down[:, :-1], right[:, :, :-1] = np.diff(x, axis=1), np.diff(x, axis=2)
    return np.stack([down, right])


_MOVED = (
    linear("image.central_crop", lambda tf, x: tf.image.central_crop(x, 0.5), lambda x: x[:, 1:3, 1:5]),
    linear(
        "image.crop_to_bounding_box",
        lambda tf, x: tf.image.crop_to_bounding_box(x, 1, 2, 2, 3),
        lambda x: x[:, 1:3, 2:5],
    ),
    linear("image.flip_left_right", lambda tf, x: tf.image.flip_left_right(x), lambda x: x[:, :, ::-1]),
    linear("image.flip_up_down", lambda tf, x: tf.image.flip_up_down(x), lambda x: x[:, ::-1]),
    linear(
        "image.pad_to_bounding_box",
        lambda tf, x: tf.image.pad_to_bounding_box(x, 1, 2, 7, 9),
        lambda x: _padded(x, 1, 2, 7, 9),
    ),
    linear(
        "image.resize_with_crop_or_pad",
        lambda tf, x: tf.image.resize_with_crop_or_pad(x, 6, 4),
        lambda x: _padded(x[:, :, 1:5], 1, 0, 6, 4),
    ),
    linear("image.transpose", lambda tf, x: tf.image.transpose(x), lambda x: np.swapaxes(x, 1, 2)),
)

_FILTERED = (
    linear("image.image_gradients", lambda tf, x: tf.stack(tf.image.image_gradients(x)), _gradients),
    linear("image.sobel_edges", lambda tf, x: tf.image.sobel_edges(x), _sobel, mixed=True),
    linear("image.yiq_to_rgb", lambda tf, x: tf.image.yiq_to_rgb(x), lambda x: x @ np.linalg.inv(YIQ), mixed=True),
    linear("image.yuv_to_rgb", lambda tf, x: tf.image.yuv_to_rgb(x), lambda x: x @ np.linalg.inv(YUV), mixed=True),
    linear(
        "image.grayscale_to_rgb",
        lambda tf, x: tf.image.grayscale_to_rgb(x[..., :1]),
        lambda x: np.repeat(x[..., :1], 3, -1),
    ),
)

_ROTATED = (
    linear("image.rot90", lambda tf, x: tf.image.rot90(x), lambda x: np.rot90(x, axes=(1, 2))),
    linear("image.rot90", lambda tf, x: tf.image.rot90(x, k=3), lambda x: np.rot90(x, 3, axes=(1, 2))),
)

_SCALED = (
    linear("image.resize", lambda tf, x: tf.image.resize(x, [7, 4]), lambda x: _resized(x, 7, 4), mixed=True, steps=16),
    linear(
        "image.resize_with_pad",
        lambda tf, x: tf.image.resize_with_pad(x, 8, 8),
        lambda x: _padded(_resized(x, 5, 8), 1, 0, 8, 8),
        mixed=True,
        steps=16,
    ),
)

SPECS = (
    *calls("api-image-moved", *_MOVED, recipes={"plain": _image}, ops="Pad;StridedSlice;ReverseV2;Transpose"),
    *calls("api-image-rotated", *_ROTATED, recipes={"plain": _image}, ops="ReverseV2;Transpose"),
    *calls("api-image-filtered", *_FILTERED, recipes={"plain": _image}, ops="MirrorPad;DepthwiseConv2dNative"),
    *calls("api-image-scaled", *_SCALED, recipes={"plain": _image}, ops="ResizeBilinear"),
    *calls(
        "api-image-nearest",  # XLA has no kernel of the gradient
        Call(
            name="image.resize",
            program=lambda tf, x: tf.image.resize(x, [3, 5], method="nearest"),
            reference=lambda x: _nearest(x, 3, 5),
        ),
        recipes={"plain": _image},
        ops="ResizeNearestNeighbor",
    ),
)
