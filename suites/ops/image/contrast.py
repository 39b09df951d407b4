"""AdjustContrast: the first version of the op, which was removed from GraphDef; `colors.py` has the second."""

from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.calls import Call
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.programs.removed import Removed
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import plain, small_integers
from tf_opdiff.suites.forms.recipes.ranges import exactly
from tf_opdiff.suites.reference.images.contrast import Contrast

_ADJUST = Removed("AdjustContrast", ("images", "contrast_factor", "min_value", "max_value"), version=2)
_SHAPES = {
    "images": (2, 3, 5, 2),
    "image": (7, 4, 3),
    "batch_of_one": (1, 5, 3, 1),
    "videos": (2, 1, 3, 4, 2),
}
_SMALL = {
    "no_images": ((0, 3, 5, 2), (3, 5, 0)),
    "no_channels": ((1, 3, 5, 0), (1, 1, 0)),
    "one": ((1, 1, 1, 1), (1, 1, 1)),
}


def _float32(value):
    """A number of float32, whatever the dtype of the images."""
    return lambda draw, dtype, *shape: exactly(value)(draw, "float32", *shape)


def _calls(shapes):
    """Calls with images of these shapes."""
    return {label: Call(_ADJUST, Contrast(), (shape, (), (), ())) for label, shape in shapes.items()}


_RECIPES = {
    "plain": (plain, _float32(1.75), _float32(-2.5), _float32(3.0)),
    "less": (plain, _float32(0.25), _float32(-100.0), _float32(100.0)),
    "none": (small_integers, _float32(0.0), _float32(-100.0), _float32(100.0)),
    "negative": (small_integers, _float32(-1.5), _float32(0.0), _float32(4.5)),
}
_WHOLE = {"plain": (plain, _float32(1.75), _float32(-50.0), _float32(100.0))}
_SHARED = {"raw": _ADJUST.op, "calls": _calls(_SHAPES), "gradient": False}
_CANCELS = Loose(
    reason="the result is the mean plus a multiple of a difference from the mean, and these two cancel",
)
_FIELDS = {**_ADJUST.fields, "loose": {"output": _CANCELS}}

SPECS = (
    *op(
        "adjust-contrast-v1",
        **_SHARED,
        recipes=_RECIPES,
        small={label: _calls(dict(zip(("images", "image"), shapes, strict=True))) for label, shapes in _SMALL.items()},
        of_small=_RECIPES["plain"],
        dtypes=tiered(("float32", "float64")),
        fields=_FIELDS,
        ordinary={
            **ordinary.CONTRAST,
            "nan_[23]": "nothing documents a range whose end is NaN",
            "*inf_[23]": "nothing documents a range whose ends are in the wrong order",
        },
    ),
    *op(
        "adjust-contrast-v1-integer",
        **_SHARED,
        recipes=_WHOLE,
        fields={**_FIELDS, "tier": "full", "dtypes": ("int8", "int16", "int32", "uint8")},
    ),
)
