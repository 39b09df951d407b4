"""Contraction: the specs of ops that multiply and sum up, with several calls in one program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.harness.spec.recipes import FLOATS, Draw, is_float
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.errors import WHEN_BUILT
from tf_opdiff.suites.forms.special_upstreams import in_turn
from tf_opdiff.suites.reference.contraction import Differentiated

Shape = tuple[int, ...]


class Wrong(NamedTuple):
    """A call(tf, *xs) that an op refuses, the shapes of its inputs, and the promise as fields of a spec."""

    call: Callable[..., Any]
    shapes: tuple[Shape, ...]
    promise: Mapping[str, Any] = WHEN_BUILT


@dataclass(frozen=True)
class Call:
    """A call of an op: call(tf, *xs) → a tensor, its promise, and the shapes of its inputs."""

    call: Callable[..., Any]
    promise: Differentiated
    shapes: tuple[Shape, ...]


@dataclass(frozen=True)
class _Calls:
    """Several calls as the functions of one spec: each has its own inputs."""

    calls: tuple[Call, ...]

    def parts(self, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The values that belong to the inputs of each call."""
        rest, parts = list(values), []
        for call in self.calls:
            parts.append(tuple(rest[: len(call.shapes)]))
            rest = rest[len(call.shapes) :]
        return parts

    def reference(self, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        return tuple(c.promise.f(*own) for c, own in zip(self.calls, self.parts(xs), strict=True))

    def vjp(self, gs: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        pairs = zip(self.calls, _tuple(gs), self.parts(xs), strict=True)
        return tuple(entry for c, g, own in pairs for entry in c.promise.vjp(g, *own))

    def jvp(self, ts: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        pairs = zip(self.calls, self.parts(_tuple(ts)), self.parts(xs), strict=True)
        return tuple(c.promise.jvp(t, *own) for c, t, own in pairs)

    def hvp(self, gs: Any, ts: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        each = zip(self.calls, _tuple(gs), self.parts(_tuple(ts)), self.parts(xs), strict=True)
        return tuple(entry for c, g, t, own in each for entry in c.promise.hvp(g, t, *own))

    def bounds(self, *, second: bool) -> dict[str, Callable[..., Any]]:
        """The bounds of all quantities, by name."""
        bounds: dict[str, Callable[..., Any]] = {}
        for n, call in enumerate(self.calls):
            bounds[str(Quantity("output", n))] = partial(self._output, n)
            if second:
                bounds[str(Quantity("jvp", n))] = partial(self._jvp, n)
            first = sum(len(c.shapes) for c in self.calls[:n])
            for i in range(len(call.shapes)):
                bounds[str(Quantity("grad", first + i))] = partial(self._grad, n, i)
                if second and len(call.shapes) > 1:
                    bounds[str(Quantity("hvp", first + i))] = partial(self._hvp, n, i)
        return bounds

    def _output(self, n: int, u: float, gs: Any, *xs: Any) -> Any:
        return self.calls[n].promise.error(u, *self.parts(xs)[n])

    def _grad(self, n: int, i: int, u: float, gs: Any, *xs: Any) -> Any:
        return self.calls[n].promise.grad_error(i, u, _tuple(gs)[n], *self.parts(xs)[n])

    def _jvp(self, n: int, u: float, gs: Any, ts: Any, *xs: Any) -> Any:
        return self.calls[n].promise.jvp_error(u, self.parts(_tuple(ts))[n], *self.parts(xs)[n])

    def _hvp(self, n: int, i: int, u: float, gs: Any, ts: Any, *xs: Any) -> Any:
        return self.calls[n].promise.hvp_error(i, u, _tuple(gs)[n], self.parts(_tuple(ts))[n], *self.parts(xs)[n])


def _tuple(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


def _program(calls: tuple[Callable[..., Any], ...], counts: tuple[int, ...]) -> Callable[..., Any]:
    """A program that makes all calls, each with its own inputs."""

    def program(tf: Any, *xs: Any) -> Any:
        outputs, first = [], 0
        for call, count in zip(calls, counts, strict=True):
            outputs.append(call(tf, *xs[first : first + count]))
            first += count
        return tuple(outputs)

    return program


def fields(calls: Mapping[str, Call], *, gradient: bool = True, second: bool = False) -> dict[str, Any]:
    """The fields of a spec whose program makes these calls, in this order."""
    every = _Calls(tuple(calls.values()))
    counts = tuple(len(call.shapes) for call in every.calls)
    made: dict[str, Any] = {
        "program": _program(tuple(call.call for call in every.calls), counts),
        "reference": every.reference,
        "names": tuple(calls),
        "bound": every.bounds(second=second),
        "unsigned_zeros": ("output", "grad", "jvp", "hvp"),
    }
    derivatives = {"vjp": every.vjp} if gradient else {}
    return made | derivatives | ({"jvp": every.jvp, "hvp": every.hvp} if second else {})


def plain(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Values of moderate size."""
    return draw.values(dtype, *shape)


def small_integers(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Integers whose products and sums are exact: a wide bound can't hide a wrong result of them."""
    return draw.integers(*shape, low=1, high=4).astype(dtype) * (1 - 2 * draw.booleans(*shape)).astype(dtype)


def large(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Powers of two near the root of the largest number, whose products stay in range."""
    part = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    x = 2.0 ** (int(ml_dtypes.finfo(part).maxexp) // 2 - 4) * np.array([1, 1, 1, 0.5])
    return np.resize(x, shape).astype(dtype)


def special(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Plain numbers other than zero, with an infinity in the first tensor's shape and a NaN further on."""
    x = (1 + draw.uniform(*shape, low=0, high=3)).astype(dtype)
    flat = x.reshape(-1)
    if flat.size > 2 and is_float(dtype):
        flat[0] = np.inf
        flat[-1] = np.nan
    return x


def wrap_around(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Integers of all sizes."""
    return draw.bits(*shape).astype(dtype)


#: Recipes by name: recipe(draw, dtype, *shape) → one input.
Elements = Callable[..., np.ndarray]
OF_FLOATS: Mapping[str, Elements] = {
    "plain": plain,
    "exact": small_integers,
    "large": large,
    "special": special,
    "upstreams": small_integers,
}
OF_COMPLEX: Mapping[str, Elements] = {"plain": plain, "exact": small_integers}
OF_INTEGERS: Mapping[str, Elements] = {"plain": plain, "bits": wrap_around}


def shaped(calls: Mapping[str, Call], elements: Elements) -> Recipe:
    """A recipe: the inputs of all calls."""
    shapes = [shape for call in calls.values() for shape in call.shapes]
    return lambda draw, dtype: tuple(elements(draw, np.dtype(dtype), *shape) for shape in shapes)


#: Values in turn: by their places, no row and no column has both a zero and an infinity.
upstreams = in_turn(lambda dtype: np.array((0.0, -0.0, 1.0, -2.0)).astype(dtype))


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Calls and dtypes that an op that contracts tensors takes or refuses.

    wrong           label → a call that the op refuses.
    wrong_tier      the tier of these calls: an error that ends the process costs a second.
    floats          the dtypes of floats, of which float32 is one.
    complex_dtypes  the dtypes of complex numbers.
    integers        the dtypes of integers, of which int32 is one; none if it refuses integers.
    gradient        whether TensorFlow has a gradient of the op.
    second          second(*inputs) → the results of all calls by another method; None if there is none.
    recipes         recipes of the op's own; one takes the place of the usual one of its name.
    """

    wrong: Mapping[str, Wrong]
    wrong_tier: str = "default"
    floats: tuple[str, ...] = FLOATS
    complex_dtypes: tuple[str, ...] = ()
    integers: tuple[str, ...] = ()
    gradient: bool = True
    second: Callable[..., Any] | None = None
    recipes: Mapping[str, Recipe] = field(default_factory=dict)


def contraction(
    name: str, op: str, calls: Mapping[str, Call], small: Mapping[str, Mapping[str, Call]], **limits: Any
) -> tuple[Spec, ...]:
    """The specs of an op that contracts tensors. The default tier has float32 and int32, the full tier the others.

    Args:
      name: the name with which theirs begin.
      op: the OpDef.
      calls: label → a call.
      small: label → calls of one kind, with inputs without elements or with one; all labels have the same calls.
      limits: the fields of `Limits`.
    """
    own = Limits(**limits)
    shared: dict[str, Any] = {"ops": op}
    gradient = own.gradient
    recipes = {label: shaped(calls, elements) for label, elements in OF_FLOATS.items()} | {**own.recipes}
    sent = {"upstreams": upstreams} if gradient else {}
    main = Spec(
        name=name, recipes=recipes, upstreams=sent, second=own.second, **fields(calls, gradient=gradient), **shared
    )
    rest = tuple(dtype for dtype in own.floats if dtype != "float32")
    specs = [main, replace(main, name=f"{name}-other", dtypes=rest, second=None, tier="full")]
    if gradient:
        plain_alone, both = {"plain": shaped(calls, plain)}, fields(calls, second=True)
        second = Spec(name=f"{name}-second-order", recipes=plain_alone, **both, **shared)
        specs += [second, replace(second, name=f"{name}-second-order-other", dtypes=rest, tier="full")]
    if own.complex_dtypes:
        recipes = {label: shaped(calls, elements) for label, elements in OF_COMPLEX.items()}
        one = replace(main, name=f"{name}-complex", recipes=recipes, upstreams={}, second=None, tier="full")
        specs.append(replace(one, dtypes=own.complex_dtypes))
    if own.integers:
        specs += _of_integers(name, calls, own.integers, shared)
    specs += _sizes(name, small, shared, gradient=gradient)
    return (*specs, *refusals(name, own.wrong, {**shared, "tier": own.wrong_tier}))


def _of_integers(name: str, calls: Mapping[str, Call], dtypes: tuple[str, ...], shared: Any) -> Iterator[Spec]:
    """The spec of int32, and that of other integers in the full tier."""
    recipes = {label: shaped(calls, elements) for label, elements in OF_INTEGERS.items()}
    whole = fields(calls, gradient=False) | {"bound": {}, **shared}
    one = Spec(name=f"{name}-integer", recipes=recipes, dtypes=("int32",), **whole)
    yield one
    if others := tuple(dtype for dtype in dtypes if dtype != "int32"):
        yield replace(one, name=f"{name}-integer-other", dtypes=others, tier="full")


def _sizes(name: str, small: Mapping[str, Mapping[str, Call]], shared: Any, *, gradient: bool) -> tuple[Spec, ...]:
    """The twins of inputs without elements, and with one, for known and unknown shapes."""
    first = next(iter(small.values()))
    recipes = {label: shaped(calls, small_integers) for label, calls in small.items()}
    constant = tuple(f"output[{n}]" for n in range(len(first)))
    made = fields(first, gradient=gradient) | shared
    return tuple(sizes(Spec(name=name, recipes=recipes, constant=constant, **made), recipes))


def refusals(name: str, wrong: Mapping[str, Wrong], shared: Any) -> Iterator[Spec]:
    """The specs of calls that the op refuses: the promised error in every mode."""
    for label, (call, shapes, promise) in wrong.items():
        recipes = {"plain": partial(_of_shapes, shapes)}
        yield Spec(name=f"{name}-{label}", program=call, recipes=recipes, **promise, **shared)


def _of_shapes(shapes: Sequence[Shape], draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    return tuple(
        draw.values(dtype, *shape).reshape(shape) if prod(shape) else np.zeros(shape, dtype) for shape in shapes
    )
