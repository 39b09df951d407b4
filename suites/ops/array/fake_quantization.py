"""Fake quantisation and its gradients: values, whose middles between two levels are open where a step is rounded."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.forms.calls import Call, Wrong
from tf_opdiff.suites.forms.elements import not_numbers, plain, tiny
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT, raises
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import calling
from tf_opdiff.suites.forms.ranges import RANGES, SMALL, WITH_NAN, WITHOUT_ZERO, exactly, highs, lows
from tf_opdiff.suites.reference.fake_quant import FakeQuant, FakeQuantGradient

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
#: The same with ranges that are attributes: with 0 near the middle, inside, at an end, and outside.
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
_CANCELS = Loose(lambda *xs: True, "a level is a number of steps after the first one, which may cancel")


def _in_kernel(of_xla):
    """The promise of arguments that kernels refuse, and XLA's translation with a code of its own."""
    why = "nothing documents the code of the error; XLA's translation checks the arguments by itself"
    return {**IN_KERNEL, "contract": {"*/xla": Side(reference=raises(of_xla), why=why)}}


_NO_LEVELS = {"one-bit": {"num_bits": 1}, "many-bits": {"num_bits": 17}}
_BAD_ENDS = {"equal-ends": {"min": 1.0, "max": 1.0}, "turned-ends": {"min": 2.0, "max": -2.0}}


@dataclass(frozen=True)
class _Op:
    """An op of fake quantisation.

    raw         the OpDef; that of its gradient has `Gradient` behind it.
    ends        the number of inputs that are ends of the range.
    channels    whether each channel has a range.
    """

    raw: str
    ends: int = 2
    channels: bool = False

    @property
    def names(self):
        return ("inputs", "min", "max")[: 1 + self.ends]

    def promise(self, attributes):
        """The promise of a call with these attributes."""
        return FakeQuant(
            bits=attributes.get("num_bits", 8),
            narrow=attributes.get("narrow_range", False),
            limits=() if self.ends else (attributes.get("min", -6.0), attributes.get("max", 6.0)),
            channels=self.channels,
        )

    def shapes(self, shape):
        """The shapes of a tensor, and of the ends of its range."""
        return (shape, *((shape[-1:] if self.channels else (),) * self.ends))

    def calls(self, levels):
        """Calls of the op."""
        return {
            label: Call(calling(self.raw, self.names, **more), self.promise(more), self.shapes(shape))
            for label, (shape, more) in levels.items()
        }

    def gradients(self, levels):
        """Calls of its gradient, one for each output."""
        return {
            f"{label}_{i}": Call(
                self.gradient(i if self.ends else None, **more),
                FakeQuantGradient(of=self.promise(more), output=i),
                (shape, *self.shapes(shape)),
            )
            for label, (shape, more) in levels.items()
            for i in range(1 + self.ends)
        }

    def gradient(self, output=None, **attributes):
        """A call of its gradient."""
        return calling(f"{self.raw}Gradient", ("gradients", *self.names), output, **attributes)

    def wrong(self, shapes):
        """Calls that the op refuses: with attributes, and with shapes that do not fit."""
        call, promise = partial(calling, self.raw, self.names, None), IN_KERNEL if self.ends else _in_kernel("UNKNOWN")
        return self._attributes(call, self.shapes((2, 3)), promise) | _shaped(call, shapes)

    def wrong_gradients(self, shapes):
        """The same for its gradient."""
        call = partial(self.gradient, 0 if self.ends else None)
        promise = WHEN_BUILT if self.ends else _in_kernel("INTERNAL")
        return self._attributes(call, ((2, 3), *self.shapes((2, 3))), IN_KERNEL) | _shaped(call, shapes, promise)

    def _attributes(self, call, shapes, promise):
        wrong = _NO_LEVELS | ({} if self.ends else _BAD_ENDS)
        return {label: Wrong(call(**more), shapes, promise) for label, more in wrong.items()}


def _shaped(call, shapes, promise=WHEN_BUILT):
    """Calls with shapes that do not fit."""
    return {label: Wrong(call(), own, promise) for label, own in shapes.items()}


def _small(calls, ranks=(1, 2, 4)):
    """Calls with tensors without elements, or with one."""
    return {label: calls({"only": (shape, {})}) for label, shape in SMALL.items() if len(shape) in ranks}


def _recipes(ends):
    """Recipes of numbers, and of special ones, for an op with this number of inputs that are ends of the range."""
    every = ({**RANGES, **WITHOUT_ZERO}, WITH_NAN | _SPECIAL_ENDS) if ends else (RANGES, WITH_NAN)
    return tuple({label: own[: 1 + ends] for label, own in each.items()} for each in every)


def _fields(version, levels, wrong):
    """The fields of an op of these levels, which refuses these shapes."""
    recipes, special = _recipes(version.ends)
    return {
        "raw": version.raw,
        "calls": version.calls(levels),
        "recipes": recipes,
        "forward": special,
        "small": _small(version.calls),
        "of_small": recipes["plain"],
        "wrong": version.wrong(wrong),
        "second": ("plain", "halves"),
        "fields": {"loose": {"output": _CANCELS}},
    }


def _of_gradient(version, levels, wrong, fitting):
    """The fields of its gradient, which also refuses other shapes than the fitting ones with another upstream."""
    recipes, special = _recipes(version.ends)
    plain_ = recipes["plain"]
    with_upstream = {label: (plain, *own) for label, own in (recipes | special).items() if label != "upstreams"}
    shapes = {label: (own[0], *own) for label, own in wrong.items()} | {"other-upstream": ((4,), *fitting)}
    return {
        "raw": f"{version.raw}Gradient",
        "calls": version.gradients(levels),
        "recipes": {**with_upstream, "special_upstream": (not_numbers, *plain_), "tiny_upstream": (tiny, *plain_)},
        "small": _small(version.gradients),
        "of_small": (plain, *plain_),
        "wrong": version.wrong_gradients(shapes),
        "gradient": False,
    }


#: Shapes that do not fit, of the tensor and of both ends.
_WRONG_ENDS = {"vector-of-ends": ((3,), (1,), (1,)), "matrix-of-ends": ((3,), (), (1, 1))}
_WRONG_CHANNELS = {
    "other-channels": ((2, 3), (2,), (2,)),
    "other-high": ((2, 3), (3,), (4,)),
    "matrix-of-ends": ((2, 3), (1, 3), (1, 3)),
    "scalar-ends": ((2, 3), (), ()),
}
_ARGS = (_Op("FakeQuantWithMinMaxArgs", 0), _WITH_LIMITS | _EXACT, {})
_CHANNELS = (_Op("FakeQuantWithMinMaxVarsPerChannel", channels=True), _OF_CHANNELS, _WRONG_CHANNELS)
_VARS = (_Op("FakeQuantWithMinMaxVars"), _LEVELS, _WRONG_ENDS)
SPECS = (
    *op("fake-quant-args", **_fields(*_ARGS)),
    *op("fake-quant-args-gradient", **_of_gradient(*_ARGS, ((3,),))),
    *op("fake-quant-channels", **_fields(*_CHANNELS)),
    *op("fake-quant-channels-gradient", **_of_gradient(*_CHANNELS, ((2, 3), (3,), (3,)))),
    *op("fake-quant-vars", **_fields(*_VARS)),
    *op("fake-quant-vars-gradient", **_of_gradient(*_VARS, ((3,), (), ()))),
)
