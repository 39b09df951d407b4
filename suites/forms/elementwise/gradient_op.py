"""Gradient ops: ops that compute the gradient of another op, from an upstream and an input or output of that op."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    SIZE,
    Draw,
    bit_patterns,
    edges,
    plain,
    special_values,
)
from tf_opdiff.harness.spec.spec import Recipe, Side, Spec
from tf_opdiff.suites.derived.position import positions
from tf_opdiff.suites.derived.sizes import alike
from tf_opdiff.suites.derived.special_places import distinct, joined, short
from tf_opdiff.suites.forms.bounds import Budget, by_dtype
from tf_opdiff.suites.forms.elementwise.analytic import axes
from tf_opdiff.suites.forms.elementwise.flushed import branching, outputs
from tf_opdiff.suites.forms.elementwise.kernel import ROUNDED
from tf_opdiff.suites.forms.elementwise.special_upstreams import KINDS
from tf_opdiff.suites.forms.op import with_sizes
from tf_opdiff.suites.forms.part import Op, Part, calling, part, tiered
from tf_opdiff.suites.forms.recipes.pairs import crossed, many

#: The names that OpDefs give to the upstream, which comes first or second.
_UPSTREAMS = ("dy", "gradients")
#: The roundings of second order: the few products of a term, and a sum of two.
_ROUNDINGS = 8


@dataclass(frozen=True, kw_only=True)
class ComplexGradient:
    """What a gradient op promises of complex numbers.

    reference   reference(g, second input).
    size        size(|g|, |second input|): the sum of the magnitudes of the terms of the result.
    error       the largest error, in units of u times `size`: a few roundings of complex products.
    """

    reference: Callable[..., Any]
    size: Callable[..., Any]
    error: float = 8

    def value(self, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The promised gradient, in complex long double."""
        return np.asarray(self.reference(g.astype(np.clongdouble), y.astype(np.clongdouble)))

    def bound(self, u: float, _: Any, g: np.ndarray, y: np.ndarray) -> np.ndarray:
        """The largest allowed error."""
        return np.asarray(self.error * u * self.size(np.abs(g), np.abs(y)))


@dataclass(frozen=True, kw_only=True)
class GradientOp:
    """What a gradient op promises, in all float dtypes.

    reference   reference(g, second input).
    ulp         the budget of the output; a tuple has one for each dtype, in the order of `FLOATS`.
    bound       bound(u, _, g, second input) of the output; None if there is none.
    contract    as of a spec.
    complex     what the op promises of complex numbers; None if it has no kernel for them.
    integers    whether the op has kernels for integers, which make the same promise.
    slope       slope(second input): the derivative of `reference` of an upstream of 1, for the gradient of the op,
                where TensorFlow registers one.
    slope_size  slope_size(second input): the sum of the magnitudes of the terms of the slope; None if it is one
                term.
    curve       curve(second input): the derivative of the slope; None if it is 0, as of straight lines.
    flat        whether the slope is 0 everywhere, as of steps; then no gradient by the second input depends on g.
    """

    reference: Callable[..., Any]
    ulp: Budget
    bound: Callable[..., Any] | None = None
    contract: Mapping[str, Side] = field(default_factory=dict)
    complex: ComplexGradient | None = None
    integers: bool = False
    slope: Callable[..., Any] | None = None
    slope_size: Callable[..., Any] | None = None
    curve: Callable[..., Any] | None = None
    flat: bool = False

    def specs(self, op: Op) -> Iterator[Spec]:
        """Values, complex numbers, integers, the gradient and second order."""
        crossed_kinds = {name: _crossed(values) for name, values in KINDS.items()}
        pairs = distinct(joined([*crossed_kinds.values()]))
        values = part(
            reference=self.reference,
            recipes={"edges": _at_edges, "positive": _positive, "range": _range, **crossed_kinds},
            dtypes=FLOATS,
            alternatives=_alternatives(self.reference),
            ulp={"output": by_dtype(self.ulp, FLOATS)},
            bound={"output[0]": self.bound} if self.bound else {},
            contract={
                pattern: replace(side, alternatives=_alternatives(side.reference))
                for pattern, side in self.contract.items()
            },
            sizes=True,
            twins=(positions, lambda spec: short(spec, pairs)),
        )
        yield from values(op)
        if self.complex:  # numbers of moderate size, without special values
            yield from part(
                "-complex",
                reference=self.complex.value,
                recipes={"plain": many(plain, 2, SIZE), "axes": lambda draw, d: (draw.values(d, SIZE), *axes(draw, d))},
                dtypes=COMPLEX,
                bound={"output[0]": self.complex.bound},
                tier="full",
                twins=(positions,),
            )(op)
        if self.integers:
            yield from part(
                "-integer",
                reference=self.reference,
                recipes={"edges": crossed, "bits": many(bit_patterns), "plain": many(plain)},
                dtypes=INTEGERS,
                tier="full",
                twins=(positions, lambda spec: short(spec, distinct(crossed), "full")),
            )(op)
        if slope := np.zeros_like if self.flat else self.slope:
            yield from self._differentiated(slope, op)

    def _differentiated(self, slope: Callable[..., Any], op: Op) -> Iterator[Spec]:
        """Both gradients at values of moderate size, and second order; the main spec has the special values."""
        size, own = self.slope_size, self.bound
        bounds: dict[str, Callable[..., Any]] = {}
        if size:
            bounds["grad[1]"] = lambda u, upstream, g, y: 4 * u * np.abs(upstream * g) * size(y)
        if own:  # the gradient with respect to g is the op itself, of the upstream
            bounds |= {"output[0]": own, "grad[0]": lambda u, upstream, g, y: own(u, None, upstream, y)}
        budget = by_dtype(self.ulp, FLOATS)
        fields: dict[str, Any] = {
            "reference": self.reference,
            "vjp": lambda upstream, g, y: (self.reference(upstream, y), upstream * g * slope(y)),
            "recipes": {"inside": _inside},
            "ulp": {"output": budget, "grad[0]": budget, "grad[1]": 4},
            "unsigned_zeros": ("output", "grad", "jvp", "hvp"),
        }
        yield from part("-gradient", dtypes=FLOATS, bound=bounds, **fields)(op)
        second = {**fields, **self._second_order(slope, bounds)}
        yield from part("-second-order", dtypes=tiered(FLOATS), **second)(op)

    def _second_order(self, slope: Callable[..., Any], bounds: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that promise forward mode and second order."""
        size = self.slope_size or (lambda y: np.abs(slope(y)))
        curve = self.curve or np.zeros_like

        def jvp(ts: Any, g: Any, y: Any) -> Any:
            return self.reference(ts[0], y) + ts[1] * g * slope(y)

        def hvp(upstream: Any, ts: Any, g: Any, y: Any) -> tuple[Any, Any]:
            by_y = upstream * (ts[0] * slope(y) + ts[1] * g * curve(y))
            return None if self.flat else upstream * ts[1] * slope(y), by_y

        def along(u: float, _: Any, ts: Any, g: Any, y: Any) -> Any:
            own = self.bound(u, None, ts[0], y) if self.bound else 0.0
            return own + _ROUNDINGS * u * (np.abs(self.reference(ts[0], y)) + np.abs(ts[1] * g) * size(y))

        def by_y(u: float, upstream: Any, ts: Any, g: Any, y: Any) -> Any:
            terms = np.abs(ts[0]) * size(y) + np.abs(ts[1] * g) * (np.abs(curve(y)) + size(y))
            return _ROUNDINGS * u * np.abs(upstream) * terms

        def by_g(u: float, upstream: Any, ts: Any, g: Any, y: Any) -> Any:
            return _ROUNDINGS * u * np.abs(upstream * ts[1]) * size(y)

        more = {"jvp[0]": along, "hvp[0]": by_g, "hvp[1]": by_y}
        return {"jvp": jvp, "hvp": hvp, "bound": {**bounds, **more}}


def gradient_op(reference: Callable[..., Any], **declared: Any) -> Part:
    """A part: the gradient of another op; `declared` are the other fields of `GradientOp`."""

    def specs(op: Op) -> Iterable[Spec]:
        upstream_first = sorted(op.arguments, key=lambda name: name not in _UPSTREAMS)
        called = replace(op, program=calling(op.raw, tuple(upstream_first)))
        return GradientOp(reference=reference, **declared).specs(called)

    return with_sizes(specs, shapes=alike(2))


def _alternatives(reference: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The alternatives of reference(g, y): kernels return 0 where g is 0, and compute, and flush, elsewhere."""
    return branching({"output[0]": outputs(reference, ROUNDED, (ROUNDED.factor, 1.0))})


def in_long_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of arrays, with the arrays as long doubles."""
    return lambda *arrays: function(*(a.astype(np.longdouble) for a in arrays))


def _range(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    return (draw.values(dtype, SIZE), draw.uniform(SIZE, low=-9.0, high=9.0).astype(dtype))


def _inside(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Numbers of both signs, of sizes at which no result of a gradient op is near the ends of the range."""
    sizes = (draw.uniform(SIZE, low=low, high=2.0) for low in (0.5, 0.25))
    return tuple((x * np.where(draw.booleans(SIZE), 1, -1)).astype(dtype) for x in sizes)


def _positive(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    return tuple(draw.uniform(SIZE, low=low, high=8.0).astype(dtype) for low in (0.25, 0.001))


def _crossed(upstreams: Callable[[np.dtype], np.ndarray]) -> Recipe:
    """A recipe: upstreams of a kind with every special value of the other argument, then with values around 0."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        values = upstreams(dtype)
        y = np.concatenate([special_values(dtype), draw.values(dtype, SIZE)])
        return np.resize(values, SIZE), np.repeat(y, len(values))[:SIZE]

    return recipe


def _at_edges(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Upstreams away from zero, at those edges of the other argument at which no result is subnormal."""
    g = draw.uniform(SIZE, low=0.5, high=4.0) * np.where(draw.booleans(SIZE), 1, -1)
    (y,) = edges(draw, dtype)
    size = np.abs(y.astype(np.float64))
    risky = (size > 0) & (size < 1e-3) | (size > 4) & ~np.isinf(size)
    return (g.astype(dtype), np.where(risky, np.array(1, dtype), y))
