"""Calls: one program that calls an op several times, each call with its own inputs and attributes.

A program costs most to build, so one program serves many shapes and attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw
from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.recipes.elements import Elements
from tf_opdiff.suites.reference.promises.promise import Promise
from tf_opdiff.suites.reference.promises.several import Several

Shape = tuple[int, ...]
Function = Callable[..., Any]


@dataclass(frozen=True)
class Call:
    """A call of an op.

    program     program(tf, *xs, **attrs) → a tensor, or a list of tensors; None for the program of the op.
    promise     its promise, whose functions take the attributes too, or a function of the attributes that makes it;
                None for the promise of the op.
    shapes      the shapes of the inputs that a recipe draws; None if the recipe knows the shapes.
    attrs       the attributes, as keyword arguments.
    computed    functions of the drawn inputs that give further inputs, such as the output of a forward op.
    """

    program: Any = None
    promise: Any = None
    shapes: tuple[Shape, ...] | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    computed: tuple[Function, ...] = ()

    @property
    def count(self) -> int:
        """The number of its inputs; one if the recipe knows their shapes."""
        return (1 if self.shapes is None else len(self.shapes)) + len(self.computed)

    def completed(self, program: Function | None, promise: Promise | Function | None) -> Call:
        """The call with this program and this promise, if it has none; a promise that is made has all attributes."""
        own = replace(self, program=self.program or program, promise=self.promise or promise)
        if not callable(own.promise):
            return own
        return replace(own, program=partial(own.program, **own.attrs), promise=own.promise(**own.attrs), attrs={})


#: Label → a call.
Calls = Mapping[str, Call]


def call(*shapes: Shape, **attrs: Any) -> Call:
    """A call of the program of an op with inputs of these shapes; without shapes, with one input of any shape."""
    return Call(shapes=shapes or None, attrs=attrs)


def each(shapes: Mapping[str, Shape], **attrs: Any) -> Calls:
    """A call of the program of an op for each of these shapes of its one input."""
    return {label: call(shape, **attrs) for label, shape in shapes.items()}


def calls_of(table: Mapping[str, Sequence[Any]], *names: str, **attrs: Any) -> dict[str, Call]:
    """Label → a call, from a table: the shape of its input, or those of its inputs, and the values of these attributes.

    `attrs` are the attributes that all calls share.
    """
    return {
        label: call(*shapes_of(shapes), **dict(zip(names, values, strict=True)), **attrs)
        for label, (shapes, *values) in table.items()
    }


def shapes_of(shapes: Any) -> tuple[Shape, ...]:
    """The shapes of all inputs, given as they are, or as the shape of the only one."""
    return shapes if shapes and all(isinstance(shape, tuple) for shape in shapes) else (shapes,)


def fields(
    calls: Calls,
    program: Function | None = None,
    promise: Promise | Function | None = None,
    *,
    gradient: bool = True,
    second: bool = False,
    rounded: Collection[str] | None = None,
) -> dict[str, Any]:
    """The fields of a spec whose program makes these calls, in this order.

    A program of one call whose label is empty returns the result of the call; others, a tuple of all results.

    Args:
      calls: the calls.
      program, promise: those of the calls that have none; see `Call`.
      gradient: whether gradients are promised.
      second: whether forward mode and second order are promised.
      rounded: the families of quantities that have bounds and alternatives, and zeros of either sign; by default, as
        the first promise says.
    """
    every = [one.completed(program, promise) for one in calls.values()]
    promises = tuple(one.promise for one in every if one.promise)
    if not promises:
        raise ValueError("calls: expected a promise of the op, or one of each call")
    unsigned = promises[0].unsigned_zeros if rounded is None else rounded
    several = Several(promises, tuple(one.count for one in every), tuple(one.attrs for one in every))
    return {
        "program": partial(every[0].program, **every[0].attrs) if list(calls) == [""] else _program(every),
        "names": tuple(filter(None, calls)),
        "unsigned_zeros": tuple(unsigned),
        **several.fields(gradient=gradient, second=second, rounded=rounded),
    }


def _program(calls: Sequence[Call]) -> Function:
    """A program that makes all calls, each with its own inputs."""
    each = [(one.program, one.count, dict(one.attrs)) for one in calls if one.program]

    def program(tf: Any, *xs: Any) -> Any:
        outputs: list[Any] = []
        first = 0
        for call, count, attrs in each:
            result = call(tf, *xs[first : first + count], **attrs)
            outputs += result if isinstance(result, list | tuple) else [result]
            first += count
        return tuple(outputs)

    return program


def inputs(calls: Calls, recipe: Any) -> Recipe:
    """The recipe of the inputs of all calls.

    Args:
      calls: the calls.
      recipe: for calls whose shapes are known, the elements of all inputs, or a sequence: `Drawn` says which. For other
        calls, the recipe of one call; each call has the same inputs. `Drawn` and `OfAll` are returned as they are.
    """
    if isinstance(recipe, Drawn | OfAll):
        return recipe
    if all(one.shapes is None for one in calls.values()):
        return lambda draw, dtype: recipe(draw, dtype) * len(calls)
    return Drawn(calls, tuple(recipe) if isinstance(recipe, Sequence) else (recipe,))


@dataclass(frozen=True)
class OfAll:
    """A recipe that gives the inputs of all calls."""

    recipe: Recipe

    def __call__(self, draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        return self.recipe(draw, dtype)


@dataclass(frozen=True)
class Drawn:
    """A recipe: the inputs of all calls; input i of each is drawn by elements i, or by the last ones."""

    calls: Calls
    elements: tuple[Elements, ...]

    def __call__(self, draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
        xs: list[np.ndarray] = []
        for one in self.calls.values():
            shapes, last = one.shapes or (), len(self.elements) - 1
            own = [self.elements[min(i, last)](draw, np.dtype(dtype), *shape) for i, shape in enumerate(shapes)]
            xs += [*own, *(function(*own) for function in one.computed)]
        return tuple(xs)


class Wrong(NamedTuple):
    """A call(tf, *xs, **attrs) that an op refuses, the shapes of its inputs, and the promise as fields of a spec.

    Without a call of its own, it calls the program of the op.
    """

    call: Callable[..., Any] | None
    shapes: tuple[Shape, ...]
    promise: Mapping[str, Any] = WHEN_BUILT
    attrs: Mapping[str, Any] = {}


def unfit(*shapes: Shape, promise: Mapping[str, Any] = WHEN_BUILT, **attrs: Any) -> Wrong:
    """A call of the program of an op with inputs of these shapes, and attributes, that the op refuses."""
    return Wrong(None, shapes, promise, attrs)
