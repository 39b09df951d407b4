"""Scatter: ops that combine updates into the slices of a tensor or of a variable that indices name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.contract import Raises, Side
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.hessian import chosen_second_order, linear
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.array_ops import scatter_recipes as recipes
from tf_opdiff.suites.forms.array_ops.scatter_shapes import shapes
from tf_opdiff.suites.forms.elementwise.flushed import distinct, places
from tf_opdiff.suites.forms.errors import WHEN_BUILT, raises
from tf_opdiff.suites.forms.options import POLICY, changed, options_of, with_values
from tf_opdiff.suites.forms.part import Op, Part, part
from tf_opdiff.suites.reference.arrays.scatter import DIV, Combination, pulled, scattered, terms
from tf_opdiff.suites.reference.promises.subnormal import Others, flushed_in, wholes

#: On a GPU, scatters leave out an index out of range.
IGNORED = "on GPU, if an out of bound index is found, the index is ignored"
_IGNORED_LINK = "https://www.tensorflow.org/api_docs/python/tf/scatter_nd"
_DROPPED = "on an accelerator XLA drops the updates of a scatter out of range"
_DROPPED_LINK = "https://openxla.org/xla/operation_semantics#scatter"


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """The promise of a scatter with the inputs x, indices and updates.

    how         the combination of an element with an update.
    tuples      whether the indices are tuples.
    zeros       whether the op starts at zeros, and takes only the shape of x.
    variable    whether x is the first value of a variable, and the result its final value.
    """

    how: Combination
    tuples: bool = False
    zeros: bool = False
    variable: bool = False

    def start(self, x: np.ndarray) -> np.ndarray:
        """The values before the updates."""
        return np.zeros_like(x) if self.zeros else x

    def of(self, x: np.ndarray, i: np.ndarray, u: np.ndarray, *, back: bool = False) -> np.ndarray:
        """The result; indices out of range are left out."""
        return scattered(self.how, self.start(x), self.places(i), self.updates(x, i, u), back=back)

    def updates(self, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The updates; a scalar is that of each element of the rows."""
        return u if self.tuples or u.ndim else np.broadcast_to(u, (*i.shape, *x.shape[1:]))

    def places(self, i: np.ndarray) -> np.ndarray:
        """The indices as tuples."""
        return i if self.tuples else i[..., None]

    def reference(self, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> Any:
        """As of a spec."""
        out = self.of(x, i, u)
        return (out, {"v": out}) if self.variable else out

    def vjp(self, g: np.ndarray, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> tuple[Any, ...]:
        """As of a spec; integers have no gradient."""
        if x.dtype.kind not in "fc":
            return (None,) * 3
        own, theirs = pulled(self.how, g, x, i, u)
        return None if self.zeros else own, None, theirs

    @property
    def budget(self) -> dict[str, Any]:
        """The budget and the bound, as fields of a spec."""
        return {"bound": {"output": self.bound}, "ulp": {"output": 0.5}} if self.how.rounded else {}

    def alternatives(self, dtype: np.dtype, g: Any, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> Others:
        """Other right results: either of two updates of one place, and subnormal operands or results as zeros."""
        exact, back = self.of(x, i, u), self.of(x, i, u, back=True)
        if not self.how.computes:
            return distinct(exact, [back], dtype)
        results = [self.of(a, i, b) for a, b in places(dtype, x, u)]
        equal: list[np.ndarray] = []
        if not self.how.rounded:  # of two numbers that count as equal, either one
            two = partial(_second_of_equals, dtype, self.how)
            equal = [replace(self, how=replace(self.how, two=two)).of(x, i, u)]
        whole = (y for r in results for y in (r, flushed_in(dtype, r)))
        return distinct(exact, (*equal, back, *wholes(*whole)), dtype)

    def bound(self, unit: float, g: Any, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> Any:
        """The largest error of a place with two roundings or more; see `Combination.bound`. One rounding is exact."""
        count = terms(x, self.places(i))
        sizes = np.abs(self.updates(x, i, u))
        size = self.how.size(np.abs(self.start(x)), self.places(i), sizes, self.of(x, i, u))
        return np.where(count > 1, count * unit / (1 - count * unit) * size, 0)


def _second_of_equals(dtype: np.dtype, how: Combination, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The operand that a maximum leaves out, where both are equal for a processor that flushes subnormals."""
    best = how.two(x, u)
    equal = flushed_in(dtype, x) == flushed_in(dtype, u)
    return np.where(equal, np.where(best == x, u, x), best)


def scatter(how: Combination, *, tuples: bool = False, zeros: bool = False, refuses: bool = True) -> Part:
    """A part: the results of a scatter op with the inputs x, indices and updates, and its errors.

    Args:
      how, tuples, zeros: see `Scatter`.
      refuses: whether the op refuses an index out of range, and updates whose shape does not fit.
    """

    def specs(op: Op) -> Iterator[Spec]:
        promise = Scatter(how=how, tuples=tuples, zeros=zeros, variable=op.variables is not None)
        yield from _results(op, promise)
        yield from _shaped(op, promise)
        if refuses:
            yield from _out_of_range(op, promise)
            yield from _with_policies(op, promise)
            yield from part("-mismatched", lowest_tier=True, recipes=recipes.mismatched(tuples), **WHEN_BUILT)(op)

    return specs


def _results(op: Op, promise: Scatter) -> Iterator[Spec]:
    """The specs of the results; with second order, if the op has a gradient."""
    how, tuples = promise.how, promise.tuples
    special = recipes.special(how, tuples)
    chosen = op.gradient and how.chooses  # of NaN, a maximum has no gradient
    main, *others = part(
        recipes=recipes.main(how, tuples) | (recipes.ties(how, tuples) if chosen else special),
        reference=promise.reference,
        vjp=promise.vjp if op.gradient else None,
        alternatives={"output": promise.alternatives},
        twins=[op.variables.twins] if op.variables else (),
        **promise.budget,
    )(op)
    yield from (main, *others, *sizes(main, recipes.sizes(tuples)))
    if chosen:
        yield main.but(name=f"{main.name}-special", vjp=None, recipes=special)
        yield from chosen_second_order(main, "int32")
    elif op.gradient:
        yield from linear("int32", moving=(2,) if promise.zeros else (0, 2))(main)


def _shaped(op: Op, promise: Scatter) -> Iterator[Spec]:
    """The spec of further shapes, whose results are exact; three that are equal share a gradient."""
    budget = promise.budget | ({"ulp": {"grad": 0.5}} if promise.how.chooses and op.gradient else {})
    yield from part(
        "-shapes",
        recipes=shapes(promise.how, tuples=promise.tuples, variable=promise.variable),
        reference=promise.reference,
        vjp=promise.vjp if op.gradient else None,
        alternatives={"output": promise.alternatives},
        lowest_tier=True,
        **budget,
    )(op)


def divided_by_zero(suffix: str = "", **fields: Any) -> Part:
    """A part: a variable divided by zeros among other numbers; the suffix and the fields are those of its spec."""
    promise = Scatter(how=DIV, variable=True)
    shared: dict[str, Any] = {
        "reference": promise.reference,
        "alternatives": {"output": promise.alternatives},
        "recipes": recipes.zeros(DIV, tuples=False),
        "lowest_tier": True,
    }
    return part(f"-by-zero{suffix}", **shared | fields)


def _out_of_range(op: Op, promise: Scatter) -> Iterator[Spec]:
    """The spec of an index out of range: an error on a CPU; accelerators leave the update out."""
    vjp = promise.vjp if op.gradient else None
    gpu = Side(reference=promise.reference, vjp=vjp, why=IGNORED, link=_IGNORED_LINK)
    read = _clamped(vjp) if vjp and not promise.how.chooses else vjp
    xla = Side(reference=_refused_without_rows(promise), vjp=read, why=_DROPPED, link=_DROPPED_LINK)
    yield from part(
        "-out-of-range",
        lowest_tier=True,
        reference=raises("INVALID_ARGUMENT"),
        recipes=recipes.out_of_range(promise.tuples),
        contract={"gpu/xla": xla, "tpu/xla": xla, "gpu/*": gpu},
        **promise.budget,
    )(op)


def _with_policies(op: Op, promise: Scatter) -> Iterator[Spec]:
    """The specs of an index out of range, which a policy refuses or leaves out, if the op has the option."""
    ignored = {"reference": promise.reference, "vjp": promise.vjp if op.gradient else None, **promise.budget}
    for policy, promised in (("ERROR", {"reference": raises("INVALID_ARGUMENT")}), ("IGNORE", ignored)):
        if POLICY in options_of(op.raw):
            yield from part(
                f"-out-of-range-{policy.lower()}",
                lowest_tier=True,
                program=changed(op.called, op.raw, with_values({POLICY: policy})),
                recipes=recipes.out_of_range(promise.tuples),
                **promised,
            )(op)


def _clamped(vjp: Callable[..., Any]) -> Callable[..., Any]:
    """The VJP of a sum or of an update where the gather of the upstream clamps an index out of range, as XLA's does."""

    def clamped(g: np.ndarray, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> tuple[Any, ...]:
        inside = np.clip(i, 0, np.array(x.shape[: i.shape[-1]]) - 1)
        return (*vjp(g, x, i, u)[:2], vjp(g, x, inside, u)[2])

    return clamped


def _refused_without_rows(promise: Scatter) -> Callable[..., Any]:
    """The reference of XLA, which refuses a scatter into a dimension without elements."""
    return lambda x, i, u: promise.reference(x, i, u) if len(x) else Raises("INVALID_ARGUMENT")
