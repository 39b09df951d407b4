"""Reduction: the specs of an op that takes the elements along some axes together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS, Draw, subnormals
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.sizes import EMPTY, sizes
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.special_upstreams import in_turn
from tf_opdiff.suites.forms.views import Viewed, Views, repeated
from tf_opdiff.suites.reference.accumulation import Axis, axes
from tf_opdiff.suites.reference.subnormal import flushed_in

#: The shape of the inputs: no size is a multiple of a vector's width.
SHAPE = (3, 5, 7)
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
#: The sizes of long sums, along rows and along columns.
LONG = (3, 4099)
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
class Reduced:
    """What a reduction promises over the axes of a tensor; every function keeps the axes with size 1.

    f           f(x, axis) → the result.
    vjp         vjp(g, x, axis) → the gradient, of the shape of x. None without gradients.
    jvp, hvp    jvp(t, x, axis), and hvp(g, t, x, axis), which is None if second order is unconnected.
    error, …    error(u, x, axis), grad_error(u, g, x, axis), jvp_error(u, t, x, axis), hvp_error(u, g, t, x, axis)
                → the largest errors; None where a quantity is exact.
    flushes     whether subnormal terms, and results, may be flushed.
    """

    f: Callable[..., Any]
    vjp: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None
    hvp: Callable[..., Any] | None = None
    error: Callable[..., Any] | None = None
    grad_error: Callable[..., Any] | None = None
    jvp_error: Callable[..., Any] | None = None
    hvp_error: Callable[..., Any] | None = None
    flushes: bool = True

    def viewed(self, raw: str) -> Viewed:
        """The promise of the raw op's calls."""

        def kept(g: Any, x: Any, axis: Axis) -> Any:
            where = axes(axis, x.ndim)
            return np.reshape(g, tuple(1 if i in where else n for i, n in enumerate(x.shape)))

        def dropped(y: Any, x: Any, axis: Axis, *, keep: bool) -> Any:
            return np.asarray(y) if keep else np.squeeze(y, axis=axes(axis, x.ndim))

        def others(dtype: np.dtype, x: Any, axis: Axis, *, keep: bool) -> list[np.ndarray]:
            exact, of_flushed = self.f(x, axis), self.f(flushed_in(dtype, x), axis)
            return [dropped(y, x, axis, keep=keep) for y in (flushed_in(dtype, exact), of_flushed)]

        def other_gradients(dtype: np.dtype, g: Any, x: Any, axis: Axis, *, keep: bool) -> list[np.ndarray]:
            return [self.vjp(kept(g, x, axis), flushed_in(dtype, x), axis)] if self.vjp else []

        def hvp(g: Any, t: Any, x: Any, axis: Axis, *, keep: bool) -> Any:
            return self.hvp and self.hvp(kept(g, x, axis), t, x, axis)

        def errors(function: Callable[..., Any] | None, *, to_input: bool) -> Callable[..., Any] | None:
            """The error with its first array, an upstream, in shape, or with the axes of its result dropped."""
            if function is None:
                return None
            if to_input:
                return lambda u, g, *xs, axis, keep: function(u, kept(g, xs[-1], axis), *xs, axis)
            return lambda u, *xs, axis, keep: dropped(function(u, *xs, axis), xs[-1], axis, keep=keep)

        vjp, jvp = self.vjp, self.jvp
        return Viewed(
            call=lambda tf, x, axis, keep: getattr(tf.raw_ops, raw)(input=x, axis=axis, keep_dims=keep),
            f=lambda x, axis, keep: dropped(self.f(x, axis), x, axis, keep=keep),
            vjp=vjp and (lambda g, x, axis, keep: vjp(kept(g, x, axis), x, axis)),
            jvp=jvp and (lambda t, x, axis, keep: dropped(jvp(t, x, axis), x, axis, keep=keep)),
            hvp=jvp and hvp,
            error=errors(self.error, to_input=False),
            grad_error=errors(self.grad_error, to_input=True),
            jvp_error=errors(self.jvp_error, to_input=False),
            hvp_error=errors(self.hvp_error, to_input=True),
            alternatives=others if self.flushes else None,
            grad_alternatives=other_gradients if self.flushes and vjp else None,
        )


def plain(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Values of moderate size."""
    return (draw.values(dtype, *SHAPE),)


def small_integers(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Integers whose sums are exact: a wide bound can't hide a wrong sum of them."""
    return (draw.integers(*SHAPE, low=-8, high=9).astype(dtype),)


def ties(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Equal numbers, and zeros of both signs."""
    return (np.array([2.0, -2.0, 0.0, -0.0])[draw.integers(*SHAPE, low=0, high=4)].astype(dtype),)


def large(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Equal large numbers, whose sum is just in range, and their opposites in one of the planes."""
    x = np.full(SHAPE, float(ml_dtypes.finfo(_part(dtype)).max) / 128)
    x[1] *= -1
    return (x.astype(dtype),)


def special(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Rows with NaN, with infinities of one sign and of both, with zeros of both signs, and with plain numbers."""
    x = draw.values(np.dtype(np.float64), *SHAPE)
    x[0, :4, 2] = [np.nan, np.inf, -np.inf, 0.0]
    x[0, 2, 5] = np.inf
    x[1, :2, -1] = [-np.inf, np.inf]
    x[2, :2] = 0.0
    x[2, 1, ::2] = -0.0
    return (x.astype(dtype),)


def infinite(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Rows with infinities of one sign, of both, and with plain numbers; no NaN."""
    x = draw.values(np.dtype(np.float64), *SHAPE)
    x[0, :3, 2] = [np.inf, -np.inf, np.inf]
    x[0, 2, 5] = np.inf
    x[1, 0] = -np.inf
    x[1, 1, -1] = -np.inf
    return (x.astype(dtype),)


def tiny(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Subnormals of both signs."""
    return (np.resize(subnormals(draw, _part(dtype))[0][:11], SHAPE).astype(dtype),)


def limits(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Limits of integers, and numbers next to zero."""
    info = np.iinfo(dtype)
    values = np.array([info.max, info.min, 1, info.max, 0, info.min, info.max - 1, 3], dtype)
    return (values[draw.integers(*SHAPE, low=0, high=len(values))],)


def _part(dtype: np.dtype) -> np.dtype:
    dtype = np.dtype(dtype)
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


#: Upstreams: zeros and infinities of both signs, NaN, and numbers.
upstreams = in_turn(lambda dtype: np.array((0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.0)).astype(dtype))


RECIPES: Mapping[str, Recipe] = {
    "plain": plain,
    "exact": small_integers,
    "ties": ties,
    "large": large,
    "special": special,
    "tiny": tiny,
    "upstreams": plain,
}
OF_INTEGERS: Mapping[str, Recipe] = {"plain": plain, "limits": limits}


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
        fed = _fed_axes(self.name, self.op, self.promise, shared)
        return (*specs, *_sizes(self.name, viewed, shared), fed, *_wrong_axes(self.name, self.op, shared))

    def _of_numbers(self, viewed: Viewed, shared: Mapping[str, Any]) -> Iterator[Spec]:
        """The specs of floats, with and without gradients, of complex numbers, and of integers."""
        main = Spec(
            name=self.name,
            recipes=_each(self.recipes),
            upstreams={"upstreams": upstreams} if "upstreams" in self.recipes and self.promise.vjp else {},
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
    same = {str(value).lower(): _filled(value) for value in (True, False)}
    recipes = {label: repeated(recipe, VIEWS) for label, recipe in {"plain": plain, "few": few, **same}.items()}
    main = Spec(name=name, recipes=recipes, **viewed.fields(VIEWS), **shared)
    return (main, *_sizes(name, viewed, shared), _fed_axes(name, op, promise, shared), *_wrong_axes(name, op, shared))


def _filled(value: bool) -> Recipe:
    return lambda draw, dtype: (np.full(SHAPE, value),)


def few(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Rows of one truth value but for single elements: one row alone is mixed in each plane."""
    x = np.zeros(SHAPE, bool)
    x[1] = True
    x[0, 2, 6] = x[2, 4, 0] = True
    x[1, 3, 5] = False
    return (x,)


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

    wrong = Spec(
        name=f"{name}-wrong-axes",
        program=program,
        reference=raises("ValueError"),
        contract=REFUSED_BY_KERNEL,
        recipes={"plain": lambda draw, dtype: plain(draw, dtype)},
        attrs=attrs(WRONG_AXES),
        **shared,
    )
    refused, repeats = raises("INVALID_ARGUMENT"), attrs(REPEATED_AXES)
    return wrong, replace(wrong, name=f"{name}-repeated-axes", reference=refused, contract={}, attrs=repeats)


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
