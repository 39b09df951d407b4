"""Special: parts that promise special functions of several arguments at extremes, in float32 and float64.

The spec `NAME-hard` promises, with gradients, what the other specs of a function leave out: subnormal numbers,
numbers of all sizes, special values crossed over all arguments, and upstreams that are zero, infinite, NaN, tiny or
huge. float32 is in the default tier; float64 is in the full tier, because every dtype needs programs of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.forms.elementwise.binary import product_of, products, summed
from tf_opdiff.suites.forms.elementwise.flushed import Alternatives, branching, either, places
from tf_opdiff.suites.forms.elementwise.kernel import ROUNDED
from tf_opdiff.suites.forms.part import Part, part, tiered, together
from tf_opdiff.suites.forms.recipes.hard_pairs import crossed_upstreams, tiny_numbers
from tf_opdiff.suites.forms.recipes.pairs import normal, within
from tf_opdiff.suites.forms.unary import WIDE
from tf_opdiff.suites.reference.elementwise.broadcast import unbroadcast
from tf_opdiff.suites.reference.promises.function import Function

#: Positive arguments of ordinary size.
SMALL = (2.0**-11, 0.5, 1.0, 2.0, 3.0, 30.5)
#: Elements of every recipe, so that one program serves all of them.
SIZE = 199
#: Second derivatives that take long to compute, at 67 inputs inside the domain.
INSIDE: dict[str, Any] = {"points": (), "sizes": False, "size": 67}
_DOMAIN = ((0.1, 20.0), (0.1, 20.0))
_OF_DIFFERENCES = Loose(
    reason="the promise is made of differences, and has the digits of float16", last=0, dtype="float16"
)


def special_function(function, hessian, *, edges, outside, bound, loose=None):
    """A part: a function in its domain, at edge values, outside of the domain, and at NaN."""

    def domain(draw, dtype):
        xs = within(*function.domain, size=199)(draw, dtype)
        return tuple(np.floor(x) if i in function.whole else x for i, x in enumerate(xs))

    at_edges = normal(product_of(*edges), function, gradient=False)
    at_nan = product_of((np.nan, *SMALL[:2]), (np.nan, np.nan, 3.0))
    fields = {"reference": function, "dtypes": WIDE, "ulp": {"output": 0.5}, "bound": bound, "loose": loose or {}}
    own = {"vjp": products(function), "hessian": replace(hessian, function=function)}
    return together(
        part(recipes={"domain": normal(domain, function)}, sizes=True, **own, **fields),
        part("-edges", recipes={"edges": at_edges}, **fields),
        part("-outside", recipes={"outside": product_of(*outside), "nan": at_nan}, **fields),
        shapes_differ(function, function.domain, bound, function),
    )


def derivative_op(
    reference: Callable[..., Any],
    vjp: Callable[..., Any],
    bound: Callable[..., Any],
    loose: Mapping[str, Loose] | None = None,
) -> Part:
    """A part: a derivative that is an op of its own; the promise of its gradient is made of differences."""

    def near(i: int) -> Callable[..., Any]:
        return lambda u, g, *xs: 1e-3 * np.abs(vjp(g, *xs)[i])

    values = part(
        reference=reference,
        vjp=vjp,
        recipes={"domain": within(*_DOMAIN, size=199)},
        dtypes=WIDE,
        sizes=True,
        bound={"output[0]": bound, "grad[0]": near(0), "grad[1]": near(1)},
        loose={"grad": _OF_DIFFERENCES, **(loose or {})},
    )
    return together(values, shapes_differ(reference, _DOMAIN, {"output[0]": bound}))


def shapes_differ(
    reference: Callable[..., Any],
    domain: Sequence[tuple[float, float]],
    bound: Mapping[str, Callable[..., Any]],
    function: Function | None = None,
    shapes: Sequence[tuple[int, ...]] = ((2, 1, 3), (5, 1)),
) -> Part:
    """A part: arguments whose shapes differ, in the middle of the domain; with gradients of a function, if any."""
    whole = function.whole if function else ()
    fields: dict[str, Any] = {"reference": reference, "dtypes": WIDE, "bound": bound}
    if function:
        sums = summed(function.partials, 0)
        both = {quantity: _plus(sums[quantity], one) for quantity, one in bound.items() if quantity in sums}
        fields |= {"vjp": products(function), "bound": {**bound, **both}}

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        quarters = [(low + (high - low) / 4, (low + high) / 2) for low, high in domain]
        xs = [draw.uniform(*shape, low=a, high=b) for shape, (a, b) in zip(shapes, quarters, strict=True)]
        return tuple((np.floor(x) if i in whole else x).astype(dtype) for i, x in enumerate(xs))

    return part("-broadcast", recipes={"planes": recipe}, **fields)


def _plus(one: Callable[..., Any], other: Callable[..., Any]) -> Callable[..., Any]:
    """The sum of two bounds."""
    return lambda *arguments: one(*arguments) + other(*arguments)


def relative(f, terms, least, slope):
    """The bound u |f| (least + slope × terms)."""
    return lambda u, g, *xs: u * np.abs(f(*xs)) * (least + slope * terms(*xs))


def gradient(function, argument, terms, least, slope, floor=0.0):
    """The bound u |g| (floor + |d| (least + slope × terms)), where d is the derivative by an argument."""

    def bound(u, g, *xs):
        d = np.abs(function.partials[argument](*xs))
        return u * unbroadcast(np.abs(g) * (floor + d * (least + slope * terms(*xs))), xs[argument].shape)

    return bound


def hard(
    function: Function,
    *,
    recipes: Mapping[str, Recipe],
    bound: Mapping[str, Callable[..., Any]],
    beyond: Function | None = None,
    alternatives: Mapping[str, Alternatives] | None = None,
    **fields: Any,
) -> Part:
    """A part: a function at extremes, in float32 and, in the full tier, in float64.

    Args:
      function: the function and its derivatives.
      recipes: as of a spec, of SIZE elements; those of `hard_recipes` among them.
      bound: as of a spec; where it is NaN or infinite, that of flushed inputs holds.
      beyond: the function with derivatives that are right as well, outside of the domain.
      alternatives: further alternatives than flushed numbers, by quantity; as of a spec.
      fields: further fields of the specs.
    """
    fields = {
        "reference": function,
        "vjp": products(function),
        "recipes": recipes,
        "upstreams": {"upstreams": crossed_upstreams},
        "bound": {quantity: _of_flushed(one) for quantity, one in bound.items()},
        "alternatives": _alternatives([one for one in (function, beyond) if one], alternatives or {}),
        "ulp": {"output": 0.5, "grad": 1},  # subnormal numbers
        **fields,
    }
    return part("-hard", dtypes=tiered(WIDE), **fields)


def hard_recipes(
    special: Sequence[Sequence[float]],
    exponents: Sequence[tuple[float, float]],
    upstreams: Sequence[Sequence[float]],
    whole: Sequence[int] = (),
) -> dict[str, Recipe]:
    """The recipes that all hard parts have, by name.

    Args:
      special: values of each argument, which are crossed.
      exponents: the range of the binary exponents of each argument, for numbers of all sizes.
      upstreams: values of each argument, at which every special upstream is tried.
      whole: the arguments, by number, whose numbers of all sizes are rounded down to whole numbers.
    """
    return {
        "special": product_of(*special),
        "sizes": of_exponents(exponents, whole),
        "tiny": _tiny(special),
        "upstreams": _repeated(upstreams, 8),
    }


def _alternatives(functions: Iterable[Function], more: Mapping[str, Alternatives]) -> dict[str, Alternatives]:
    """The alternatives of some functions, and more, by quantity; each input may be flushed by itself."""
    every = [*map(_exact_or_flushed, functions), {quantity: [one] for quantity, one in more.items()}]

    def of(quantity: str) -> Alternatives:
        return lambda dtype, g, *xs: [
            array
            for each in every
            for place in places(dtype, *xs)
            for alternatives in each.get(quantity, ())
            for array in alternatives(dtype, g, *place)
        ]

    return branching({quantity: of(quantity) for each in every for quantity in each})


def _exact_or_flushed(function: Function) -> dict[str, list[Alternatives]]:
    """The exact result and flushed ones, by quantity."""
    vjp = products(function)

    def gradient(i: int) -> Alternatives:
        return lambda dtype, g, *xs: [vjp(g, *xs)[i]]

    exact: dict[str, Alternatives] = {f"grad[{i}]": gradient(i) for i in range(len(function.partials))}
    exact["output"] = lambda dtype, g, *xs: [function(*xs)]
    return {quantity: [exact[quantity], flushed] for quantity, flushed in either(function, products, ROUNDED).items()}


def _of_flushed(bound: Callable[..., Any]) -> Callable[..., Any]:
    """A bound that, where it is not finite, is that of flushed inputs: an alternative may be finite there."""

    def filled(u: float, g: np.ndarray, *xs: np.ndarray) -> np.ndarray:
        dtype = np.dtype("float32" if u == 2.0**-24 else "float64")
        bounds = [np.asarray(bound(u, g, *place)) for place in places(dtype, *xs)]
        return reduce(lambda one, other: np.where(np.isfinite(one), one, other), bounds)

    return filled


def of_exponents(exponents: Sequence[tuple[float, float]], whole: Sequence[int] = ()) -> Recipe:
    """A recipe: each argument has equally likely exponents in its range; whole numbers are rounded down."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        powers = [draw.uniform(SIZE, low=low, high=high) for low, high in exponents]
        numbers = [np.ldexp(1 + (p - np.floor(p)), np.floor(p).astype(int)) for p in powers]
        return tuple((np.floor(x) if i in whole else x).astype(dtype) for i, x in enumerate(numbers))

    return recipe


def _tiny(special: Sequence[Sequence[float]]) -> Recipe:
    """A recipe: subnormal numbers in each argument in turn, and in all of them, with special values in the others."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        count = len(special)
        places = np.arange(SIZE) % (count + 1)
        columns = []
        for i, values in enumerate(special):
            small = np.abs(tiny_numbers(draw, dtype, SIZE))
            others = np.array(values).astype(dtype)[draw.integers(SIZE, low=0, high=len(values))]
            columns.append(np.where((places == i) | (places == count), small, others))
        return tuple(columns)

    return recipe


def _repeated(values: Sequence[Sequence[float]], times: int) -> Recipe:
    """A recipe: the first 24 crossed values, each as often as there are special upstreams."""
    points = np.meshgrid(*values, indexing="ij")
    return lambda draw, dtype: tuple(np.resize(np.repeat(p.ravel()[:24], times), SIZE).astype(dtype) for p in points)
