"""Sizes: elementwise ops with inputs of zero elements and of one, in each dimension, many ops in one program.

A function and a graph are built for unknown sizes, once for each rank, so that one program serves many shapes. XLA
compiles each shape anew: `suites.ops.shapes` has such shapes for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.budget import entry_of
from tf_opdiff.harness.spec.by_mode import mapped
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Raises, Recipe, Spec

_PACKAGES = "tf_opdiff.suites.ops.array tf_opdiff.suites.ops.math tf_opdiff.suites.ops.nn"
#: name → shape, by rank.
SHAPES = {
    "none": (0,),
    "one": (1,),
    "no_rows": (0, 3),
    "no_columns": (3, 0),
    "one_by_one": (1, 1),
    "empty_inside": (1, 0, 2),
    "ones": (1, 1, 1),
}
#: Other dtypes of an op run the same code for shapes.
DTYPES = ("float32", "bool")
#: The most inputs of an op.
_INPUTS = 4
#: Ops in a program.
_MOST = 40


def _elementwise(catalog: Catalog) -> list[Spec]:
    """The specs of one op that have a twin about positions: their inputs are vectors of one length."""
    twins = {spec.name.removesuffix("-position") for spec in catalog.specs.values() if spec.elementwise}
    specs = (spec for spec in catalog.specs.values() if spec.name in twins and isinstance(spec.ops, str))
    return [spec for spec in specs if ";" not in spec.ops]


def _one(dtype: str) -> np.ndarray:
    """An argument of a reference: one element, a boolean or a float64."""
    return np.ones(1, np.bool_ if dtype == "bool" else np.float64)


def _count(spec: Spec, dtype: str) -> int:
    """The number of inputs of a spec: the first number that its reference takes; 0 if the spec lacks the dtype."""
    for count in range(1, _INPUTS + 1) if dtype in spec.dtypes and spec.tier != "full" else ():
        try:
            with np.errstate(all="ignore"):
                spec.reference(*[_one(dtype)] * count)
        except TypeError:
            continue
        return count
    return 0


def _promises(spec: Spec, dtype: str, count: int) -> tuple[bool, bool]:
    """Whether a spec promises one output, and whether it promises gradients: not an error in their place."""
    ones = [_one(dtype) for _ in range(count)]
    with np.errstate(all="ignore"):
        output = spec.reference(*ones)
        one = not isinstance(output, (Raises, tuple))
        gradients = spec.vjp(np.ones_like(output), *ones) if spec.vjp and one else Raises("")
    entries = gradients if isinstance(gradients, tuple) else (gradients,)
    return one, not any(isinstance(entry, Raises) for entry in entries)


def _shaped(count: int, shape: tuple[int, ...]) -> Recipe:
    """A recipe: inputs of this shape, numbers between 1/4 and 3/4, or booleans."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        if dtype.kind == "b":
            return tuple(draw.booleans(*shape) for _ in range(count))
        return tuple(draw.uniform(*shape, low=0.25, high=0.75).astype(dtype) for _ in range(count))

    return recipe


def together(name: str, specs: Sequence[Spec], counts: Sequence[int], gradients: bool, **fields: Any) -> Spec:
    """A spec that runs every spec once, on inputs of its own.

    Args:
      name: the name of the spec.
      specs: specs of one output.
      counts: the number of inputs of each.
      gradients: whether the spec promises gradients; each of the specs has a vjp then.
      fields: the other fields.
    """
    ends = np.cumsum(counts).tolist()
    spans = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
    programs = [spec.program for spec in specs]

    def vjp(gs: Any, *xs: Any) -> tuple[Any, ...]:
        each = [spec.vjp(g, *xs[span]) for spec, g, span in zip(specs, gs, spans, strict=True) if spec.vjp]
        return tuple(v for vs in each for v in (vs if isinstance(vs, tuple) else (vs,)))

    ulp, bound = _budgets(specs, spans)
    return Spec(
        name=name,
        ops=";".join(dict.fromkeys(str(spec.ops) for spec in specs)),
        program=lambda tf, *xs: tuple(p(tf, *xs[span]) for p, span in zip(programs, spans, strict=True)),
        reference=lambda *xs: tuple(spec.reference(*xs[span]) for spec, span in zip(specs, spans, strict=True)),
        vjp=vjp if gradients else None,
        ulp=ulp,
        bound=bound,
        unsigned_zeros=tuple(q for q in _of_all(spans) if _unsigned(specs, spans, q)),
        **fields,
    )


def _of_all(spans: Sequence[slice]) -> dict[str, tuple[int, str]]:
    """The quantities of a program of several specs → the number of the spec, and its own quantity."""
    outputs = {f"output[{i}]": (i, "output[0]") for i in range(len(spans))}
    numbered = ((i, span.start, j) for i, span in enumerate(spans) for j in range(span.stop - span.start))
    return outputs | {f"grad[{start + j}]": (i, f"grad[{j}]") for i, start, j in numbered}


def _budgets(specs: Sequence[Spec], spans: Sequence[slice]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The budgets and bounds of the outputs and gradients of several specs, by the quantity in the program of all."""
    ulp, bound = {}, {}
    for quantity, (i, own) in _of_all(spans).items():
        if budget := entry_of(specs[i].ulp, own):
            ulp[quantity] = budget
        if largest := entry_of(specs[i].bound, own):
            bound[quantity] = mapped(partial(_of_one, i, spans[i]), largest)
    return ulp, bound


def _unsigned(specs: Sequence[Spec], spans: Sequence[slice], quantity: str) -> bool:
    """Whether zeros of either sign are right in a quantity of a program of several specs."""
    i, own = _of_all(spans)[quantity]
    return specs[i].has_unsigned_zeros(own)


def _of_one(i: int, span: slice, bound: Callable[..., Any]) -> Callable[..., Any]:
    """The bound of the spec with number i, whose inputs are at `span`; 0 where there is no element."""

    def of_one(u: float, gs: Any, *xs: Any) -> Any:
        own = xs[span]
        return bound(u, None if gs is None else gs[i], *own) if own[0].size else np.zeros(own[0].shape)

    return of_one


def _groups(specs: Iterable[Spec], dtype: str) -> Iterator[tuple[str, list[tuple[Spec, int]], bool]]:
    """Groups (label, pairs of a spec and its number of inputs, whether with gradients) of ops; one spec for each op."""
    pairs: dict[bool, list[tuple[Spec, int]]] = {True: [], False: []}
    ops: set[str] = set()
    for spec in specs:
        if spec.ops in ops or not (count := _count(spec, dtype)):
            continue
        output, gradients = _promises(spec, dtype, count)
        if output:
            ops.add(str(spec.ops))
            pairs[gradients].append((spec, count))
    for gradients, members in pairs.items():
        for number, start in enumerate(range(0, len(members), _MOST), 1):
            label = "-".join((dtype, "gradients" if gradients else "values", str(number)))
            yield label, members[start : start + _MOST], gradients


def _all_sizes(catalog: Catalog) -> Iterator[Spec]:
    """The specs of all ops of a catalog."""
    elementwise = _elementwise(catalog)
    for dtype in DTYPES:
        for label, pairs, gradients in _groups(elementwise, dtype):
            specs, counts = [spec for spec, _ in pairs], [count for _, count in pairs]
            yield together(
                f"sizes-{label}",
                specs,
                counts,
                gradients,
                dtypes=(dtype,),
                modes=("eager", "function", "graph"),
                recipes={name: _shaped(sum(counts), shape) for name, shape in SHAPES.items()},
                unknown_shapes=True,
            )


SPECS = tuple(_all_sizes(Catalog.load(_PACKAGES)))
