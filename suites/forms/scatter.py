"""Scatter: ops that combine updates into the slices of a tensor or of a variable that indices name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.contract import Raises, Side
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms import scatter_recipes as recipes
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.flushed import distinct, places
from tf_opdiff.suites.forms.references import first_input, in_functions, variables
from tf_opdiff.suites.reference.scatter import Combination, scattered, terms
from tf_opdiff.suites.reference.subnormal import flushed_in

INTEGERS = ("int16", "int32", "int64", "int8", "uint16", "uint32", "uint64", "uint8")
FLOATS = ("bfloat16", "float16", "float32", "float64")
#: On a GPU, scatters leave out an index out of range.
IGNORED = "on GPU, if an out of bound index is found, the index is ignored"
_IGNORED_LINK = "https://www.tensorflow.org/api_docs/python/tf/scatter_nd"
_DROPPED = "on an accelerator XLA drops the updates of a scatter out of range"
_DROPPED_LINK = "https://openxla.org/xla/operation_semantics#scatter"


@dataclass(frozen=True, kw_only=True)
class Target:
    """The tensor or the variable that a scatter changes.

    call    call(tf, raw op, target, indices, updates) → the result; the target is a tensor, or the state's variable.
    state   as of a spec; None for a tensor.
    modes   the modes that have such a target.
    """

    call: Callable[..., Any]
    state: Callable[..., dict[str, Any]] | None = None
    modes: tuple[str, ...] = MODES

    def program(self, raw: str) -> Callable[..., Any]:
        """program(tf, x, indices, updates) or, with a variable, program(tf, state, x, indices, updates)."""
        call = self.call
        if self.state is None:
            return lambda tf, x, i, u: call(tf, getattr(tf.raw_ops, raw), x, i, u)
        return lambda tf, state, x, i, u: call(tf, getattr(tf.raw_ops, raw), state["v"], i, u)


def _through_handle(name: str) -> Callable[..., Any]:
    """A call of an op whose input of this name is the handle of a resource variable."""

    def call(tf: Any, raw: Any, v: Any, i: Any, u: Any) -> Any:
        update = raw(**{name: v.handle, "indices": i, "updates": u})
        with tf.control_dependencies([] if update is None else [update]):
            return v.read_value()

    return call


def _resource_variable(tf: Any, x: Any, *others: Any) -> dict[str, Any]:
    return {"v": tf.Variable(x)}


REFERENCE = Target(
    call=lambda tf, raw, v, i, u: tf.raw_ops.DeepCopy(x=raw(ref=v, indices=i, updates=u)),
    state=variables(first_input),
    modes=("graph",),
)
RESOURCE = Target(call=_through_handle("resource"), state=_resource_variable)
RESOURCE_ND = Target(call=_through_handle("ref"), state=_resource_variable)
TENSOR = Target(call=lambda tf, raw, x, i, u: raw(tensor=x, indices=i, updates=u))
INPUT = Target(call=lambda tf, raw, x, i, u: raw(input=x, indices=i, updates=u))
ZEROS = Target(call=lambda tf, raw, x, i, u: raw(indices=i, updates=u, shape=tf.shape(x, out_type=i.dtype)))


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """A scatter op: its OpDef, its combination, its target, and whether its indices are tuples.

    start   start(x) → the values before the updates; the op ScatterNd starts at zeros.
    """

    raw: str
    how: Combination
    target: Target
    tuples: bool = False
    start: Callable[[np.ndarray], np.ndarray] = lambda x: x

    def of(self, x: np.ndarray, i: np.ndarray, u: np.ndarray, *, back: bool = False) -> np.ndarray:
        """The result; indices out of range are left out."""
        return scattered(self.how, self.start(x), self.places(i), u, back=back)

    def places(self, i: np.ndarray) -> np.ndarray:
        """The indices as tuples."""
        return i if self.tuples else i[..., None]

    def reference(self, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> Any:
        """As of a spec: the result, which is also the final value of a variable."""
        out = self.of(x, i, u)
        return (out, {"v": out}) if self.target.state else out

    def alternatives(self, dtype: np.dtype, g: Any, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
        """Other right results: either of two updates of one place, and subnormal operands or results as zeros."""
        exact, back = self.of(x, i, u), self.of(x, i, u, back=True)
        if not self.how.computes:
            return distinct(exact, [back], dtype)
        results = [self.of(a, i, b) for a, b in places(dtype, x, u)]
        if not self.how.rounded:  # of two numbers that count as equal, either one
            results.append(
                replace(self, how=replace(self.how, two=partial(_second_of_equals, dtype, self.how))).of(x, i, u)
            )
        return distinct(exact, (y for r in results for y in (r, flushed_in(dtype, r))), dtype)

    def bound(self, unit: float, g: Any, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> Any:
        """The largest error of a place with two roundings or more; see `Combination.bound`. One rounding is exact."""
        count = terms(x, self.places(i))
        size = self.how.size(np.abs(self.start(x)), self.places(i), np.abs(u), self.of(x, i, u))
        return np.where(count > 1, count * unit / (1 - count * unit) * size, 0)


def _second_of_equals(dtype: np.dtype, how: Combination, x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The operand that a maximum leaves out, where both are equal for a processor that flushes subnormals."""
    best = how.two(x, u)
    equal = flushed_in(dtype, x) == flushed_in(dtype, u)
    return np.where(equal, np.where(best == x, u, x), best)


def scatter(
    name: str, op: Scatter, dtypes: Sequence[str], *, vjp: Callable[..., Any] | None = None, **fields: Any
) -> tuple[Spec, ...]:
    """The specs of a scatter op: those of its results, and those of its errors. The arguments are as of `results`."""
    shared = _shared(op)
    return (
        *results(name, op, dtypes, vjp=vjp, **fields),
        _out_of_range(name, op, shared, vjp, **{k: v for k, v in fields.items() if k == "unsigned_zeros"}),
        _mismatched(name, op, shared),
    )


def _shared(op: Scatter) -> dict[str, Any]:
    """The fields that all specs of an op share."""
    return {
        "ops": op.raw,
        "program": op.target.program(op.raw),
        "state": op.target.state,
        "modes": op.target.modes,
    }


def results(
    name: str, op: Scatter, dtypes: Sequence[str], *, vjp: Callable[..., Any] | None = None, **fields: Any
) -> tuple[Spec, ...]:
    """The specs of the results of a scatter op.

    Args:
      name: the name with which theirs begin.
      op: the op.
      dtypes: its dtypes; float32 is among them, and stands for the others in the default tier.
      vjp: as of a spec.
      fields: further fields of the main specs.
    """
    shared = _shared(op)
    computed: dict[str, Any] = {"reference": op.reference, "vjp": vjp, "alternatives": {"output": op.alternatives}}
    if op.how.rounded:
        computed |= {"bound": {"output": op.bound}, "ulp": {"output": 0.5}}
    special, ties = recipes.special(op.how, op.tuples), recipes.ties(op.how, op.tuples)
    chosen = vjp is not None and not op.how.rounded and op.how.computes  # of NaN, a maximum has no gradient
    main = Spec(
        name=name, recipes=recipes.main(op.how, op.tuples) | (ties if chosen else special), **shared | computed | fields
    )
    apart = [replace(main, name=f"{name}-special", vjp=None, recipes=special)] if chosen else []
    others = tuple(dtype for dtype in dtypes if dtype != "float32")
    of_dtypes = (main, replace(main, name=f"{name}-other", dtypes=others, tier="full"))
    return (
        *of_dtypes,
        *(twin for spec in of_dtypes if op.target is REFERENCE for twin in in_functions(spec)),
        *apart,
        *sizes(main, recipes.sizes(op.tuples)),
    )


def divided_by_zero(
    name: str, op: Scatter, dtypes: Sequence[str], reference: Callable[..., Any], **fields: Any
) -> Spec:
    """The spec of a division with zeros among its divisors."""
    return Spec(
        name=name,
        ops=op.raw,
        program=op.target.program(op.raw),
        state=op.target.state,
        modes=op.target.modes,
        reference=reference,
        recipes=recipes.zeros(op.how, op.tuples),
        alternatives={"output": op.alternatives},
        dtypes=tuple(dtypes),
    )


def _out_of_range(name: str, op: Scatter, shared: Mapping[str, Any], vjp: Any, **fields: Any) -> Spec:
    """The spec of an index out of range: an error on a CPU; accelerators leave the update out."""
    gpu = Side(reference=op.reference, vjp=vjp, why=IGNORED, link=_IGNORED_LINK)
    read = _clamped(vjp) if vjp and (op.how.rounded or not op.how.computes) else vjp
    xla = Side(reference=_refused_without_rows(op), vjp=read, why=_DROPPED, link=_DROPPED_LINK)
    rounded: dict[str, Any] = {"bound": {"output": op.bound}, "ulp": {"output": 0.5}} if op.how.rounded else {}
    return Spec(
        name=f"{name}-out-of-range",
        reference=raises("INVALID_ARGUMENT"),
        recipes=recipes.out_of_range(op.tuples),
        contract={"gpu/xla": xla, "tpu/xla": xla, "gpu/*": gpu},
        **{**shared, **rounded, **fields},
    )


def _clamped(vjp: Callable[..., Any]) -> Callable[..., Any]:
    """The VJP of a sum or of an update where the gather of the upstream clamps an index out of range, as XLA's does."""

    def clamped(g: np.ndarray, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> tuple[Any, ...]:
        inside = np.clip(i, 0, np.array(x.shape[: i.shape[-1]]) - 1)
        return (*vjp(g, x, i, u)[:2], vjp(g, x, inside, u)[2])

    return clamped


def _refused_without_rows(op: Scatter) -> Callable[..., Any]:
    """The reference of XLA, which refuses a scatter into a dimension without elements."""
    return lambda x, i, u: op.reference(x, i, u) if len(x) else Raises("INVALID_ARGUMENT")


def _mismatched(name: str, op: Scatter, shared: Mapping[str, Any]) -> Spec:
    """The spec of updates whose shape does not fit the indices and the slices."""
    return Spec(
        name=f"{name}-mismatched",
        reference=raises("ValueError"),
        recipes=recipes.mismatched(op.tuples),
        contract=REFUSED_BY_KERNEL,
        **shared,
    )
