"""Segment promises: the results, derivatives and errors of ops that reduce the rows that share an id."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tf_opdiff.suites.forms.elementwise.flushed import distinct, places
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes
from tf_opdiff.suites.reference.reductions.segments import SUM, Reduction, members, product_curved, pulled, reduced


@dataclass(frozen=True, kw_only=True)
class Segments:
    """The promise of an op that reduces segments.

    how       the reduction.
    count     the number of segments, an argument of the op; None if the ids are sorted, and the last one decides.
    dtype     the dtype whose limit a segment without rows has, if it has one.
    factors   the roundings of a quotient.
    """

    how: Reduction
    count: int | None = None
    dtype: str = "float32"
    factors: int = 2

    def rows_of(self, x: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """The rows, an id for each, and the number of segments."""
        rows = x.reshape(ids.size, *x.shape[ids.ndim :])
        last = ids.max(initial=-1) + 1
        return rows, ids.ravel(), int(last if self.count is None else self.count)

    def reference(self, x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """As of a spec."""
        return reduced(self.how, *self.rows_of(x, ids), self.how.empty(self.dtype))

    def vjp(self, g: np.ndarray, x: np.ndarray, ids: np.ndarray) -> tuple[Any, None]:
        """As of a spec; integers have no gradient."""
        if x.dtype.kind not in "fc":
            return None, None
        return pulled(self.how, g, *self.rows_of(x, ids)).reshape(x.shape), None

    def flushed_outputs(self, dtype: np.dtype, g: Any, x: np.ndarray, ids: np.ndarray) -> Others:
        """Other right outputs: subnormal rows or results count as zeros."""
        results = [self.reference(a, ids) for (a,) in places(dtype, x)]
        equal: list[np.ndarray] = []
        if self.how.chooses:
            equal = [self._equals(dtype, x, ids, choose) for choose in (np.fmax, np.fmin)]
        return distinct(results[0], (*equal, *_either(dtype, (*results, *equal))), dtype)

    def _equals(self, dtype: np.dtype, x: np.ndarray, ids: np.ndarray, choose: Any) -> np.ndarray:
        """The highest or the lowest of the rows that equal the result for a processor that flushes subnormals."""
        exact, flushed = self.reference(x, ids), flushed_in(dtype, x)
        rows, flat, count = self.rows_of(x, ids)
        for k in np.unique(flat[(flat >= 0) & (flat < count)]):
            own = rows[flat == k]
            best = self.how.rows(flushed.reshape(rows.shape)[flat == k])
            equal = np.where(flushed_in(dtype, own) == best, own, np.nan) if own.dtype.kind == "f" else own[:0]
            exact[k] = choose.reduce(equal, 0) if len(equal) and not np.isnan(best).any() else exact[k]
        return exact

    def flushed_gradients(self, dtype: np.dtype, g: Any, x: np.ndarray, ids: np.ndarray) -> Others:
        """Other right gradients: subnormal rows, upstreams or results count as zeros."""
        results = [self.vjp(h, a, ids)[0] for a, h in places(dtype, x, g)]
        return distinct(results[0], _either(dtype, results), dtype)

    def bound(self, u: float, g: Any, x: np.ndarray, ids: np.ndarray) -> Any:
        """The largest error of an output: n roundings of n terms and those of a quotient, in any order of the terms.

        Higham, Accuracy and Stability of Numerical Algorithms, section 4.2 for sums and section 3.1 for products.
        """
        rows, flat, count = self.rows_of(x, ids)
        steps = members(flat, count) - 1 + self.factors * (self.how.power > 0)
        steps = np.maximum(steps, 0).reshape(-1, *(1,) * (rows.ndim - 1))
        size = np.abs(self.reference(x, ids)) if self.how.product else reduced(self.how, np.abs(rows), flat, count)
        return np.where(steps > 0, steps * u / (1 - steps * u) * size, 0)

    def gradient_bound(self, u: float, g: Any, x: np.ndarray, ids: np.ndarray) -> Any:
        """The largest error of a gradient: n roundings of a product, a quotient and a product; else a quotient."""
        rows, flat, count = self.rows_of(x, ids)
        inside = (flat >= 0) & (flat < count)
        own = np.where(inside, members(flat, count)[np.where(inside, flat, 0)] if count else 0, 0)
        steps = (own + 2 if self.how.product else np.full(own.shape, 3.0)).reshape(-1, *(1,) * (rows.ndim - 1))
        return (steps * u / (1 - steps * u) * np.abs(self.vjp(g, x, ids)[0].reshape(rows.shape))).reshape(x.shape)


@dataclass(frozen=True)
class CurvedProduct:
    """Forward mode and second order of a product of segments, as of a spec."""

    op: Segments

    def jvp(self, ts: Any, x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """The sum of the gradients of each product, times the tangents."""
        return replace(self.op, how=SUM).reference(self._slopes(x, ids) * ts[0], ids)

    def hvp(self, g: np.ndarray, ts: Any, x: np.ndarray, ids: np.ndarray) -> tuple[Any, None]:
        """The derivative of the gradient along the tangents."""
        rows, flat, count = self.op.rows_of(x, ids)
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


@dataclass(frozen=True, kw_only=True)
class SparseSegments:
    """The promise of an op that gathers rows and then reduces them."""

    own: Segments

    def reference(self, x: np.ndarray, i: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """As of a spec."""
        return self.own.reference(x[i], ids)

    def vjp(self, g: np.ndarray, x: np.ndarray, i: np.ndarray, ids: np.ndarray) -> tuple[Any, None, None]:
        """As of a spec: the upstream goes to each row that was gathered, once for each time; integers have none."""
        if x.dtype.kind not in "fc":
            return None, None, None
        return self._pulled(g, x, i, ids), None, None

    def _pulled(
        self, g: np.ndarray, x: np.ndarray, i: np.ndarray, ids: np.ndarray, flush: np.dtype | None = None
    ) -> np.ndarray:
        """The gradient by the rows; with `flush`, subnormal terms of this dtype count as zeros."""
        out, rows = np.zeros(x.shape, g.dtype), pulled(self.own.how, g, *self.own.rows_of(x[i], ids))
        np.add.at(out, i, rows if flush is None else flushed_in(flush, rows))
        return out

    def flushed_gradients(self, dtype: np.dtype, g: Any, x: np.ndarray, i: Any, ids: Any) -> Others:
        """Other right gradients: subnormal upstreams, terms or results count as zeros."""
        results = [self._pulled(h, x, i, ids, flush) for (h,) in places(dtype, g) for flush in (None, dtype)]
        return distinct(results[0], _either(dtype, results), dtype)

    def bound(self, u: float, g: Any, x: np.ndarray, i: np.ndarray, ids: np.ndarray) -> Any:
        """The largest error of an output."""
        return self.own.bound(u, g, x[i], ids)

    def gradient_bound(self, u: float, g: np.ndarray, x: np.ndarray, i: np.ndarray, ids: np.ndarray) -> Any:
        """The largest error of a gradient: a sum of as many terms as the row was gathered, each with a factor."""
        terms = np.bincount(i, minlength=len(x))
        steps = np.maximum(terms - 1 + self.own.factors * (self.own.how.power > 0), 0).reshape(-1, *(1,) * (x.ndim - 1))
        return steps * u / (1 - steps * u) * self._pulled(np.abs(g), x, i, ids)

    def flushed_outputs(self, dtype: np.dtype, g: Any, x: np.ndarray, i: Any, ids: Any) -> Others:
        """Other right outputs: subnormal rows or results count as zeros."""
        return self.own.flushed_outputs(dtype, g, x[i], ids)


def _either(dtype: np.dtype, results: Iterable[np.ndarray]) -> Others:
    """Each result and its flushed numbers, as whole alternatives."""
    return wholes(*(y for r in results for y in (r, flushed_in(dtype, r))))
