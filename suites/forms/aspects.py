"""Aspects: parts that ask more of an op: in batches, in small sizes, of arguments that are inputs, and of wrong ones.

See `suites.forms.op`. Each takes the calls that it makes; what it does not say is as in all specs of the op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, plain
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Recipe, Side, Spec
from tf_opdiff.suites.derived import batch
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.blocks import past_blocks
from tf_opdiff.suites.forms.calls import Call, Calls, Drawn, Shape, Wrong, inputs, unfit
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.part import Op, Part, part
from tf_opdiff.suites.forms.recipes.elements import Elements
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.reference.promises.promise import Promise

_MATH_OPS = "https://github.com/tensorflow/tensorflow/blob/v2.21.0/tensorflow/core/ops/math_ops.cc"


def batches(calls: Calls | None, recipe: Any, shared: Sequence[int] = (), **fields: Any) -> Part:
    """A part: a row of a batch gives the same result in every batch; see `suites.derived.batch`. None without calls.

    Args:
      calls: calls whose inputs and results have a batch as their first axis; None for an op that is called once.
      recipe: the recipe or the elements of their inputs; each draw gives further rows.
      shared: the numbers of the inputs of each call that all rows share, such as filters.
      fields: the fields of the specs.
    """
    firsts = [0] if calls is None else np.cumsum([0, *(call.count for call in calls.values())])[:-1].tolist()

    def specs(op: Op) -> Iterable[Spec]:
        present = calls is None or calls
        for spec in part(calls=calls, recipes={"plain": recipe}, lowest_tier=True, **fields)(op) if present else ():
            yield from batch.batches(spec, spec.recipes["plain"], [first + i for first in firsts for i in shared])

    return specs


def small(
    recipes: Mapping[str, Recipe], calls: Calls | None = None, few: Sequence[str] = (), suffix: str = "", **fields: Any
) -> Part:
    """A part: inputs without elements, and with one, for known and unknown shapes; see `suites.derived.sizes`.

    Args:
      recipes: label → a recipe of such inputs: see `drawn` and `in_shapes`; none for no specs.
      calls: the calls, if the recipes are not `Drawn` and the op has others.
      few: the recipes of known shapes in other modes than XLA; all by default.
      suffix: the end of the name of the spec whose twins they are.
      fields: the fields of the specs.
    """
    first = next(iter(recipes.values()), None)
    own = first.calls if isinstance(first, Drawn) else calls

    def specs(op: Op) -> Iterable[Spec]:
        called = op.calls if own is None else own
        constant = {"constant": tuple(f"output[{n}]" for n in range(len(called)))} if called else {}
        each = {label: inputs(called, recipe) if called else recipe for label, recipe in recipes.items()}
        for spec in (
            part(suffix, calls=own, recipes=recipes, lowest_tier=True, **constant | fields)(op) if first else ()
        ):
            yield from sizes(spec, each, few=few)

    return specs


def drawn(calls: Mapping[str, Calls | Call], *elements: Elements) -> dict[str, Drawn]:
    """Recipes: label → the inputs of a call, or of some; the calls of all labels are the same but for their shapes."""
    each = {label: {"only": own} if isinstance(own, Call) else own for label, own in calls.items()}
    return {label: Drawn(of_label, elements) for label, of_label in each.items()}


def in_shapes(shapes: Mapping[str, Shape], elements: Elements) -> dict[str, Recipe]:
    """Recipes: label → one input of a shape."""

    def recipe(shape: Shape) -> Recipe:
        return lambda draw, dtype: (elements(draw, np.dtype(dtype), *shape),)

    return {label: recipe(shape) for label, shape in shapes.items()}


def second_order(
    recipes: Mapping[str, Any], calls: Calls | None = None, suffix: str = "-second-order", **fields: Any
) -> Part:
    """A part: forward mode, and the gradient of the gradient, on recipes where few terms cancel."""
    return part(suffix, calls=calls, recipes=recipes, second_order=True, **fields)


def refused(wrong: Mapping[str, Wrong | Sequence[Shape]], **fields: Any) -> Part:
    """A part: calls that the op refuses, or their shapes, each with a spec of its own, which its label names."""

    def specs(op: Op) -> Iterable[Spec]:
        for label, one in wrong.items():
            call, shapes, promise, attrs = one if isinstance(one, Wrong) else unfit(*one)
            program = partial(call or op.called, **attrs) if attrs else call or op.called
            own = {"program": program, "recipes": {"plain": plain_values(shapes)}, **promise, **fields}
            yield from part(f"-{label}", lowest_tier=True, **own)(op)

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
    argument: Mapping[str, Mapping[str, Any]],
    *,
    literal: Callable[[np.ndarray], Any],
    attrs: Mapping[str, Any],
    gradient: bool = False,
    **fields: Any,
) -> Part:
    """A part: an attribute that is an input, which a graph does not know when it is built. XLA has to know it.

    Args:
      suffix: the end of the spec's name.
      recipe: the recipe of the tensor.
      argument: the name of the attribute → its values: label → an array.
      literal: literal(array) → the attribute as the promise takes it.
      attrs: the other attributes.
      gradient: whether the gradient is promised.
      fields: further fields of the spec.
    """
    ((name, values),) = argument.items()

    def specs(op: Op) -> Iterable[Spec]:
        program, promise = op.called, op.promise
        assert isinstance(promise, Promise)

        def of(axis: Any) -> dict[str, Any]:
            return {name: literal(axis), **attrs}

        promised: dict[str, Any] = {
            "program": lambda tf, x, value: program(tf, x, **{name: value}, **attrs),
            "reference": lambda x, value: promise.f(x, **of(value)),
            "bound": {"output[0]": lambda u, g, x, value: promise.error(u, x, **of(value))},
        }
        if gradient:
            promised["vjp"] = lambda g, x, value: (*promise.vjp(g, x, **of(value)), None)
            promised["bound"]["grad[0]"] = lambda u, g, x, value: promise.grad_error(0, u, g, x, **of(value))
        recipes = {label: _followed_by(recipe, value) for label, value in values.items()}
        yield from part(suffix, **{"recipes": recipes, "modes": WITHOUT_XLA, **promised, **fields}, lowest_tier=True)(
            op
        )

    return specs


def _followed_by(recipe: Recipe, value: Any) -> Recipe:
    return lambda draw, dtype: (*recipe(draw, dtype), value)


def incompatible(**fields: Any) -> Part:
    """A part: two arguments whose shapes cannot be broadcast together."""
    settings: dict[str, Any] = {
        "reference": raises("ValueError"),
        "recipes": {"shapes": shaped((2, 3), (4,))},
        "contract": REFUSED_BY_KERNEL,
    }
    return part("-incompatible", **settings | fields)


def not_allowed(suffix: str, *, why: str, eager: str = "", **fields: Any) -> Part:
    """A part: dtypes that the OpDef does not allow, to which a graph and the eager runtime answer with two errors.

    Args:
      suffix: the end of the spec's name.
      why: why the errors differ.
      eager: a text that the eager runtime's message contains.
      fields: other fields of the spec, such as `dtypes`.
    """
    side = Side(reference=raises("INVALID_ARGUMENT", eager), why=why, link=_MATH_OPS)
    return part(
        suffix,
        positions=True,
        reference=raises("TypeError", "not in list of allowed values"),
        recipes={"plain": plain},
        contract={"*/eager": side},
        **fields,
    )


def values(op: Op) -> Iterable[Spec]:
    """Results, with gradients if TensorFlow has them; of reference variables, also in functions."""
    if op.recipes:
        special = {label: upstream for label, upstream in op.upstreams.items() if op.gradient and label in op.recipes}
        twins = [op.variables.twins] if op.variables else ()
        yield from part(recipes=op.recipes, upstreams=special, twins=twins)(op)


def forward(op: Op) -> Iterable[Spec]:
    """Results on recipes at which gradients have no promise."""
    return part("-forward", recipes=op.forward, gradient=False)(op) if op.forward else ()


def curved(op: Op) -> Iterable[Spec]:
    """Forward mode and second order, in the full tier."""
    if unknown := [label for label in op.second if label not in op.recipes]:
        raise ValueError(f"second: expected labels of recipes ({', '.join(op.recipes)}), got {unknown[0]!r}")
    recipes = {label: op.recipes[label] for label in op.second}
    return second_order(recipes, **{"tier": "full", **op.fields})(op) if recipes else ()


def whole(op: Op) -> Iterable[Spec]:
    """Results of integers."""
    integers = part("-integer", recipes=op.of_integers, dtypes=op.integers, gradient=False, rounded=())
    return integers(op) if op.integers and op.of_integers else ()


def in_batches(op: Op) -> Iterable[Spec]:
    """Rows in batches of several sizes, with the elements of the first recipe, in the full tier."""
    return batches(op.batch, next(iter(op.recipes.values()), ()), op.shared, tier="full")(op)


def of_small(op: Op) -> Iterable[Spec]:
    """Inputs without elements, and with one."""
    elements = (op.of_small,) if callable(op.of_small) else op.of_small
    return small(drawn(op.small, *elements))(op)


def wrong(op: Op) -> Iterable[Spec]:
    """Calls that the op refuses."""
    return refused(op.wrong)(op)


#: The aspects of every op: each gives no specs if the declaration has nothing for it.
ASPECTS = (values, forward, curved, whole, of_small, in_batches, past_blocks, wrong)
