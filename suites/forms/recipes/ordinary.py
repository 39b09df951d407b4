"""Ordinary: the special numbers that specs with special operands leave out, and why.

Each table has patterns of a number and an operand: see `suites.forms.special_operands`.
"""

from __future__ import annotations

Ordinary = dict[str, str]


def infinite(operands: str, why: str) -> Ordinary:
    """Infinities of both signs in operands, such as `[12]`."""
    return {f"*inf_{operands}": why}


def not_finite(operands: str, why: str) -> Ordinary:
    """NaN and infinities in operands, such as `?` for all."""
    return {f"nan_{operands}": why, **infinite(operands, why)}


def overflowing(operands: str, why: str) -> Ordinary:
    """Operands whose sums, or whose squares, leave the dtype: see `suites.forms.reductions.overflow`.

    Such a pattern may end with a dtype, such as `sum_0-float32`.
    """
    return {f"sum_{operands}": why, f"square_{operands}": why}


FACTORS = overflowing("*", "a product of some of the factors leaves the dtype, in an order that nothing documents")
SIGNS = overflowing("*", "terms of both signs leave the dtype, in an order that nothing documents")
SIGNS_OF_FLOAT32 = {f"{pattern}-float32": why for pattern, why in SIGNS.items()}
TIES = overflowing("*", "beside a large number, a small one is rounded away, which decides which sum is the largest")
CONTRAST = infinite("[01]", "nothing documents the order of the steps, which subtract infinities or multiply them by 0")
ELEMENTWISE = {"*": "the op is elementwise, and its other specs have special numbers"}
FLUSHED: Ordinary = {"subnormal_?": "a kernel may take a subnormal number for a zero"}
IMAGES = not_finite("1", "nothing documents whether a pixel of weight 0 is a term of a mean")
TRANSFORMS = not_finite("1", "nothing documents the place of a pixel under a transform that is not finite") | (
    overflowing("1", "no pixel of the result has a place in the image")
)
_COLOR = "only colors from 0 to 1 have a hue and a saturation"
HUE = not_finite("?", "nothing documents the hue of a color with a part that is not finite") | overflowing("*", _COLOR)
GATES = infinite("?", "beside an infinite number, a gate at its limit has no bound of its error") | overflowing(
    "*", "beside a large number, a gate at its limit has no bound of its error"
)
IN_OWN_RECIPES = not_finite("?", "the op's own recipes have NaN and infinities")
MOVED = {"*": "the op moves elements, and its own recipes have numbers of all kinds"}
OF_LARGEST_TWICE = TIES | {"*_[01]": "the specs of the op whose second gradient it is have NaN, infinities and ties"}
OWN_GRADIENT = {"grad": "the op's own recipes have the gradient by zeros and infinities"} | FACTORS
NAN_IN_OWN_RECIPES = {"nan_?": "the op's own recipes have NaN"}
OF_LARGEST = TIES | not_finite("0", "the specs of the op whose gradient it is have NaN and infinities")
_MIXED = {"subnormal_0": "the op's own recipes have subnormal numbers"}
PARTS = _MIXED | infinite("0", "nothing documents which infinity, or NaN, a sum of complex products of an infinity is")
REAL_PARTS = (
    _MIXED | {"sum_*": SIGNS["sum_*"]} | not_finite("0", "nothing documents which part of a complex number NaN reaches")
)
RUNNING = infinite("?", "an infinite slot becomes NaN, as by a gradient: see the cause optimizers-infinite-gradient")
OF_FTRL = RUNNING | overflowing("*", "a step subtracts products that leave the dtype")
OF_CENTERED = RUNNING | {"sum_4": "the difference of a mean of squares and a square, which leave the dtype, is NaN"}
RUNNING_FTRL = {
    **OF_FTRL,
    "nan_?": "the variable of XLA is NaN where 0 is documented: see the cause xla-ftrl-nan",
}
RUNNING_MAXIMUM = {**RUNNING, "nan_[234]": "a maximum loses NaN: see the cause optimizers-maximum-loses-nan"}
STORED = not_finite("?", "nothing documents whether an entry that is not stored is a term of a sum")
MEAN = {"minus-zero_0": "a sum may start at 0, so that the mean of -0 may be 0"}
RANDOM = {"*": "a distribution is tested as a whole: no result depends on one number alone"}
THRESHOLD = not_finite("2", "a threshold that is no number from 0 to 1 is refused")
UPDATES = {"nan_2": "the op's own recipes have such updates, which are lost: see the cause scatter-maximum-loses-nan"}
ZERO = {"minus-zero_0": "zeros of both signs are one value, and either may stand for both"}
MEANS = {
    **infinite("[36]", "nothing documents whether an infinite mean is subtracted before or after its product"),
    **overflowing("[36]", "the numbers beside a large mean cancel: see the cause xla-batch-norm-inference-cancels"),
    "subnormal_[57]": "the numbers beside it cancel: see the cause xla-batch-norm-inference-cancels",
}
WEIGHTS = not_finite("0", "nothing documents whether a pixel of weight 0 is a term of a mean")
UNSORTED = FLUSHED | {"*_0": "a number in any place leaves the row unsorted", "nan_1": "NaN has no place in a row"}


def levels(first: int) -> Ordinary:
    """The two ends of a range of levels; `first` is the number of the operand with the lower end."""
    return not_finite(f"[{first}{first + 1}]", "no level is at an end of a range that is not finite") | LEVELS


LEVELS = overflowing("*", "the op rounds numbers to levels, and adds nothing up")


def boxes(number: int) -> Ordinary:
    """The boxes of crops, which are the operand of this number."""
    edge = "the gradient by a box has two values where its edge is at the edge of the image"
    return {
        **not_finite(f"{number}", "a box that is not finite is refused"),
        **overflowing(f"{number}", "a far box ends the process: see the cause crop-and-resize-far"),
        f"subnormal_{number}": edge,
    }


def padding(tensors: str) -> Ordinary:
    """The tensors that meet zeros around, or between, the elements of the other: in an op, or in its gradients."""
    return not_finite(tensors, "nothing documents whether zeros around and between elements are terms of a sum")
