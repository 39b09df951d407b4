"""Fake quantisation and its gradients: values, whose middles between two levels are open where a step is rounded."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.calls import call, unfit
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT, raises
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import each_output
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import not_numbers, plain, tiny
from tf_opdiff.suites.forms.recipes.ranges import RANGES, SMALL, WITH_NAN, WITHOUT_ZERO, exactly, highs, lows
from tf_opdiff.suites.reference.elementwise.fake_quant import FakeQuant
from tf_opdiff.suites.reference.promises.promise import GradientOf

#: Ranges with a NaN.
_SPECIAL_ENDS = {"special_low": (plain, exactly(np.nan), highs), "special_high": (plain, lows, exactly(np.nan))}
#: Shapes of the tensor, and the levels.
_LEVELS: Mapping[str, tuple[tuple[int, ...], Mapping[str, Any]]] = {
    "default": ((3, 7), {}),
    "narrow": ((2, 3, 5), {"narrow_range": True}),
    "few": ((67,), {"num_bits": 2}),
    "few_narrow": ((4, 5), {"num_bits": 3, "narrow_range": True}),
    "many": ((1, 3, 2, 5), {"num_bits": 16}),
    "scalar": ((), {"num_bits": 4}),
}
#: Label → attributes with a range, which has 0 near its middle, inside, at an end, or outside.
_LIMITS: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "narrow": {"min": -2.5, "max": 1.0},
    "few": {"min": 0.0, "max": 3.0},
    "few_narrow": {"min": 0.75, "max": 3.5},
    "many": {"min": -3.0, "max": -0.5},
    "scalar": {"min": -1.0, "max": 0.0},
}
_WITH_LIMITS = {label: (shape, {**_LIMITS[label], **more}) for label, (shape, more) in _LEVELS.items()}
_EXACT = {"exact": ((131,), {"min": -16.0, "max": 15.875})}
#: A range for each channel: kernels take tensors of these ranks.
_OF_CHANNELS = {label: levels for label, levels in _LEVELS.items() if len(levels[0]) in (1, 2, 4)}
_CANCELS = Loose(reason="a level is a number of steps after the first one, which may cancel", size=16)


def _in_kernel(of_xla):
    """The promise of arguments that kernels refuse, and XLA's translation with a code of its own."""
    why = "nothing documents the code of the error; XLA's translation checks the arguments by itself"
    return {**IN_KERNEL, "contract": {"*/xla": Side(reference=raises(of_xla), why=why)}}


_NO_LEVELS = {"one-bit": {"num_bits": 1}, "many-bits": {"num_bits": 17}}
_BAD_ENDS = {"equal-ends": {"min": 1.0, "max": 1.0}, "turned-ends": {"min": 2.0, "max": -2.0}}


def _promise(ends, channels):
    """A function from the attributes of a call to its promise, and to that of an output of the gradient."""

    def of(*, output=-1, num_bits=8, narrow_range=False, min=-6.0, max=6.0):
        limits = () if ends else (min, max)
        own = FakeQuant(bits=num_bits, narrow=narrow_range, limits=limits, channels=channels)
        return own if output == -1 else GradientOf(own, output or 0)

    return of


def _small(calls, ranks=(1, 2, 4)):
    """Calls with tensors without elements, or with one."""
    return {label: calls({"only": (shape, {})}) for label, shape in SMALL.items() if len(shape) in ranks}


def _wrong(shapes, fitting, ends, of_attributes, of_shapes, **attrs):
    """Calls that an op refuses: with attributes and fitting shapes, and with shapes that do not fit."""
    changes = _NO_LEVELS | ({} if ends else _BAD_ENDS)
    wrong = {label: unfit(*fitting, promise=of_attributes, **attrs, **more) for label, more in changes.items()}
    return wrong | {label: unfit(*own, promise=of_shapes, **attrs) for label, own in shapes.items()}


def _gradients(shapes, ends, levels):
    """Calls of the gradient of an op, one for each output."""
    return {
        f"{label}_{i}": call(shape, *shapes(shape), output=i if ends else None, **more)
        for label, (shape, more) in levels.items()
        for i in range(1 + ends)
    }


def _both(levels, wrong, fitting, *, ends=2, channels=False):
    """The fields of an op, and of its gradient.

    Args:
      levels: label → the shape of the tensor, and the levels.
      wrong: the shapes that do not fit.
      fitting: the shapes that fit, for the gradient; it also refuses another upstream.
      ends: the number of inputs that are ends of the range.
      channels: whether each channel has a range.
    """
    names = ("inputs", "min", "max")[: 1 + ends]
    recipes, special = ({**RANGES, **WITHOUT_ZERO}, WITH_NAN | _SPECIAL_ENDS) if ends else (RANGES, WITH_NAN)
    recipes, special = ({label: own[: 1 + ends] for label, own in each.items()} for each in (recipes, special))
    plain_, promise = recipes["plain"], _promise(ends, channels)
    first = {"output": 0 if ends else None}

    def shapes(shape):
        return (shape, *((shape[-1:] if channels else (),) * ends))

    def calls(levels):
        return {label: call(*shapes(shape), **more) for label, (shape, more) in levels.items()}

    gradients = partial(_gradients, shapes, ends)
    with_upstream = {label: (plain, *own) for label, own in (recipes | special).items() if label != "upstreams"}
    upstreams = {label: (own[0], *own) for label, own in wrong.items()} | {"other-upstream": ((4,), *fitting)}
    pair = shapes((2, 3))
    return {
        "arguments": names,
        "promise": promise,
        "calls": calls(levels),
        "recipes": recipes,
        "forward": special,
        "small": _small(calls),
        "of_small": plain_,
        "wrong": _wrong(wrong, pair, ends, IN_KERNEL if ends else _in_kernel("UNKNOWN"), WHEN_BUILT),
        "second": ("plain", "halves"),
        "fields": {"loose": {"output": _CANCELS}},
    }, {
        "promise": promise,
        "calls": gradients(levels),
        "recipes": {**with_upstream, "special_upstream": (not_numbers, *plain_), "tiny_upstream": (tiny, *plain_)},
        "small": _small(gradients),
        "of_small": (plain, *plain_),
        "wrong": _wrong(
            upstreams, ((2, 3), *pair), ends, IN_KERNEL, WHEN_BUILT if ends else _in_kernel("INTERNAL"), **first
        ),
        "gradient": False,
    }


def _gradient(raw, names=("gradients", "inputs", "min", "max")):
    """The OpDef of a gradient, and its program."""
    return {"raw": raw, "program": each_output(raw, names)}


#: Shapes that do not fit, of the tensor and of both ends.
_WRONG_ENDS = {"vector-of-ends": ((3,), (1,), (1,)), "matrix-of-ends": ((3,), (), (1, 1))}
_WRONG_CHANNELS = {
    "other-channels": ((2, 3), (2,), (2,)),
    "other-high": ((2, 3), (3,), (4,)),
    "matrix-of-ends": ((2, 3), (1, 3), (1, 3)),
    "scalar-ends": ((2, 3), (), ()),
}
_ARGS, _OF_ARGS = _both(_WITH_LIMITS | _EXACT, {}, ((3,),), ends=0)
_CHANNELS, _OF_CHANNELS_ = _both(_OF_CHANNELS, _WRONG_CHANNELS, ((2, 3), (3,), (3,)), channels=True)
_VARS, _OF_VARS = _both(_LEVELS, _WRONG_ENDS, ((3,), (), ()))
_RAW = "FakeQuantWithMinMax"
SPECS = (
    *op(
        "fake-quant-args",
        f"{_RAW}Args",
        **_ARGS,
        ordinary=ordinary.LEVELS,
        without={"option": "no result of output 5 in its first recipe, the only one of an option, is near its budget"},
    ),
    *op(
        "fake-quant-args-gradient",
        **_gradient(f"{_RAW}ArgsGradient", ("gradients", "inputs")),
        **_OF_ARGS,
        ordinary=ordinary.LEVELS,
    ),
    *op(
        "fake-quant-channels",
        f"{_RAW}VarsPerChannel",
        **_CHANNELS,
        ordinary=ordinary.levels(1) | ordinary.NAN_IN_OWN_RECIPES,
    ),
    *op(
        "fake-quant-channels-gradient",
        **_gradient(f"{_RAW}VarsPerChannelGradient"),
        **_OF_CHANNELS_,
        ordinary=ordinary.levels(2),
    ),
    *op(
        "fake-quant-vars",
        f"{_RAW}Vars",
        **_VARS,
        ordinary=ordinary.levels(1) | ordinary.NAN_IN_OWN_RECIPES,
    ),
    *op("fake-quant-vars-gradient", **_gradient(f"{_RAW}VarsGradient"), **_OF_VARS, ordinary=ordinary.levels(2)),
)
