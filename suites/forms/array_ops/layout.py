"""Layout: the aspects of an op whose results are elements in other places; its promise is a `Placed`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.attrs import Keywords
from tf_opdiff.harness.spec.inputs.recipes import Draw, edges, is_float, subnormals
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.hessian import linear
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.array_ops.quantized import IN_XLA
from tf_opdiff.suites.forms.calls import Shape, shapes_of
from tf_opdiff.suites.forms.elementwise.copies import COMMON
from tf_opdiff.suites.forms.of_xla import OF_XLA
from tf_opdiff.suites.forms.part import Op, part
from tf_opdiff.suites.forms.recipes.pairs import shaped

#: The shape of the only input, or the shapes of all.
Shapes = Shape | tuple[Shape, ...]
#: The usual dtypes of these ops.
LAID = replace(COMMON, without_xla=(), of_xla=OF_XLA, quantized_of_xla=IN_XLA)


@dataclass(frozen=True, kw_only=True)
class Layout(Op):
    """The declaration of an op that puts elements in other places: the fields of `Op`, and these.

    dtypes  its dtypes in addition to float32.
    shapes  name → shape of the input, or shapes of the inputs; `plain` and `special` have those of the first.
    attrs   as of a spec. The first ones have every shape, the others the first shape: each pair is a program to build.
    small   name → the shapes of inputs without elements, and with one, for known and unknown sizes.
    """

    promise: Any = None
    dtypes: Any = LAID
    shapes: Mapping[str, Shapes]
    attrs: Mapping[str, Keywords] = field(default_factory=dict)
    small: Any = field(default_factory=dict)


def _special(shapes: Shapes) -> Recipe:
    """A recipe: the limits of a dtype in each shape; for floats also zeros, NaN, infinities and subnormals."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        limits = edges(draw, dtype)[0]
        if is_float(dtype):
            limits = np.concatenate([limits[:29], subnormals(draw, dtype)[0][:12]])
        return tuple(np.resize(np.roll(limits, -i), shape) for i, shape in enumerate(shapes_of(shapes)))

    return recipe


def placed(op: Layout) -> Iterable[Spec]:
    """Results and gradients in all shapes, with all attributes, in all dtypes; small inputs, and second order."""
    first, *others = op.shapes
    plain = {name: shaped(*shapes_of(shapes)) for name, shapes in op.shapes.items()}
    contents = {"plain": plain[first], "special": _special(op.shapes[first])}
    attrs = [*op.attrs.items()]
    (main,) = part(
        reference=op.promise.f,
        vjp=op.promise.vjp if op.gradient else None,
        mistaken=op.promise.mistakes,
        recipes=contents | {name: plain[name] for name in others},
        attrs=dict(attrs[:1]),
        dtypes=("float32",),
    )(op)
    yield main
    if attrs[1:]:
        yield replace(main, name=f"{op.name}-attrs", recipes=contents, attrs=dict(attrs[1:]))
    # XLA leaves half of a result of 4 bits unwritten; in a small one, the memory may hold the same bits twice.
    largest = max(op.shapes, key=lambda name: int(np.prod(shapes_of(op.shapes[name])[0], dtype=int)))
    few, large = {"plain": contents["plain"]}, {"large": plain[largest]}
    yield from op.dtypes.twins(replace(main, recipes=contents), few, of_xla=large)
    if op.small:
        yield from sizes(main, {name: shaped(*shapes_of(shapes)) for name, shapes in op.small.items()})
    if op.gradient:
        yield from linear("plain", moving=range(len(shapes_of(op.shapes[first]))))(main)


#: The aspects of every such op.
LAYING = (placed,)
