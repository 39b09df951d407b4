"""Overflow: the calls of an op with finite operands whose sums, or whose squares, leave the dtype.

One operand is large at a time. Its elements, those of the others and upstreams are positive, so that no order of a sum
decides whether it leaves the dtype. The reference is wide, so that it says which results are infinite: only those that
the dtype can't hold. Kernels that lose a result of ordinary size on the way are known failures.

Sums leave 16 bits first: float16 stands for the other dtypes in the default tier, where the op has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache, partial, reduce
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.judge.promises.want import result_dtype
from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.modes import MODE_FAMILIES
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.spec.spec import Case, Recipe, Spec
from tf_opdiff.harness.spec.tolerances.budget import entry_of
from tf_opdiff.harness.spec.tolerances.by_mode import all_modes, mapped
from tf_opdiff.suites.derived.twin import twin
from tf_opdiff.suites.forms.recipes.operands import Operands, changed
from tf_opdiff.suites.reference.promises.exact_results import ExactResults, exact_results

#: The aspect of these twins.
OVERFLOW = "overflow"
#: Name → the exponent of the largest element, as a function of that of the dtype's largest number.
SIZES: Mapping[str, Callable[[int], int]] = {
    "sum": lambda top: top,
    "square": lambda top: top // 2 + 1,
}
#: The dtypes of these twins, and the modes of each. Bfloat16 has the range of float32; float64 has no wider reference.
_DTYPES = {"float16": ("eager",), "float32": ("eager", "xla")}


def overflow(values: Sequence[Spec], operands: Operands, ordinary: Mapping[str, str]) -> Iterator[Spec]:
    """The twins `NAME-overflow`, eagerly, and `NAME-overflow-other`, in a second dtype, also under XLA.

    An op without errors has none: it adds and multiplies nothing.

    Args:
      values: the values of an op, in all of its dtypes.
      operands: those of these values.
      ordinary: pattern of sizes and operands that are left out, such as `sum_0`, or `sum_0-float32` in one dtype, or
        `grad` → the reason.
    """
    label, name = operands.label, f"{values[0].name}-{OVERFLOW}"
    owners = {dtype: spec for spec in reversed(values) if label in spec.recipes for dtype in spec.dtypes}
    dtypes = [dtype for dtype in _DTYPES if dtype in owners and _rounds(owners[dtype])]
    for number, dtype in enumerate(dtypes):
        main = owners[dtype]
        modes = tuple(mode for mode in _DTYPES[dtype][: number + 1] if mode in main.modes)
        recipes = _recipes(main.recipes[label], operands.floating)
        left_out = [name for name in recipes for p in ordinary if fnmatch(name, p) or fnmatch(f"{name}-{dtype}", p)]
        recipes = {name: recipe for name, recipe in recipes.items() if name not in left_out}
        if recipes and modes:
            spec = twin(main, OVERFLOW, recipes=recipes, dtypes=(dtype,), modes=modes, upstreams={})
            spec = spec.but(name=f"{name}-other", tier="full") if number else spec.but(name=name)
            yield _promised(spec, operands.inputs, gradient="grad" not in ordinary)


def _promised(spec: Spec, count: int, *, gradient: bool) -> Spec:
    """The spec with positive upstreams and the tolerance of numbers that are far apart; `count` is that of inputs."""
    vjp = spec.derivatives.vjp if gradient else None
    own = spec.but(vjp=vjp, upstreams=dict.fromkeys(spec.recipes, _positive) if vjp else {})
    own = own.but(unsigned_zeros=(*own.tolerance.unsigned_zeros, "output", "grad"))
    sources = cache(partial(_sources, own))
    exact = [_Exact(*each, sources) for each in exact_results(own, count, lambda xs: (xs,))]
    bounds = {
        each.quantity: mapped(partial(partial, _underflowing, own, each), bound)
        for each in exact
        if (bound := entry_of(own.tolerance.bound, each.quantity)) is not None
    }
    own = own.but(bound=bounds)
    return own.but(alternatives={each.quantity: partial(_at_end, own, each) for each in exact})


def _sources(spec: Spec) -> list[np.dtype]:
    """The dtypes of the inputs of a spec."""
    return [x.dtype for x in Case(spec, spec.dtypes[0], next(iter(spec.recipes)), spec.labels[0]).inputs()]


@dataclass(frozen=True, eq=False)
class _Exact:
    """The exact array of a quantity: number `i` of these results; `sources()` has the dtypes of the inputs."""

    quantity: str
    results: ExactResults
    i: int
    sources: Callable[[], Sequence[np.dtype]]

    def array(
        self, dtype: np.dtype, g: Any, xs: Sequence[np.ndarray], attrs: Mapping[str, Any]
    ) -> tuple[np.ndarray, np.dtype]:
        """The array, and the dtype in which TensorFlow gives it."""
        (results,) = self.results.arrays(g, xs, attrs)
        exact, sources = results[self.i], self.sources() if family_of(self.quantity) == "grad" else ()
        return exact, sources[self.i] if self.i < len(sources) else result_dtype(exact, dtype)


def _underflowing(spec: Spec, of: _Exact, bound: Callable[..., Any], u: float, g: Any, *xs: Any, **attrs: Any) -> Any:
    """A bound, and the rounding of a number that is so small next to the large ones that it is subnormal."""
    _, part = of.array(np.dtype(spec.dtypes[0]), g, xs, attrs)
    least = float(ml_dtypes.finfo(part).smallest_subnormal) if is_float(part) else 0.0
    return np.asarray(bound(u, g, *xs, **attrs)) + least


def _rounds(spec: Spec) -> bool:
    """Whether results of a spec may be rounded."""
    return bool(spec.tolerance.bound or spec.tolerance.ulp)


def _positive(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    return draw.uniform(*shape, low=0.5, high=4.0).astype(dtype)


def _recipes(recipe: Recipe, operands: Sequence[int]) -> dict[str, Recipe]:
    """Size and operand → a recipe with elements of this size in this operand."""
    return {
        f"{name}_{operand}": changed(recipe, partial(_scaled, operand, size))
        for operand in operands
        for name, size in SIZES.items()
    }


def _scaled(operand: int, size: Callable[[int], int], i: int, x: np.ndarray, draw: Draw) -> np.ndarray:
    """Operand i of a call; if it is this operand, by a power of two so large that its largest element has a size."""
    if not x.size or not is_float(x.dtype):
        return x
    x = np.abs(x)
    largest = float(np.max(x))
    if i != operand or not 0 < largest < np.inf:
        return x
    exponent = size(int(ml_dtypes.finfo(x.dtype).maxexp)) - int(np.frexp(largest)[1])
    return np.ldexp(x.astype(np.float64), exponent).astype(x.dtype)


def _at_end(spec: Spec, of: _Exact, dtype: np.dtype, g: Any, *xs: np.ndarray, **attrs: Any) -> list[np.ndarray]:
    """The alternatives of a spec and, where the error that it allows reaches over an end of the dtype, both sides."""
    own = entry_of(spec.tolerance.alternatives, of.quantity)
    others = list(own(dtype, g, *xs, **attrs)) if own else []
    exact, part = of.array(dtype, g, xs, attrs)
    if not is_float(part):
        return others
    u, top = float(ml_dtypes.finfo(dtype).eps) / 2, float(ml_dtypes.finfo(part).max)
    bounds = [bound(u, g, *xs, **attrs) for bound in all_modes(spec.tolerance.bound_of(of.quantity)) if bound]
    ulps = max(spec.tolerance.ulps(of.quantity, dtype.name, mode) for mode in MODE_FAMILIES)
    error = reduce(np.maximum, bounds, 2 * u * (ulps + 1) * np.abs(exact))
    near = np.abs(np.abs(exact) - top) <= error
    ends = [np.where(near, np.copysign(end, exact), exact) for end in (np.inf, top)]
    return [*others, *(ends if near.any() else ())]
