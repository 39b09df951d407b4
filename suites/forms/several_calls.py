"""Several calls: one program that calls an op several times, each call with its own inputs.

A program costs most to build, so one program serves many shapes and attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from tf_opdiff.harness.spec.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.batch import batches
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.elements import Elements
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.reference.promise import Promise
from tf_opdiff.suites.reference.several import ROUNDED, Several

Shape = tuple[int, ...]
Function = Callable[..., Any]


@dataclass(frozen=True)
class Call:
    """A call of an op.

    call        call(tf, *xs) → a tensor.
    promise     its promise.
    shapes      the shapes of the inputs that a recipe draws.
    computed    functions of these inputs that give further inputs, such as the output of a forward op.
    """

    call: Function
    promise: Promise
    shapes: tuple[Shape, ...]
    computed: tuple[Function, ...] = ()

    @property
    def count(self) -> int:
        """The number of its inputs."""
        return len(self.shapes) + len(self.computed)


#: Label → a call.
Calls = Mapping[str, Call]


class Wrong(NamedTuple):
    """A call(tf, *xs) that an op refuses, the shapes of its inputs, and the promise as fields of a spec."""

    call: Function
    shapes: tuple[Shape, ...]
    promise: Mapping[str, Any] = WHEN_BUILT


def fields(calls: Calls, *, rounded: Collection[str] = ROUNDED, **settings: Any) -> dict[str, Any]:
    """The fields of a spec whose program makes these calls, in this order.

    Args:
      calls: the calls.
      rounded: the families of quantities that have bounds, and in which zeros of either sign are right.
      settings: those of `Several.fields`; gradients are promised by default.
    """
    each = tuple(calls.values())
    counts = tuple(call.count for call in each)
    several = Several(tuple(call.promise for call in each), counts)
    return {
        "program": _program(tuple(call.call for call in each), counts),
        "names": tuple(calls),
        "unsigned_zeros": tuple(rounded),
        **several.fields(**{"gradient": True, "rounded": rounded, **settings}),
    }


def _program(calls: tuple[Function, ...], counts: tuple[int, ...]) -> Function:
    """A program that makes all calls, each with its own inputs."""

    def program(tf: Any, *xs: Any) -> Any:
        outputs, first = [], 0
        for call, count in zip(calls, counts, strict=True):
            outputs.append(call(tf, *xs[first : first + count]))
            first += count
        return tuple(outputs)

    return program


def drawn(calls: Calls, *elements: Elements) -> Recipe:
    """A recipe: the inputs of all calls; input i of each is drawn by elements i, or by the last ones."""

    def recipe(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs: list[np.ndarray] = []
        for call in calls.values():
            last = len(elements) - 1
            own = [elements[min(i, last)](draw, np.dtype(dtype), *shape) for i, shape in enumerate(call.shapes)]
            xs += [*own, *(function(*own) for function in call.computed)]
        return tuple(xs)

    return recipe


def batch_twins(
    name: str, calls: Calls, recipe: Recipe, shared: Sequence[int] = (), *, gradient: bool, **more: Any
) -> Iterator[Spec]:
    """The twins of calls whose inputs are batches: see `suites.derived.batch`; none without calls.

    Args:
      name: the name with which theirs begin.
      calls: calls whose inputs and results have a batch as their first axis.
      recipe: the recipe of their inputs; each draw gives further rows.
      shared: the numbers of the inputs of each call that all rows share.
      gradient: whether gradients are promised.
      more: further fields of the specs.
    """
    if not calls:
        return
    firsts = np.cumsum([0, *(call.count for call in calls.values())])[:-1].tolist()
    spec = Spec(name=name, recipes={"plain": recipe}, **{**fields(calls, gradient=gradient), **more})
    yield from batches(spec, recipe, [first + i for first in firsts for i in shared])


def small_twins(
    name: str,
    small: Mapping[str, Calls],
    recipe_of: Callable[[Calls], Recipe],
    shared: Mapping[str, Any],
    **settings: Any,
) -> Iterator[Spec]:
    """The twins of inputs without elements, and with one, for known and unknown shapes; none without calls.

    Args:
      name: the name with which theirs begin.
      small: label → calls of one kind; all labels have the same calls.
      recipe_of: gives the recipe of some calls.
      shared: further fields of the specs.
      settings: those of `fields`.
    """
    if not small:
        return
    first = next(iter(small.values()))
    recipes = {label: recipe_of(calls) for label, calls in small.items()}
    constant = tuple(f"output[{n}]" for n in range(len(first)))
    yield from sizes(
        Spec(name=name, recipes=recipes, constant=constant, **fields(first, **settings), **shared), recipes
    )


def refusals(name: str, wrong: Mapping[str, Wrong], shared: Mapping[str, Any]) -> Iterator[Spec]:
    """The specs of calls that the op refuses: the promised error in every mode."""
    for label, (call, shapes, promise) in wrong.items():
        recipes = {"plain": partial(_of_shapes, shapes)}
        yield Spec(name=f"{name}-{label}", program=call, recipes=recipes, **{**shared, **promise})


def _of_shapes(shapes: Sequence[Shape], draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    return tuple(
        draw.values(dtype, *shape).reshape(shape) if prod(shape) else np.zeros(shape, dtype) for shape in shapes
    )
