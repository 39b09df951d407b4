"""Segments: ops that reduce the rows that share an id. Ids are sorted, or in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.contract import Side, Sparse
from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.hessian import by_dtype, chosen_second_order, linear
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.array_ops.scatter_kinds import SQRT_5
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.part import Op, Part, calling, part
from tf_opdiff.suites.forms.reductions import segment_recipes as recipes
from tf_opdiff.suites.forms.reductions.segment_blocks import blocks
from tf_opdiff.suites.forms.reductions.segment_promises import CurvedProduct, Segments
from tf_opdiff.suites.reference.reductions.segments import SUM, Reduction, ends

_SUBTRACTED = Loose(
    reason="the gradient of P / x divides a sum over all rows by x, and then subtracts the term of the row itself",
)
#: The error of a complex quotient, as in specs of `RealDiv`, in units of round-off of its size.
_QUOTIENT = 4
_GUIDE = "https://www.tensorflow.org/api_docs/python/tf/math/segment_sum"
_UNSORTED = "On GPU, out-of-order indices result in safe but unspecified behavior, which may include treating "
_SMALLER = _UNSORTED + "them as the same as a smaller following index"
_DROPPED = "On GPU, out-of-bound indices result in safe but unspecified behavior, which may include ignoring them"


def segments(how: Reduction, count: int | None = None) -> Part:
    """A part: the results of an op that reduces segments, its derivatives, and its errors.

    Args:
      how: the reduction.
      count: the number of segments, if it is an argument of the op, which then takes ids in any order.
    """
    promise, ordered = Segments(how=how, count=count), count is None
    more = {} if ordered else {"num_segments": count}

    def specs(op: Op) -> Iterator[Spec]:
        op = replace(op, program=calling(op.raw, ("data", "segment_ids"), **more))
        main, *others = each = list(_values(op, promise))
        yield from (main, *others, *sizes(main, recipes.sizes(ordered)), *_refused(op, promise))
        yield from _of_complex(op, promise) if how.product or how.power else ()
        large = blocks(how, ordered=ordered)
        yield replace(main, name=f"{main.name}-blocks", recipes=large, dtypes=main.dtypes[:1])
        if how.chooses:
            nan = recipes.nan(how, ordered)
            yield from (_with_nan(spec, nan) for spec in each)
            yield from chosen_second_order(main, "int32")
        else:
            yield from _curved(main, promise, op.dtypes) if how.product else _linear(main, promise)

    return specs


def _with_nan(spec: Spec, recipes: Mapping[str, Any]) -> Spec:
    """The twin of rows with NaN, for floats; integers have none, and are left out beside floats."""
    floats = tuple(dtype for dtype in spec.dtypes if dtype in FLOATS)
    return spec.but(name=f"{spec.name}-special", vjp=None, recipes=recipes, dtypes=floats or spec.dtypes)


def _values(op: Op, promise: Segments) -> Iterator[Spec]:
    """The specs of the results; for each dtype one, if a segment without rows has a limit of the dtype."""
    limits = {promise.how.empty(dtype) for dtype in op.dtypes}
    if len(limits) == 1:
        yield from part(**_promised(promise))(op)
        return
    assert isinstance(op.dtypes, Mapping)
    for dtype, tier in sorted(op.dtypes.items(), key=lambda pair: pair[0] != "float32"):
        suffix = "" if dtype == "float32" else f"-{dtype}"
        yield from part(suffix, dtypes={dtype: tier}, **_promised(replace(promise, dtype=dtype)))(op)


def _promised(promise: Segments) -> dict[str, Any]:
    """The promise and the recipes, as fields of a spec."""
    how = promise.how
    bounds: dict[str, Any] = {} if how.chooses else {"output": promise.bound}
    bounds |= {"grad[0]": promise.gradient_bound} if how.product or how.chooses or how.power else {}
    return {
        "reference": promise.reference,
        "vjp": promise.vjp,
        "recipes": recipes.main(how, promise.count is None),
        "bound": bounds,
        "ulp": {quantity.partition("[")[0]: 0.5 for quantity in bounds},
        "alternatives": {"output": promise.flushed_outputs, "grad[0]": promise.flushed_gradients},
    }


def _curved(main: Spec, promise: Segments, dtypes: Iterable[str]) -> tuple[Spec, ...]:
    """The twins with the second order of a product."""
    curved = CurvedProduct(promise)
    twin = main.but(
        recipes=recipes.products(promise.count is None),
        jvp=curved.jvp,
        hvp=curved.hvp,
        bound={**main.tolerance.bound, "jvp": curved.jvp_bound, "hvp": curved.hvp_bound},
        loose={**main.tolerance.loose, "jvp": _SUBTRACTED, "hvp": _SUBTRACTED},
        alternatives={},
        unsigned_zeros=(*main.tolerance.unsigned_zeros, "jvp", "hvp"),
    )
    return by_dtype(twin, f"{main.name}-second-order", [dtype for dtype in dtypes if dtype in FLOATS])


def _linear(main: Spec, promise: Segments) -> tuple[Spec, ...]:
    """The twins with second order. Of a sum, forward mode is sparse, like the gradient of its gradient, a gather."""

    def rows(t: Any, x: np.ndarray, ids: np.ndarray) -> tuple[Sparse]:
        kept = (ids >= 0).reshape(-1, *(1,) * (x.ndim - 1))
        return (Sparse(np.where(kept, t[0], 0), np.maximum(ids, 0), promise.reference(x, ids).shape),)

    twins = linear("exact")(main)
    return twins if promise.how.power else tuple(twin.but(jvp=rows) for twin in twins)


def _of_complex(op: Op, promise: Segments) -> Iterable[Spec]:
    """The spec of complex numbers without infinities, whose product or quotient costs more than one rounding."""
    how, ordered = promise.how, promise.count is None
    units = SQRT_5 if how.product else _QUOTIENT

    def widely(f: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *xs: f(*(x.astype(np.clongdouble) if x.dtype.kind == "c" else x for x in xs))

    def vjp(g: np.ndarray, x: np.ndarray, ids: np.ndarray) -> Any:
        return promise.vjp(g, np.conj(x), ids)

    def gradient_bound(u: float, g: np.ndarray, x: np.ndarray, ids: np.ndarray) -> Any:
        return promise.gradient_bound(units * u, g, np.conj(x), ids)

    return part(
        "-complex",
        dtypes=COMPLEX,
        tier="full",
        reference=widely(promise.reference),
        vjp=widely(vjp),
        mistaken={"grad": widely(promise.vjp)} if how.product else {},
        recipes={label: recipe for label, recipe in recipes.main(how, ordered).items() if label != "special"},
        bound={"output": lambda u, *rest: promise.bound(units * u, *rest), "grad[0]": gradient_bound},
    )(op)


def _refused(op: Op, promise: Segments) -> list[Spec]:
    """Specs of ids that a CPU refuses, and of ids whose shape does not fit the rows."""
    ordered, exact = promise.count is None, promise.how.chooses
    smaller = Side(
        reference=lambda x, ids: promise.reference(x, _as_following(ids)),
        alternatives={"output": partial(_unspecified, promise)},
        why=_SMALLER,
        link=_GUIDE,
    )
    parts = (
        part(
            "-refused",
            lowest_tier=True,
            recipes=recipes.refused(ordered),
            contract={"gpu/*": smaller if ordered else Side(reference=promise.reference, why=_DROPPED, link=_GUIDE)},
            bound={} if exact else {"output": lambda u, g, x, ids: promise.bound(u, g, x, _as_following(ids))},
            ulp={"output": 0.5},
            unsigned_zeros=(),
            **IN_KERNEL,
        ),
        part(
            "-mismatched",
            lowest_tier=True,
            recipes=recipes.mismatched(ordered),
            **(IN_KERNEL if ordered else WHEN_BUILT),
        ),
    )
    return [spec for each in parts for spec in each(op)]


def _as_following(ids: np.ndarray) -> np.ndarray:
    """The ids, each at most as large as all that follow."""
    return np.minimum.accumulate(ids[::-1])[::-1]


def _unspecified(promise: Segments, dtype: np.dtype, g: Any, x: np.ndarray, ids: np.ndarray) -> list[np.ndarray]:
    """Other results of ids out of order: a segment that is not divided, or that is as before its first row."""
    result = promise.reference(x, _as_following(ids))
    limits = ends(dtype.name) if promise.how.chooses else ()
    return [
        replace(promise, how=SUM).reference(x, _as_following(ids)),
        *(np.full_like(result, n) for n in (0, *limits)),
    ]
