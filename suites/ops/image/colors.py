"""Colours of images: hues, saturations and contrast. Other spaces: see `programs/api/images/image_color.py`."""

from functools import partial

import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.reference.images import color as ref

_REFUSED = {
    "*/eager": Side(
        reference=raises("FAILED_PRECONDITION", "must have 3 channels"),
        why="a graph infers shapes when it is built, and Python raises; an eager op fails in its kernel",
    )
}
_SHAPES = {"image": (5, 7, 3), "batch_of_one": (1, 4, 5, 3), "pixels": (9, 3), "empty": (0, 2, 3)}


#: No images, images without rows or columns, and one pixel.
_FEW = {"none": (0, 2, 2, 3), "no_rows": (0, 2, 3), "no_columns": (2, 0, 3), "one_pixel": (1, 1, 3)}


def _levels(draw, dtype, shape):
    """Levels in [0, 1)."""
    return draw.uniform(*shape, low=0, high=1).astype(dtype)


def _colors(*more):
    """Recipes: images, and further inputs."""
    return {
        label: lambda draw, dtype, shape=shape: (_levels(draw, dtype, shape), *(v.astype(dtype) for v in more))
        for label, shape in _SHAPES.items()
        if not more or len(shape) > 2
    }


def _small(reference):
    """The channels that lose digits: those far below the largest one."""
    return Loose(
        lambda x, *more: (
            np.abs(reference(x, *more)) < 2.0**-7 * np.maximum(1, np.max(x, axis=-1, keepdims=True, initial=0))
        ),
        "a channel is a difference of numbers up to the largest channel",
    )


_CANCELS = Loose(reason="the slope of the hue is a difference of quotients by the span of a pixel and its square")


def _with_amounts(*amounts):
    """A part: images, with each of these amounts."""
    each = {i: _colors(np.array(amount)) for i, amount in enumerate(amounts)}
    return part(recipes={f"{label}_{i}": recipe for i, own in each.items() for label, recipe in own.items()})


def _few(*more, shapes=_FEW):
    """A part: images without pixels or rows, and with one pixel."""
    return small(
        {
            label: lambda draw, dtype, shape=shape: (_levels(draw, dtype, shape), *(np.array(v, dtype) for v in more))
            for label, shape in shapes.items()
        }
    )


def _of_pixels(factor, u, g, x, *_):
    """A multiple of the roundings of the largest channel of each pixel."""
    return factor * u * np.max(np.abs(x), axis=-1, keepdims=True) * np.ones(x.shape)


def _hsv_slopes(x):
    """The largest slopes of the hue, of the saturation and of the value: the last one is 0 or 1."""
    return np.stack([1 / np.ptp(x, axis=-1) ** 2, 1 / np.max(x, axis=-1) ** 2, np.zeros(x.shape[:-1])], axis=-1) + 1


def _hsv_slope_bound(u, g, x):
    """Each term is an upstream times a slope."""
    return 16 * u * np.sum(np.abs(g) * _hsv_slopes(x), axis=-1, keepdims=True) * np.ones(x.shape)


def _hsv_jvp_bound(u, g, t, x):
    """Each term is a tangent times a slope."""
    return 16 * u * np.sum(np.abs(t), axis=-1, keepdims=True) * _hsv_slopes(x)


def _hsv_hvp_bound(u, g, t, x):
    """Each term is a quotient by the span, by its square, or by its cube."""
    span = np.ptp(x, axis=-1, keepdims=True)
    sizes = np.sum(np.abs(g), axis=-1, keepdims=True) * np.sum(np.abs(t), axis=-1, keepdims=True)
    return 16 * u * sizes * (1 / span**3 + 1) * np.ones(x.shape)


def _rgb_bound(u, g, x):
    """The kernel's roundings: 6 of 6 h, 3 of its distance from 3, 2 of steps up to 1, times s; 3 of numbers up to 1."""
    return (3 + 11 * x[..., 1:2]) * u * x[..., 2:] * np.ones(x.shape)


def _contrast_bound(u, g, x, factor):
    return 4 * u * (1 + np.abs(factor)) * (np.abs(x) + 8 * ref.mean_of_channels(np.abs(x)))


_SPACES = (
    part(recipes=_colors()),
    _few(),
    part(
        "-refused",
        recipes={"channels": lambda draw, dtype: (_levels(draw, dtype, (2, 4)),)},
        reference=raises("ValueError"),
        contract=_REFUSED,
        dtypes=("float32",),
        vjp=None,
        bound={},
        loose={},
    ),
)
_HALF = {"recipes": _colors(), "dtypes": ("float16", "bfloat16"), "tier": "full"}
_OF_SPACES = {"arguments": ("images",), "dtypes": ("float32", "float64"), "unsigned_zeros": ("output", "grad")}
_TO_HSV = {
    "bound": {"output": lambda u, g, x: 8 * u * np.ones(x.shape), "grad": _hsv_slope_bound},
    "loose": {"output": _small(ref.hsv), "grad": _CANCELS},
}
_SECOND_ORDER = part(
    "-second-order",
    recipes=_colors(),
    jvp=ref.hsv_jvp,
    hvp=ref.hsv_hvp,
    bound={**_TO_HSV["bound"], "jvp": _hsv_jvp_bound, "hvp": _hsv_hvp_bound},
    loose={**_TO_HSV["loose"], "jvp": _CANCELS, "hvp": _CANCELS},
    unsigned_zeros=("output", "grad", "jvp", "hvp"),
    tier="full",
)
SPECS = (
    *op(
        "adjust-contrast",
        "AdjustContrastv2",
        _with_amounts(1.5, -0.5),
        _few(1.5, shapes={**_FEW, "one": (1, 1, 1)}),
        arguments=("images", "contrast_factor"),
        reference=ref.contrasted,
        bound={"output": _contrast_bound},
        loose={"output": _small(ref.contrasted)},
        unsigned_zeros=("output",),
        ordinary=ordinary.CONTRAST,
    ),
    *op(
        "adjust-hue",
        "AdjustHue",
        _with_amounts(0.125, -0.75),
        _few(0.125),
        arguments=("images", "delta"),
        reference=ref.turned,
        bound={"output": partial(_of_pixels, 30)},
        loose={"output": _small(ref.turned)},
        unsigned_zeros=("output",),
        ordinary=ordinary.HUE,
    ),
    *op(
        "adjust-saturation",
        "AdjustSaturation",
        _with_amounts(1.5, 0.0),
        _few(1.5),
        arguments=("images", "scale"),
        reference=ref.saturated,
        bound={"output": partial(_of_pixels, 30)},
        loose={"output": _small(ref.saturated)},
        unsigned_zeros=("output",),
        ordinary=ordinary.HUE,
    ),
    *op(
        "hsv-to-rgb",
        "HSVToRGB",
        *_SPACES,
        part("-half", bound={"output": _rgb_bound}, **_HALF),
        reference=ref.rgb,
        bound={"output": lambda u, g, x: 30 * u * np.ones(x.shape)},
        loose={"output": _small(ref.rgb)},
        **_OF_SPACES,
        ordinary=ordinary.HUE,
    ),
    *op(
        "rgb-to-hsv",
        "RGBToHSV",
        *_SPACES,
        part("-half", **_HALF),
        _SECOND_ORDER,
        reference=ref.hsv,
        vjp=ref.hsv_vjp,
        **_TO_HSV,
        **_OF_SPACES,
        ordinary=ordinary.HUE,
    ),
)
