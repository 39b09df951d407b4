"""Tensors that are rounded to the steps of a quantised type, and the gradient of this."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from tf_opdiff.suites.forms.calls import Wrong, call, unfit
from tf_opdiff.suites.forms.errors import IN_KERNEL, REFUSED_VALUES
from tf_opdiff.suites.forms.op import also, op
from tf_opdiff.suites.forms.part import calling, each_output, tiered
from tf_opdiff.suites.forms.programs.removed import Removed
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.elements import not_numbers, plain
from tf_opdiff.suites.forms.recipes.ranges import RANGES, SMALL, WITH_NAN, WITHOUT_ZERO
from tf_opdiff.suites.reference.elementwise.quantization import Quantized, QuantizedGradient

#: Label → the shape of a tensor, and attributes.
Levels = Mapping[str, tuple[tuple[int, ...], Mapping[str, Any]]]
_DTYPES = tiered(("float32", "float64"))
_NAMES = ("input", "input_min", "input_max")
_RECIPES = {**RANGES, **WITHOUT_ZERO}
#: The tensor's own range, which has neither an infinity nor a NaN.
_OWN = {label: _RECIPES[label] for label in ("plain", "halves", "upstreams")}
#: Shapes of the tensor, and attributes.
_LEVELS: Levels = {
    "default": ((3, 7), {}),
    "narrow": ((2, 3, 5), {"narrow_range": True}),
    "few": ((67,), {"num_bits": 2}),
    "many": ((1, 3, 2, 5), {"num_bits": 16}),
}
_SCALAR: Levels = {"scalar": ((), {"num_bits": 4})}
#: What the third version lacks, and a scalar, which it refuses.
_MORE: Levels = {"half_up": ((3, 7), {"round_mode": "HALF_UP"}), **_SCALAR}
#: The levels of dtypes for which XLA alone has kernels: few enough for the 8 bits of bfloat16.
_COARSE: Levels = {"few": _LEVELS["few"], "some": ((3, 7), {"num_bits": 4})}
_OF_XLA = {"dtypes": ("float16", "bfloat16"), "modes": ("xla",), "tier": "full"}
_ALONG_AXIS: Levels = {
    "axis": ((2, 3, 5), {"axis": 1}),
    "last_axis": ((2, 5), {"axis": 1, "narrow_range": True}),
    "first_axis": ((3, 4), {"axis": 0, "num_bits": 4}),
}
#: Without a number above zero, nothing says what the largest unsigned number stands for.
_UNSIGNED: Levels = {
    "unsigned": ((5, 3), {"signed_input": False}),
    "unsigned_few": ((67,), {"signed_input": False, "num_bits": 3}),
}
_OF_UNSIGNED = {label: elements for label, elements in _RECIPES.items() if label != "negative"}


#: Attribute → the field of the promise.
_FIELDS = {"axis": "axis", "inside": "inside", "narrow_range": "narrow", "num_bits": "bits", "signed_input": "signed"}


def _promise(*, output=-1, round_mode="HALF_TO_EVEN", range_given=False, **attrs):
    """The promise of a call with these attributes; with an output, that of this output of the gradient."""
    fields = {field: attrs.pop(name) for name, field in _FIELDS.items() if name in attrs}
    own = Quantized(**fields, given=range_given, half_up=round_mode == "HALF_UP", limits=tuple(attrs.values()))
    return own if output == -1 else QuantizedGradient(own, output)


def _shapes(shape, axis=None, **attributes):
    """The shapes of a tensor, and of both ends of its range."""
    return (shape, *(((() if axis is None else (shape[axis],)),) * 2))


def _calls(levels, **more):
    """Calls of an op whose range is an input."""
    return {
        label: call(*_shapes(shape, **attributes), **{"num_bits": 8, **attributes, **more})
        for label, (shape, attributes) in levels.items()
    }


def _wrong(raw, of_bits):
    """Calls that an op refuses; `of_bits` is the promise of a wrong number of bits."""
    given: dict[str, Any] = {"range_given": True, "num_bits": 8}
    fitting, axes = ((2, 3), (), ()), ((2, 3), (2,), (2,))
    return {
        "turned-ends": Wrong(_turned(calling(raw, _NAMES, **given)), fitting, REFUSED_VALUES),
        "no-bits": unfit(*fitting, promise=of_bits, **given | {"num_bits": 0}),
        "many-bits": unfit(*fitting, promise=of_bits, **given | {"num_bits": 64}),
        "vector-of-ends": unfit(*axes, **given),
        "other-ends": unfit(*axes, axis=1, **given),
        "axis-beyond": unfit((2, 3), (3,), (3,), axis=2, **given),
        "negative-axis": unfit(*axes, axis=-2, **given),
    }


def _turned(call):
    """The call with a lower end above the upper one."""
    return lambda tf, x, low, high: call(tf, x, tf.abs(low) + 1, -tf.abs(high))


def _version(raw, levels, *parts, inside=False, of_bits=IN_KERNEL):
    """The fields of a version with a range that is given; parts are about the tensor's own range, too.

    Args:
      raw: the OpDef.
      levels: its levels.
      parts: further parts.
      inside: whether its gradient is 0 outside of the range.
      of_bits: the promise of a wrong number of bits.
    """
    given, own = partial(_calls, range_given=True), partial(_calls, range_given=False)
    few = {label: _RECIPES[label] for label in ("plain", "upstreams")}
    second = {"second": ("plain",)}
    return {
        "raw": raw,
        "arguments": _NAMES,
        "promise": partial(_promise, inside=inside),
        "calls": given(levels),
        "recipes": _RECIPES,
        "forward": WITH_NAN,
        "small": {label: given({"only": (shape, {})}) for label, shape in SMALL.items()},
        "of_small": _RECIPES["plain"],
        "wrong": _wrong(raw, of_bits),
        "dtypes": _DTYPES,
        **second,
        "parts": (
            *parts,
            also("-axis", calls=given(_ALONG_AXIS), recipes=few, **second),
            also("-own-range", calls=own({**levels, **_ALONG_AXIS}), recipes=_OWN, **second),
            also("-own-range-unsigned", calls=own(_UNSIGNED), recipes=_OWN, **second),
            also("-of-xla", calls=given(_COARSE), recipes=few, gradient=False, **_OF_XLA),
            also("-unsigned", calls=given(_UNSIGNED), recipes=_OF_UNSIGNED, **second),
        ),
    }


def _first_version(levels):
    """Calls of the first version, whose range is an attribute, or the tensor's own. It has neither modes nor axes."""
    return {label: call(shape, **attributes) for label, (shape, attributes) in levels.items()}


def _gradients(shapes):
    """Calls of the gradient: of each of its outputs."""
    return {
        f"{label}_{i}": call(shape, *_shapes(shape, **axis), output=i, **axis)
        for label, (shape, axis) in shapes.items()
        for i in range(3)
    }


_OF_GRADIENT = {
    "default": ((3, 7), {}),
    "axis": ((2, 3, 5), {"axis": 1}),
    "last_axis": ((2, 5), {"axis": 1}),
    "scalar": ((), {}),
}
_WRONG_GRADIENT = {"other-upstream": ((4,), (3,), (), ()), "vector-of-ends": ((2, 3), (2, 3), (2,), (2,))}


_V1 = Removed("QuantizeAndDequantize", ("input",), version=22)
#: Shapes and attributes of the first version.
_OF_V1: Levels = {
    "own": ((3, 7), {}),
    "own_few": ((67,), {"num_bits": 2}),
    "given": ((2, 3, 5), {"range_given": True, "input_min": -2.0, "input_max": 3.0}),
    "given_exact": ((3, 7), {"range_given": True, "input_min": -16.0, "input_max": 15.875}),
    "given_many": ((1, 3, 2, 5), {"range_given": True, "input_min": -1.5, "input_max": 0.25, "num_bits": 16}),
}
_TO_THREE = {"signed_input": False, "range_given": True, "input_min": 0.0, "input_max": 3.0}
_UNSIGNED_OF_V1: Levels = {"given": ((5, 3), _TO_THREE), "given_few": ((67,), {**_TO_THREE, "num_bits": 3})}
_OF_SCALAR = also("-scalar", calls=_calls(_SCALAR, range_given=True), recipes={"plain": _RECIPES["plain"]})
SPECS = (
    *op(
        "quantize-and-dequantize",
        _V1.op,
        also("-own-range-unsigned", calls=_first_version(_UNSIGNED), recipes=_OWN),
        also("-unsigned", calls=_first_version(_UNSIGNED_OF_V1), recipes=_OWN),
        program=_V1,
        promise=_promise,
        calls=_first_version(_OF_V1),
        recipes=_OWN,
        small={label: _first_version({"only": (shape, {})}) for label, shape in SMALL.items()},
        of_small=(plain,),
        second=("plain",),
        dtypes=_DTYPES,
        ordinary={"nan_0": "nothing documents the range of numbers with NaN"} | ordinary.LEVELS,
        **_V1.fields,
    ),
    *op(
        "quantize-and-dequantize-v2",
        **_version("QuantizeAndDequantizeV2", {**_LEVELS, **_MORE}),
        ordinary=ordinary.levels(1) | ordinary.NAN_IN_OWN_RECIPES,
    ),
    *op(
        "quantize-and-dequantize-v3",
        **_version("QuantizeAndDequantizeV3", _LEVELS, _OF_SCALAR, of_bits=REFUSED_VALUES),
        ordinary=ordinary.levels(1) | ordinary.NAN_IN_OWN_RECIPES,
    ),
    *op(
        "quantize-and-dequantize-v4",
        **_version("QuantizeAndDequantizeV4", {**_LEVELS, **_MORE}, inside=True),
        ordinary=ordinary.levels(1) | ordinary.NAN_IN_OWN_RECIPES,
    ),
    *op(
        "quantize-and-dequantize-v4-grad",
        "QuantizeAndDequantizeV4Grad",
        also(
            "-gradient",
            calls=_gradients({"default": ((3, 7), {})}),
            recipes={"plain": (plain, *_RECIPES["plain"])},
            gradient=True,
            second=("plain",),
        ),
        program=each_output("QuantizeAndDequantizeV4Grad", ("gradients", *_NAMES)),
        promise=partial(_promise, inside=True, range_given=True),
        calls=_gradients(_OF_GRADIENT),
        recipes={label: (plain, *own) for label, own in _RECIPES.items()},
        forward={"special_upstream": (not_numbers, *_RECIPES["plain"])},
        small={label: _gradients({"only": (shape, {})}) for label, shape in SMALL.items()},
        of_small=(plain, *_RECIPES["plain"]),
        wrong={label: unfit(*shapes, output=0) for label, shapes in _WRONG_GRADIENT.items()},
        dtypes=_DTYPES,
        gradient=False,
        ordinary=ordinary.LEVELS,
    ),
)
