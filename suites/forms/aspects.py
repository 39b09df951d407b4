"""Aspects: parts that ask more of an op: in batches, in small sizes, of arguments that are inputs, and of wrong ones.

See `suites.forms.op`. Each takes the calls that it makes; what it does not say is as in all specs of the op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived import batch
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.calls import Calls, Shape, inputs
from tf_opdiff.suites.forms.elements import Elements
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.op import Op, Part, part

_WITHOUT_XLA = tuple(mode for mode in MODES if mode != "xla")


def batches(calls: Calls, recipe: Any, shared: Sequence[int] = (), **fields: Any) -> Part:
    """A part: a row of a batch gives the same result in every batch; see `suites.derived.batch`. None without calls.

    Args:
      calls: calls whose inputs and results have a batch as their first axis.
      recipe: the recipe or the elements of their inputs; each draw gives further rows.
      shared: the numbers of the inputs of each call that all rows share, such as filters.
      fields: the fields of the specs.
    """
    firsts = np.cumsum([0, *(call.count for call in calls.values())])[:-1].tolist()

    def specs(op: Op) -> Iterable[Spec]:
        for spec in part(calls=calls, recipes={"plain": recipe}, **fields)(op) if calls else ():
            yield from batch.batches(spec, spec.recipes["plain"], [first + i for first in firsts for i in shared])

    return specs


def small(
    calls: Mapping[str, Any],
    elements: Elements | Sequence[Elements],
    shapes: Mapping[str, Shape] | None = None,
    **fields: Any,
) -> Part:
    """A part: inputs without elements, and with one, for known and unknown shapes; see `suites.derived.sizes`.

    Args:
      calls: label → calls, which are those of other labels with inputs of other shapes. With `shapes`, calls of one
        input, which is the same for all.
      elements: the elements of their inputs.
      shapes: label → the shape of that input.
      fields: the fields of the specs.
    """
    first = calls if shapes else next(iter(calls.values()), {})

    def specs(op: Op) -> Iterable[Spec]:
        recipes = {
            label: inputs(first, _in_shape(elements, own)) if shapes else inputs(own, elements)
            for label, own in (shapes or calls).items()
        }
        constant = tuple(f"output[{n}]" for n in range(len(first)))
        for spec in (
            part(calls=first, recipes={"plain": elements}, **{"constant": constant, **fields})(op) if first else ()
        ):
            yield from sizes(spec, recipes)

    return specs


def sized(recipes: Mapping[str, Recipe], few: Sequence[str] = (), **fields: Any) -> Part:
    """A part: the same of an op that is called once, by recipes of inputs without elements, or with one."""

    def specs(op: Op) -> Iterable[Spec]:
        for spec in part(recipes=recipes, **fields)(op):
            yield from sizes(spec, recipes, few=few)

    return specs


def _in_shape(elements: Any, shape: Shape) -> Recipe:
    """A recipe: one input of this shape."""
    return lambda draw, dtype: (elements(draw, np.dtype(dtype), *shape),)


def second_order(recipes: Mapping[str, Any], calls: Calls | None = None, **fields: Any) -> Part:
    """A part: forward mode, and the gradient of the gradient, on recipes where few terms cancel."""
    return part("-second-order", calls=calls, recipes=recipes, second=True, **fields)


class Wrong(NamedTuple):
    """A call(tf, *xs) that an op refuses, the shapes of its inputs, and the promise as fields of a spec."""

    call: Callable[..., Any]
    shapes: tuple[Shape, ...]
    promise: Mapping[str, Any] = WHEN_BUILT


def refused(wrong: Mapping[str, Wrong], **fields: Any) -> Part:
    """A part: calls that the op refuses, each with a spec of its own, which its label names."""

    def specs(op: Op) -> Iterable[Spec]:
        for label, (call, shapes, promise) in wrong.items():
            own = {"program": call, "recipes": {"plain": plain_values(shapes)}, **promise, **fields}
            yield from part(f"-{label}", **own)(op)

    return specs


def plain_values(shapes: Sequence[Shape]) -> Recipe:
    """A recipe: plain values in these shapes."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        return tuple(
            draw.values(dtype, *shape).reshape(shape) if prod(shape) else np.zeros(shape, dtype) for shape in shapes
        )

    return recipe


def fed(
    suffix: str,
    recipe: Recipe,
    name: str,
    values: Mapping[str, Any],
    *,
    plain: Callable[[np.ndarray], Any],
    attrs: Mapping[str, Any],
    gradient: bool = False,
    **fields: Any,
) -> Part:
    """A part: an attribute that is an input, which a graph does not know when it is built. XLA has to know it.

    Args:
      suffix: the end of the spec's name.
      recipe: the recipe of the tensor.
      name: the name of the attribute.
      values: label → an array, the attribute.
      plain: plain(array) → the attribute as the promise takes it.
      attrs: the other attributes.
      gradient: whether the gradient is promised.
      fields: further fields of the spec.
    """

    def specs(op: Op) -> Iterable[Spec]:
        program, promise = op.program, op.promise
        assert promise

        def of(axis: Any) -> dict[str, Any]:
            return {name: plain(axis), **attrs}

        promised: dict[str, Any] = {
            "program": lambda tf, x, value: program(tf, x, **{name: value}, **attrs),
            "reference": lambda x, value: promise.f(x, **of(value)),
            "bound": {"output[0]": lambda u, g, x, value: promise.error(u, x, **of(value))},
        }
        if gradient:
            promised["vjp"] = lambda g, x, value: (*promise.vjp(g, x, **of(value)), None)
            promised["bound"]["grad[0]"] = lambda u, g, x, value: promise.grad_error(0, u, g, x, **of(value))
        recipes = {label: _followed_by(recipe, value) for label, value in values.items()}
        yield from part(suffix, **{"recipes": recipes, "modes": _WITHOUT_XLA, **promised, **fields})(op)

    return specs


def _followed_by(recipe: Recipe, value: Any) -> Recipe:
    return lambda draw, dtype: (*recipe(draw, dtype), value)
