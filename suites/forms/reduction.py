"""Reduction: the specs of an op that takes the elements along some axes together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.batch import batches
from tf_opdiff.suites.derived.sizes import EMPTY, sizes
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.reduced import Reduced
from tf_opdiff.suites.forms.reduction_recipes import OF_INTEGERS, RECIPES, few, filled, plain
from tf_opdiff.suites.forms.special_upstreams import every_kind
from tf_opdiff.suites.forms.views import Viewed, Views, repeated
from tf_opdiff.suites.reference.accumulation import Axis, axes

#: The calls of one program: all axes, single ones from either end, two, none, and one that is kept with size 1.
VIEWS: Views = {
    "all": {"axis": (0, 1, 2), "keep": False},
    "first": {"axis": (0,), "keep": False},
    "middle": {"axis": (-2,), "keep": False},
    "last": {"axis": (-1,), "keep": False},
    "outer": {"axis": (2, 0), "keep": False},
    "none": {"axis": (), "keep": False},
    "kept": {"axis": (1, -1), "keep": True},
}
#: The calls for tensors of any rank from 1 on, and for second order, whose errors grow with the number of elements.
ENDS: Views = {"first": {"axis": (0,), "keep": False}, "last": {"axis": (-1,), "keep": True}}
#: The calls that reduce each row of a batch by itself.
ROWS: Views = {"last": {"axis": (-1,), "keep": False}, "inner": {"axis": (1, 2), "keep": True}}
#: Lists of axes that no tensor of rank 3 has.
WRONG_AXES = {
    "past_last": [3],
    "before_first": [-4],
    "beyond": [2**31 - 1],
    "one_of_two": [0, 5],
    "matrix": [[0, 1]],
}
#: Axes that come twice, which shape inference lets pass.
REPEATED_AXES = {"twice": [1, 1], "twice_negative": [0, -3]}


@dataclass(frozen=True, kw_only=True)
class Reduction:
    """The declaration of a reduction. The default tier has float32 and int32, the full tier all other dtypes.

    name            the name with which those of its specs begin.
    op              the OpDef, with the inputs `input` and `axis` and the attribute `keep_dims`.
    promise         its promise of floats and complex numbers.
    recipes         the recipes of floats.
    forward         recipes of floats at which gradients have no promise; None for none.
    complex_recipes the recipes of complex numbers; None if it refuses them. Zeros of either sign are right.
    integers        its promise of integers; None if it refuses them.
    of_integers     the recipes of integers.
    long            the recipes of long reductions, whose numbers have shape `LONG` or its transpose; None for none.
    second          the recipes of second order.
    fields          further fields of all specs, such as `modes`.
    """

    name: str
    op: str
    promise: Reduced
    recipes: Mapping[str, Recipe] = field(default_factory=lambda: RECIPES)
    forward: Mapping[str, Recipe] | None = None
    complex_recipes: Mapping[str, Recipe] | None = None
    integers: Reduced | None = None
    of_integers: Mapping[str, Recipe] = field(default_factory=lambda: OF_INTEGERS)
    long: Mapping[str, Recipe] | None = None
    second: tuple[str, ...] = ("plain",)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def specs(self) -> tuple[Spec, ...]:
        """All specs of the reduction."""
        viewed, shared = self.promise.viewed(self.op), {"ops": self.op, **self.fields}
        specs = [*self._of_numbers(viewed, shared)]
        if self.promise.jvp:
            curved = Spec(
                name=f"{self.name}-second-order",
                recipes={label: repeated(self.recipes[label], ENDS) for label in self.second},
                **viewed.fields(ENDS, second=True),
                **shared,
            )
            specs += [curved, *_other(curved, FLOATS)]
        for label, axis in (("rows", (1,)), ("columns", (0,))) if self.long else ():
            specs.append(_long(f"{self.name}-long-{label}", viewed, axis, self.long or {}, shared))
        specs += _batches(self.name, viewed, next(iter(self.recipes.values())), shared)
        fed = _fed_axes(self.name, self.op, self.promise, shared)
        return (*specs, *_sizes(self.name, viewed, shared), fed, *_wrong_axes(self.name, self.op, shared))

    def _of_numbers(self, viewed: Viewed, shared: Mapping[str, Any]) -> Iterator[Spec]:
        """The specs of floats, with and without gradients, of complex numbers, and of integers."""
        main = Spec(
            name=self.name,
            recipes=_each(self.recipes),
            upstreams={"upstreams": every_kind} if "upstreams" in self.recipes and self.promise.vjp else {},
            **viewed.fields(VIEWS),
            **shared,
        )
        yield from (main, *_other(main, FLOATS))
        if self.forward:
            fields = viewed.fields(VIEWS, gradient=False)
            outputs = Spec(name=f"{self.name}-forward", recipes=_each(self.forward), **fields, **shared)
            yield from (outputs, *_other(outputs, FLOATS))
        if self.complex_recipes:
            parts = replace(main, recipes=_each(self.complex_recipes), upstreams={}, unsigned_zeros=("output", "grad"))
            yield replace(parts, name=f"{self.name}-complex", dtypes=COMPLEX, tier="full")
        if self.integers:
            numbers = Spec(
                name=f"{self.name}-integer",
                recipes=_each(self.of_integers),
                dtypes=("int32",),
                **self.integers.viewed(self.op).fields(VIEWS, gradient=False),
                **shared,
            )
            yield from (numbers, *_other(numbers, INTEGERS))


def _each(recipes: Mapping[str, Recipe]) -> dict[str, Recipe]:
    return {label: repeated(recipe, VIEWS) for label, recipe in recipes.items()}


def reduction(name: str, **settings: Any) -> tuple[Spec, ...]:
    """The specs of a reduction with these settings: see `Reduction`."""
    return Reduction(name=name, **settings).specs()


def truth(name: str, op: str, function: Callable[..., Any]) -> tuple[Spec, ...]:
    """The specs of a reduction of truth values by `function`, of an array, `axis` and `keepdims`."""

    def reduced(x: np.ndarray, axis: Axis) -> np.ndarray:
        return np.asarray(function(x, axis=axes(axis, x.ndim), keepdims=True))

    promise = Reduced(f=reduced, flushes=False)
    viewed = promise.viewed(op)
    shared: dict[str, Any] = {"ops": op, "dtypes": ("bool",)}
    same = {str(value).lower(): filled(value) for value in (True, False)}
    recipes = {label: repeated(recipe, VIEWS) for label, recipe in {"plain": plain, "few": few, **same}.items()}
    main = Spec(name=name, recipes=recipes, **viewed.fields(VIEWS), **shared)
    twins = (*_batches(name, viewed, plain, shared), *_sizes(name, viewed, shared))
    return (main, *twins, _fed_axes(name, op, promise, shared), *_wrong_axes(name, op, shared))


def _batches(name: str, viewed: Viewed, recipe: Recipe, shared: Any) -> Iterator[Spec]:
    """The twins of reductions within each row of a batch."""
    repeats = repeated(recipe, ROWS)
    return batches(Spec(name=name, recipes={"plain": repeats}, **viewed.fields(ROWS), **shared), repeats)


def _other(spec: Spec, dtypes: tuple[str, ...]) -> tuple[Spec, ...]:
    """The twin of a spec in the dtypes that it leaves out, in the full tier."""
    rest = tuple(dtype for dtype in dtypes if dtype not in spec.dtypes)
    return (replace(spec, name=f"{spec.name}-other", dtypes=rest, tier="full"),) if rest else ()


def _long(name: str, viewed: Viewed, axis: tuple[int, ...], recipes: Mapping[str, Recipe], shared: Any) -> Spec:
    """A spec of long reductions along one axis, without gradients, in float32 and in 16 bits."""
    views: Views = {name: {"axis": axis, "keep": False}}

    def turned(recipe: Recipe) -> Recipe:
        return lambda draw, dtype: tuple(x if axis == (1,) else x.T.copy() for x in recipe(draw, dtype))

    return Spec(
        name=name,
        recipes={label: turned(recipe) for label, recipe in recipes.items()},
        dtypes=("float32", "float16", "bfloat16"),
        **viewed.fields(views, gradient=False),
        **shared,
    )


def _sizes(name: str, viewed: Viewed, shared: Any) -> tuple[Spec, ...]:
    """The twins of inputs without elements, and with one, for known and unknown shapes."""

    def shaped(shape: tuple[int, ...]) -> Recipe:
        return lambda draw, dtype: ((2 + draw.uniform(*shape)).astype(dtype),) * len(ENDS)

    recipes = {label: shaped(shape) for label, shape in EMPTY.items()}
    constant = tuple(f"output[{i}]" for i in range(len(ENDS)))
    fields = {**viewed.fields(ENDS), **shared, "constant": constant}
    return tuple(sizes(Spec(name=name, recipes=recipes, **fields), recipes))


def _wrong_axes(name: str, op: str, shared: Any) -> tuple[Spec, ...]:
    """The specs of axes that the input does not have, and of axes that come twice: an error in every mode."""

    def program(tf: Any, x: Any, axis: Any) -> Any:
        return getattr(tf.raw_ops, op)(input=x, axis=axis)

    def attrs(axes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        return {label: {"axis": axis} for label, axis in axes.items()}

    wrong = {
        "program": program,
        "recipes": {"plain": plain},
        **shared,
    }
    return (
        Spec(name=f"{name}-wrong-axes", attrs=attrs(WRONG_AXES), **wrong, **WHEN_BUILT),
        Spec(name=f"{name}-repeated-axes", attrs=attrs(REPEATED_AXES), **wrong, **IN_KERNEL),
    )


def _fed_axes(name: str, op: str, promise: Reduced, shared: Any) -> Spec:
    """The spec of axes that are an input, which a graph does not know when it is built. XLA has to know them."""
    viewed = promise.viewed(op)

    def view(axis: Any) -> dict[str, Any]:
        return {"axis": tuple(np.atleast_1d(axis).tolist()), "keep": False}

    def vjp(g: Any, x: Any, axis: Any) -> tuple[Any, None]:
        assert viewed.vjp
        return viewed.vjp(g, x, **view(axis)), None

    def error(u: float, g: Any, x: Any, axis: Any) -> Any:
        return viewed.error(u, x, **view(axis)) if viewed.error else 0.0

    def grad_error(u: float, g: Any, x: Any, axis: Any) -> Any:
        return viewed.grad_error(u, g, x, **view(axis)) if viewed.grad_error else 0.0

    def fed(axis: Any, dtype: str) -> Recipe:
        return lambda draw, d: (*RECIPES["plain"](draw, d), np.array(axis, dtype))

    return Spec(
        name=f"{name}-fed-axes",
        program=lambda tf, x, axis: getattr(tf.raw_ops, op)(input=x, axis=axis),
        reference=lambda x, axis: viewed.f(x, **view(axis)),
        vjp=vjp if viewed.vjp else None,
        recipes={
            "scalar": fed(-2, "int32"),
            "first": fed([0], "int32"),
            "two": fed([2, -2], "int64"),
            "all": fed([0, 1, 2], "int64"),
            "none": fed([], "int32"),
        },
        bound={"output[0]": error, "grad[0]": grad_error},
        **{**shared, "modes": tuple(mode for mode in MODES if mode != "xla")},
    )
