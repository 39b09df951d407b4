"""Extremes: the larger and the smaller of two numbers, and the next number."""

from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Side
from tf_opdiff.suites.derived.hessian import Hessian
from tf_opdiff.suites.forms.elementwise.binary import (
    EXACT_PAIRS,
    UPSTREAMS,
    Instead,
    broadcast,
    hard_exact_pairs,
    subnormal_pairs,
    summed,
)
from tf_opdiff.suites.forms.elementwise.flushed import outputs
from tf_opdiff.suites.forms.elementwise.integers import integers
from tf_opdiff.suites.forms.elementwise.subnormal import flushing, of_gpu_kernels
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import part, together
from tf_opdiff.suites.forms.recipes.pairs import crossed
from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast
from tf_opdiff.suites.reference.elementwise.conventions import extreme_vjp, larger, smaller
from tf_opdiff.suites.reference.promises.function import Function, one
from tf_opdiff.suites.reference.promises.subnormal import (
    DENORMALS,
    GPU_LINK,
    GPU_WHY,
    LINK,
    WHY,
    flushed,
    flushed_in,
    flushed_on_gpu,
    wholes,
)


def _any_nan(dtype, x, y):
    return np.isnan(x) | np.isnan(y)


def _ambiguous(dtype, x, y):
    """NaN, and two zeros of different signs: either may be the larger."""
    return _any_nan(dtype, x, y) | ((x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y)))


def _zeros(dtype, x, y):
    return (x == 0) & (y == 0)


def _only(condition):
    """A recipe: the pairs of edge values for which the condition holds."""

    def recipe(draw, dtype):
        x, y = crossed(draw, dtype)
        chosen = condition(dtype, x.astype(np.float64), y.astype(np.float64))
        return tuple(np.resize(a[chosen], 211) for a in (x, y))

    return recipe


def _larger_of_flushed(condition):
    """The side on which XLA compares subnormals as zeros, and returns the bits of the chosen one."""
    why = f"{WHY} to compare them; XLA then hands on the bits of the one that it chose, which are of 16 bits"
    return Side(
        reference=lambda x, y: np.where(condition(flushed(x), flushed(y)), x, y), why=why, link=LINK, unless=DENORMALS
    )


def _second_of_equals(condition):
    """The number that is chosen if subnormals are compared as zeros, and the second one if both are equal then."""

    def chosen(dtype, x, y):
        a, b = flushed_in(dtype, x), flushed_in(dtype, y)
        return np.where(condition(a, b) & (a != b), x, y)

    return chosen


def _chosen_on_gpu(condition):
    """The sides on which kernels for GPUs compare subnormals as zeros, and return either of equal numbers."""
    second = _second_of_equals(condition)
    return of_gpu_kernels(
        Side(
            reference=lambda x, y: np.where(condition(flushed_on_gpu(x), flushed_on_gpu(y)), x, y),
            alternatives={"output": lambda dtype, g, x, y: [second(dtype, x, y)]},
            why=f"{GPU_WHY} where they are compared",
            link=GPU_LINK,
        )
    )


def _either_extreme(reference, condition):
    """The alternatives where subnormals are flushed, or compared as zeros; the gradients follow the comparison."""
    second = _second_of_equals(condition)

    def extremes(dtype, g, x, y):
        by_zeros = np.where(condition(flushed_in(dtype, x), flushed_in(dtype, y)), x, y)
        chosen = [np.where(np.isnan(x) | np.isnan(y), np.nan, one) for one in (by_zeros, second(dtype, x, y))]
        return [*wholes(*chosen), *outputs(reference)(dtype, g, x, y)]

    def gradients(i):
        def alternatives(dtype, g, *xs):
            zeros = [flushed_in(dtype, x) for x in xs]
            upstreams = (g, flushed_in(dtype, g))
            return wholes(*(extreme_vjp(condition)(u, *zs)[i] for u in upstreams for zs in (xs, zeros)))

        return alternatives

    return {"output": extremes, "grad[0]": gradients(0), "grad[1]": gradients(1)}


def _as_number(condition):
    """1 where the condition holds, and 0 elsewhere: the derivative of the number that is chosen."""
    return lambda *xs: np.where(condition(*xs), 1.0, 0.0)


def _extreme(reference, condition):
    """A part: the extreme of two numbers. Where the condition holds it is x, and x gets the upstream."""
    vjp = extreme_vjp(condition)

    def otherwise(x, y):
        return ~condition(x, y)

    normal: dict[str, Any] = {
        "reference": reference,
        "vjp": vjp,
        "dtypes": FLOATS,
        "unsigned_zeros": ("output",),
        "upstreams": UPSTREAMS,
        "alternatives": _either_extreme(reference, condition),
    }
    flushes = {"cpu/*": flushing(lambda x, y: flushed(reference(x, y))), **_chosen_on_gpu(condition)}
    tiny: dict[str, Any] = {
        "positions": True,
        "reference": reference,
        "recipes": {"subnormals": lambda draw, dtype: tuple(np.abs(a) for a in subnormal_pairs(draw, dtype))},
    }
    values = Function(
        f=reference,
        partials=(_as_number(condition), _as_number(otherwise)),
        exact=lambda x, y: x if condition(x, y) else y,
    )
    main = part(
        positions=True,
        every_input=True,
        hessian=Hessian(terms={}, jvp=0, function=values),
        recipes={
            **{name: Instead(_ambiguous, 2, 1).of(recipe) for name, recipe in EXACT_PAIRS.items()},
            **{name: Instead(_any_nan, 2, 1).of(recipe) for name, recipe in hard_exact_pairs().items()},
        },
        **normal,
    )
    return together(
        main,
        part("-nan", recipes={"nan": _only(_any_nan), "upstreams": _only(_any_nan)}, **normal),
        part("-zeros", recipes={"zeros": _only(_zeros), "upstreams": _only(_zeros)}, **normal),
        part("-subnormal", dtypes=("float16", "float32", "float64"), contract=flushes, **tiny),
        part(
            "-subnormal-bfloat16",
            dtypes=("bfloat16",),
            contract={"cpu/xla": _larger_of_flushed(condition), **flushes},
            **tiny,
        ),
        broadcast(reference, vjp, domain=((-4.0, 4.0), (-4.0, 4.0)), bound=summed((condition, otherwise), 0)),
        integers(reference),
    )


def _next_is_subnormal(dtype, x, y):
    """The number after zero is subnormal, and so is the one after the smallest normal number, towards zero."""
    return (np.abs(x) <= float(ml_dtypes.finfo(dtype).smallest_normal)) & (x != y)


def _beside_zero(draw, dtype):
    """Zeros and the smallest normal numbers: the next number is subnormal."""
    tiny = ml_dtypes.finfo(dtype).smallest_normal
    x = np.resize(np.array([0.0, -0.0, tiny, -tiny], dtype), 67)
    return x, np.where(np.abs(x) > 0, 0, np.where(np.arange(67) % 3 == 1, -1, 1)).astype(dtype)


def _either_next(reference):
    """The alternatives of the next number: two subnormal numbers may count as equal, and the second one comes out."""

    def alternatives(dtype, g, x, y):
        equal = flushed_in(dtype, x) == flushed_in(dtype, y)
        chosen = np.where(equal, y, reference(x, y)).astype(dtype)
        return [(chosen,), *outputs(reference)(dtype, g, x, y)]

    return alternatives


def _next(dtype):
    """A part: the next number of one dtype."""

    def reference(x, y):
        return np.nextafter(x.astype(dtype), y.astype(dtype))

    first = Function(f=reference, partials=(one, lambda x, y: 0 * one(x, y)), exact=lambda x, y: x)
    return together(
        part(
            f"-{dtype}",
            positions=True,
            every_input=True,
            hessian=Hessian(terms={}, jvp=0, function=first),
            reference=reference,
            vjp=lambda g, x, y: (unbroadcast(g, x.shape), unbroadcast(g * 0, y.shape)),
            recipes={
                **{name: Instead(_next_is_subnormal, 1, 2).of(recipe) for name, recipe in EXACT_PAIRS.items()},
                **hard_exact_pairs(),
            },
            upstreams=UPSTREAMS,
            alternatives={
                "output": _either_next(reference),
                "grad[0]": lambda dtype, g, x, y: wholes(unbroadcast(flushed_in(dtype, g), x.shape)),
            },
            dtypes=(dtype,),
        ),
        part(
            f"-subnormal-{dtype}", positions=True, reference=reference, recipes={"zeros": _beside_zero}, dtypes=(dtype,)
        ),
    )


SPECS = (
    *op("maximum", "Maximum", _extreme(larger, np.greater_equal)),
    *op("minimum", "Minimum", _extreme(smaller, np.less_equal)),
    *op("next-after", "NextAfter", _next("float32"), _next("float64")),
)
