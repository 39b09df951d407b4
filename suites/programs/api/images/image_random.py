"""Functions of `tf.image` that change an image by a random number: what holds whatever the number is.

A factor comes from an interval in which float32 has one number, a flip is one of two images, and a shift is one for
all pixels.
"""

import numpy as np

from tf_opdiff.suites.forms.programs.api import Call, calls
from tf_opdiff.suites.forms.programs.linear import linear
from tf_opdiff.suites.reference.images import color as ref

_FACTOR, _NEXT = 1.5, 1.5 + 2.0**-40
_SEED = (1, 2)


def _both(name, program, reference, make=linear, **fields):
    """The calls of a function with a state and of the one without: program(function, tf, x, **seed)."""

    def of(path, **seed):
        return lambda tf, x: program(getattr(tf.image, path), tf, x, **seed)

    return tuple(
        make(f"image.{path}", of(path, **seed), reference, **fields)
        for path, seed in ((f"random_{name}", {"seed": 1}), (f"stateless_random_{name}", {"seed": _SEED}))
    )


def _flipped(axis):
    """An image that is flipped or not, plus the other one of the two."""

    def program(flip, tf, x, seed):
        y = flip(x, seed=seed)
        return y + tf.reverse(y, [axis])

    return program


def _settled(tf, y):
    """The nearest multiples of 1 / 4096: the input has no others, and the random number leaves no rounding error."""
    return tf.round(4096 * y) / 4096


def _shifted(brighten, tf, x, seed):
    """An image without the number that was added to all pixels."""
    y = brighten(x, 0.25, seed=seed)
    return _settled(tf, x + ((y - x) - (y - x)[0, 0, 0]))


def _cropped(crop, tf, x, seed):
    """A crop of an image that grows by 1 from column to column and by 8 from row to row, less its first pixel."""
    y = crop(x[:1, :1, :1] + tf.constant(_RAMP), [2, 3, 3], seed=seed)
    return x[:2, :3] * _settled(tf, y - y[0, 0, 0])


def _factor(function, tf, x, seed):
    return function(x, _FACTOR, _NEXT, seed=seed)


def _contrast(x):
    mean = np.mean(x, axis=(0, 1), keepdims=True)
    return (x - mean) * _FACTOR + mean


def _near(name, program, reference):
    """A call whose result is off by a few units of 1."""
    return Call(
        name=name, program=program, reference=reference, error=lambda u, x: 64 * u * np.ones(x.shape), signed=False
    )


def _hue(turn, tf, x, seed):
    """The largest and the smallest colour of each pixel, which no change of hue moves."""
    y = turn(x, 0.25, seed=seed)
    return tf.stack([tf.reduce_max(y, -1), tf.reduce_min(y, -1)])


_RAMP = (8 * np.arange(4)[:, None, None] + np.arange(6)[:, None] + np.zeros(3)).astype(np.float32)
_STEPS = (_RAMP - _RAMP[0, 0, 0])[:2, :3]


def _image(draw, dtype):
    return ((draw.integers(4, 6, 3, low=1024, high=2048) / 4096).astype(dtype),)


SPECS = (
    *calls(
        "api-image-random",
        *_both("flip_left_right", _flipped(1), lambda x: x + x[:, ::-1]),
        *_both("flip_up_down", _flipped(0), lambda x: x + x[::-1]),
        recipes={"plain": _image},
        ops="ReverseV2",
    ),
    *calls(
        "api-image-random-colours",
        *_both("brightness", _shifted, lambda x: x, _near),
        *_both("contrast", _factor, _contrast, _near),
        *_both("saturation", _factor, lambda x: ref.saturated(x, np.array(_FACTOR)), _near),
        recipes={"plain": _image},
        ops="AdjustContrastv2;AdjustSaturation",
    ),
    *calls(
        "api-image-random-hue",
        *(
            Call(
                name=call.name,
                program=call.program,
                reference=lambda x: np.stack([np.max(x, axis=-1), np.min(x, axis=-1)]),
                error=lambda u, x: 64 * u * np.ones((2, *x.shape[:2])),
            )
            for call in _both("hue", _hue, lambda x: x)
        ),
        recipes={"plain": _image},
        ops="AdjustHue",
    ),
    *calls(
        "api-image-random-crop",
        *(
            Call(
                name=call.name,
                program=call.program,
                reference=lambda x: x[:2, :3] * _STEPS,
                error=lambda u, x: 64 * u * np.ones((2, 3, 3)),
                signed=False,
            )
            for call in _both("crop", _cropped, lambda x: x)
        ),
        recipes={"plain": _image},
        ops="Slice",
    ),
)
