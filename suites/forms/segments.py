"""Segments: ops that reduce the rows that share an id. Ids are sorted, or in any order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.contract import Side, Sparse
from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.hessian import by_dtype, chosen_second_order, linear_second_order
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms import segment_recipes as recipes
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.flushed import distinct, places
from tf_opdiff.suites.reference.segments import (
    SUM,
    Reduction,
    highest,
    lowest,
    members,
    product_curved,
    pulled,
    reduced,
)
from tf_opdiff.suites.reference.subnormal import flushed_in

_SUBTRACTED = Loose(
    lambda *inputs, **keywords: True,
    "the gradient of P / x divides a sum over all rows by x, and then subtracts the term of the row itself",
)
_GUIDE = "https://www.tensorflow.org/api_docs/python/tf/math/segment_sum"
_UNSORTED = "On GPU, out-of-order indices result in safe but unspecified behavior, which may include treating "
_SMALLER = _UNSORTED + "them as the same as a smaller following index"
_DROPPED = "On GPU, out-of-bound indices result in safe but unspecified behavior, which may include ignoring them"


@dataclass(frozen=True, kw_only=True)
class Segments:
    """An op that reduces segments: its OpDef, its reduction, and the number of segments.

    count   the number of segments, an argument of the op; None if the ids are sorted, and the last one decides.
    dtype   the dtype whose limit a segment without rows has, if it has one.
    """

    raw: str
    how: Reduction
    count: int | None = None
    dtype: str = "float32"

    @property
    def program(self) -> Callable[..., Any]:
        """As of a spec: calls the raw op."""
        raw, more = self.raw, {} if self.count is None else {"num_segments": self.count}
        return lambda tf, x, ids: getattr(tf.raw_ops, raw)(data=x, segment_ids=ids, **more)

    def _rows(self, x: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """The rows, an id for each, and the number of segments."""
        rows = x.reshape(ids.size, *x.shape[ids.ndim :])
        last = ids.max(initial=-1) + 1
        return rows, ids.ravel(), int(last if self.count is None else self.count)

    def reference(self, x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """As of a spec."""
        return reduced(self.how, *self._rows(x, ids), self.how.empty(self.dtype))

    def vjp(self, g: np.ndarray, x: np.ndarray, ids: np.ndarray) -> tuple[Any, None]:
        """As of a spec; integers have no gradient."""
        if x.dtype.kind not in "fc":
            return None, None
        return pulled(self.how, g, *self._rows(x, ids)).reshape(x.shape), None

    def flushed_outputs(self, dtype: np.dtype, g: Any, x: np.ndarray, ids: np.ndarray) -> list[np.ndarray]:
        """Other right outputs: subnormal rows or results count as zeros, and the sum of a mean may overflow."""
        results = [self.reference(a, ids) for (a,) in places(dtype, x)]
        if self.how.power:
            total = replace(self, how=SUM).reference(x, ids).astype(dtype).astype(x.dtype)
            count = np.maximum(members(*self._rows(x, ids)[1:]), 1).reshape(-1, *(1,) * (total.ndim - 1))
            results.append(total / count**self.how.power)
        if self.how.chooses:
            results += [self._equals(dtype, x, ids, choose) for choose in (np.fmax, np.fmin)]
        return distinct(results[0], (y for r in results for y in (r, flushed_in(dtype, r))), dtype)

    def _equals(self, dtype: np.dtype, x: np.ndarray, ids: np.ndarray, choose: Any) -> np.ndarray:
        """The highest or the lowest of the rows that equal the result for a processor that flushes subnormals."""
        exact, flushed = self.reference(x, ids), flushed_in(dtype, x)
        rows, flat, count = self._rows(x, ids)
        for k in np.unique(flat[(flat >= 0) & (flat < count)]):
            own = rows[flat == k]
            best = self.how.rows(flushed.reshape(rows.shape)[flat == k])
            equal = np.where(flushed_in(dtype, own) == best, own, np.nan) if own.dtype.kind == "f" else own[:0]
            exact[k] = choose.reduce(equal, 0) if len(equal) and not np.isnan(best).any() else exact[k]
        return exact

    def flushed_gradients(self, dtype: np.dtype, g: Any, x: np.ndarray, ids: np.ndarray) -> list[np.ndarray]:
        """Other right gradients: subnormal rows, upstreams or results count as zeros."""
        results = [self.vjp(h, a, ids)[0] for a, h in places(dtype, x, g)]
        return distinct(results[0], (y for r in results for y in (r, flushed_in(dtype, r))), dtype)

    def bound(self, u: float, g: Any, x: np.ndarray, ids: np.ndarray) -> Any:
        """The largest error of an output: n roundings of n terms and one of a quotient, in any order of the terms.

        Higham, Accuracy and Stability of Numerical Algorithms, section 4.2 for sums and section 3.1 for products.
        """
        rows, flat, count = self._rows(x, ids)
        steps = members(flat, count) - 1 + 2 * (self.how.power > 0)
        steps = np.maximum(steps, 0).reshape(-1, *(1,) * (rows.ndim - 1))
        size = np.abs(self.reference(x, ids)) if self.how.product else reduced(self.how, np.abs(rows), flat, count)
        return np.where(steps > 0, steps * u / (1 - steps * u) * size, 0)

    def gradient_bound(self, u: float, g: Any, x: np.ndarray, ids: np.ndarray) -> Any:
        """The largest error of a gradient: n roundings of a product, a quotient and a product; else a quotient."""
        rows, flat, count = self._rows(x, ids)
        inside = (flat >= 0) & (flat < count)
        own = np.where(inside, members(flat, count)[np.where(inside, flat, 0)] if count else 0, 0)
        steps = (own + 2 if self.how.product else np.full(own.shape, 3.0)).reshape(-1, *(1,) * (rows.ndim - 1))
        return (steps * u / (1 - steps * u) * np.abs(self.vjp(g, x, ids)[0].reshape(rows.shape))).reshape(x.shape)


@dataclass(frozen=True)
class _CurvedProduct:
    """Forward mode and second order of a product of segments, as of a spec."""

    op: Segments

    def jvp(self, ts: Any, x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """The sum of the gradients of each product, times the tangents."""
        return replace(self.op, how=SUM).reference(self._slopes(x, ids) * ts[0], ids)

    def hvp(self, g: np.ndarray, ts: Any, x: np.ndarray, ids: np.ndarray) -> tuple[Any, None]:
        """The derivative of the gradient along the tangents."""
        rows, flat, count = self.op._rows(x, ids)
        tangents, out = ts[0].reshape(rows.shape), np.zeros(rows.shape)
        for k in range(count):
            out[flat == k] = product_curved(g[k], tangents[flat == k], rows[flat == k])
        return out.reshape(x.shape), None

    def jvp_bound(self, u: float, g: Any, ts: Any, x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """The roundings of a sum of products of two."""
        return 6 * u * replace(self.op, how=SUM).reference(np.abs(self._slopes(x, ids) * ts[0]), ids)

    def hvp_bound(self, u: float, g: Any, ts: Any, x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """The roundings of the terms, and of the term of the row itself, which is subtracted."""
        own = np.abs(g)[np.maximum(ids, 0)] * np.abs(self._slopes(x, ids) * ts[0] / np.where(x == 0, 1, x))
        return 8 * u * (own + self.hvp(np.abs(g), [np.abs(ts[0])], np.abs(x), ids)[0])

    def _slopes(self, x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        return self.op.vjp(np.ones(self.op.reference(x, ids).shape), x, ids)[0]


def _curved(main: Spec, op: Segments, dtypes: Sequence[str]) -> tuple[Spec, ...]:
    """The twins with the second order of a product."""
    curved = _CurvedProduct(op)
    twin = replace(
        main,
        recipes=recipes.products(op.count is None),
        jvp=curved.jvp,
        hvp=curved.hvp,
        upstreams={},
        bound={**main.bound, "jvp": curved.jvp_bound, "hvp": curved.hvp_bound},
        loose={**main.loose, "jvp": _SUBTRACTED, "hvp": _SUBTRACTED},
        alternatives={},
        unsigned_zeros=(*main.unsigned_zeros, "jvp", "hvp"),
    )
    return by_dtype(twin, f"{main.name}-second-order", [dtype for dtype in dtypes if dtype in FLOATS])


def segments(
    name: str, op: Segments, dtypes: Sequence[str], *, answers: Sequence[Spec] = (), **fields: Any
) -> tuple[Spec, ...]:
    """The specs of an op that reduces segments.

    Args:
      name: the name with which theirs begin.
      op: the op.
      dtypes: its dtypes; float32 is among them, and stands for the others in the default tier.
      answers: further specs.
      fields: further fields of the main specs.
    """
    ordered = op.count is None
    others = [dtype for dtype in dtypes if dtype != "float32"]
    main = _main(name, op, ("float32",), **fields)
    each = (
        [_main(f"{name}-{d}", replace(op, dtype=d), (d,), **fields) for d in others]
        if op.how.empty("float32") != op.how.empty("float64")
        else [replace(main, name=f"{name}-other", dtypes=tuple(others))]
    )
    linear = not (op.how.product or op.how.chooses)
    return (
        main,
        *(replace(spec, tier="full") for spec in each),
        *(_without_gradient(spec, op, tier) for spec, tier in _tiers(main, each) if op.how.chooses),
        *(_second_order(main, op) if linear else ()),
        *(_curved(main, op, dtypes) if op.how.product else ()),
        *(chosen_second_order(main, "int32") if op.how.chooses else ()),
        *sizes(main, _counted(recipes.sizes(ordered))),
        *_refused(name, op),
        *answers,
    )


def _second_order(main: Spec, op: Segments) -> tuple[Spec, ...]:
    """The twins with second order. Of a sum, forward mode is sparse, like the gradient of its gradient, a gather."""

    def rows(t: Any, x: np.ndarray, ids: np.ndarray) -> tuple[Sparse]:
        kept = (ids >= 0).reshape(-1, *(1,) * (x.ndim - 1))
        return (Sparse(np.where(kept, t[0], 0), np.maximum(ids, 0), op.reference(x, ids).shape),)

    twins = linear_second_order(main, "exact")
    return twins if op.how.power else tuple(replace(twin, jvp=rows) for twin in twins)


def _tiers(main: Spec, others: Sequence[Spec]) -> list[tuple[Spec, str]]:
    """The spec of float32, and those of other dtypes, with their tiers."""
    return [(main, "default"), *((spec, "full") for spec in others)]


def _without_gradient(spec: Spec, op: Segments, tier: str) -> Spec:
    """The twin with numbers that have no gradient."""
    recipe = recipes.nan(op.how, op.count is None)
    return replace(spec, name=f"{spec.name}-special", vjp=None, recipes=recipe, tier=tier)


def _main(name: str, op: Segments, dtypes: tuple[str, ...], **fields: Any) -> Spec:
    """The spec of the op for some dtypes."""
    how = op.how
    bounds: dict[str, Any] = {} if how.chooses else {"output": op.bound}
    bounds |= {"grad[0]": op.gradient_bound} if how.product or how.chooses or how.power else {}
    settings: dict[str, Any] = {
        "ops": op.raw,
        "program": op.program,
        "reference": op.reference,
        "vjp": op.vjp,
        "recipes": recipes.main(how, op.count is None),
        "bound": bounds,
        "ulp": {quantity.partition("[")[0]: 0.5 for quantity in bounds},
        "alternatives": {"output": op.flushed_outputs, "grad[0]": op.flushed_gradients},
        "dtypes": dtypes,
    }
    return Spec(name=name, **settings | fields)


def _counted(shapes: Mapping[str, Any]) -> Mapping[str, Recipe]:
    """Recipes of these shapes of rows and of ids."""

    def recipe(x: tuple[int, ...], ids: tuple[int, ...]) -> Recipe:
        numbers = np.arange(prod(ids), dtype="int32").reshape(ids)
        return lambda draw, d: (draw.values(d, *x), numbers)

    return {name: recipe(*each) for name, each in shapes.items()}


def _refused(name: str, op: Segments) -> tuple[Spec, ...]:
    """Specs of ids that a CPU refuses, and of ids whose shape does not fit the rows."""
    ordered = op.count is None
    shared: dict[str, Any] = {"ops": op.raw, "program": op.program}
    smaller = Side(
        reference=lambda x, ids: op.reference(x, _as_following(ids)),
        alternatives={"output": partial(_unspecified, op)},
        why=_SMALLER,
        link=_GUIDE,
    )
    dropped = Side(reference=op.reference, why=_DROPPED, link=_GUIDE)
    return (
        Spec(
            name=f"{name}-refused",
            reference=raises("INVALID_ARGUMENT"),
            recipes=recipes.refused(ordered),
            contract={"gpu/*": smaller if ordered else dropped},
            bound={} if op.how.chooses else {"output": lambda u, g, x, ids: op.bound(u, g, x, _as_following(ids))},
            ulp={"output": 0.5},
            **shared,
        ),
        Spec(
            name=f"{name}-mismatched",
            reference=raises("INVALID_ARGUMENT" if ordered else "ValueError"),
            recipes=recipes.mismatched(ordered),
            contract={} if ordered else REFUSED_BY_KERNEL,
            **shared,
        ),
    )


def _as_following(ids: np.ndarray) -> np.ndarray:
    """The ids, each at most as large as all that follow."""
    return np.minimum.accumulate(ids[::-1])[::-1]


def _unspecified(op: Segments, dtype: np.dtype, g: Any, x: np.ndarray, ids: np.ndarray) -> list[np.ndarray]:
    """Other results of ids out of order: a segment that is not divided, or that is as before its first row."""
    result = op.reference(x, _as_following(ids))
    limits = (lowest(dtype.name), highest(dtype.name)) if op.how.chooses else ()
    return [replace(op, how=SUM).reference(x, _as_following(ids)), *(np.full_like(result, n) for n in (0, *limits))]
