"""Shapes: all unary elementwise ops at once, each with an input of its own, in shapes other than a vector.

Only what an op declares decides whether it is in: XLA compiles a program as a whole, so that ops without an XLA kernel
are in a program of their own. An op whose zeros may have either sign is in neither.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.inputs.recipes import SIZE
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.harness.spec.tolerances.by_mode import mapped
from tf_opdiff.harness.spec.tolerances.loose import Loose
from tf_opdiff.suites.derived.op_types import every_op
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.recipes.regions import domain
from tf_opdiff.suites.forms.unary import Unary, declarations

_SHAPES = {"scalar": (), "matrix": (3, 5), "empty": (0, 3), "deep": (2, 1, 3, 1, 2)}


def _declared() -> list[tuple[Spec, Unary]]:
    """The unary ops of all families, by name."""
    packages = ("tf_opdiff.suites.ops.math", "tf_opdiff.suites.ops.nn")
    specs = (spec for package in packages for spec in Catalog.load(package).specs.values())
    return sorted(declarations(specs), key=lambda pair: pair[0].name)


def _shaped(ops: Sequence[tuple[Spec, Unary]], shape: tuple[int, ...]) -> Recipe:
    """A recipe: for each op, the last numbers of its `domain`, in this shape; no other number is judged."""
    recipes = [op.sound(_last(domain(*op.domain), shape)) for _, op in ops]
    return lambda draw, dtype: tuple(recipe(draw, dtype)[0] for recipe in recipes)


def _last(recipe: Recipe, shape: tuple[int, ...]) -> Recipe:
    """The last numbers of a recipe of one vector, in this shape."""
    first = SIZE - int(np.prod(shape, dtype=int))
    return lambda draw, dtype: (recipe(draw, dtype)[0][first:].reshape(shape),)


def _of_one(i: int, bound: Callable[..., Any]) -> Callable[..., Any]:
    """The bound of the op with number i."""
    return lambda u, gs, *xs: bound(u, gs[i], xs[i])


def _of_input(i: int, loose: Loose) -> Loose:
    """The loose elements of the op with number i."""
    return replace(loose, where=lambda *xs: loose(xs[i]))


def _together(ops: Sequence[tuple[Spec, Unary]]) -> dict[str, Any]:
    """The fields of a spec that runs every op once, each on an input of its own."""
    specs = [spec for spec, _ in ops]
    programs = [spec.program for spec in specs]
    quantities = [(i, spec, family) for i, spec in enumerate(specs) for family in ("output", "grad")]
    bounds = {f"{family}[{i}]": (i, spec.tolerance.bound.get(f"{family}[0]")) for i, spec, family in quantities}
    return {
        "raw": ";".join(str(spec.ops) for spec in specs),
        "program": lambda tf, *xs: tuple(program(tf, x) for program, x in zip(programs, xs, strict=True)),
        "reference": lambda *xs: tuple(spec.reference(x) for spec, x in zip(specs, xs, strict=True)),
        "vjp": lambda gs, *xs: tuple(op.vjp(g, x) for (_, op), g, x in zip(ops, gs, xs, strict=True)),
        "recipes": {label: _shaped(ops, shape) for label, shape in _SHAPES.items()},
        "ulp": {f"{family}[{i}]": spec.tolerance.ulp[family] for i, spec, family in quantities},
        "loose": {
            f"{q.partition('[')[0]}[{i}]": _of_input(i, loose)
            for i, s in enumerate(specs)
            for q, loose in s.tolerance.loose.items()
        },
        "bound": {quantity: mapped(partial(_of_one, i), bound) for quantity, (i, bound) in bounds.items() if bound},
    }


_OPS = [(spec, op) for spec, op in _declared() if not op.unsigned_zeros]
_COMPILED = {types.name for types in every_op() if types.compiled}

SPECS = (
    *op(
        "unary-shapes", **_together([pair for pair in _OPS if pair[0].ops in _COMPILED]), ordinary=ordinary.ELEMENTWISE
    ),
    *op(
        "unary-shapes-no-xla",
        **_together([pair for pair in _OPS if pair[0].ops not in _COMPILED]),
        ordinary=ordinary.ELEMENTWISE,
    ),
)
