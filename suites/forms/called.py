"""Calls: several calls of ops in one program, each with its own inputs, because a program costs most to build."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.harness.spec.recipes import Draw, subnormals
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.errors import REFUSED_BY_KERNEL, raises
from tf_opdiff.suites.forms.special_upstreams import in_turn
from tf_opdiff.suites.reference.promise import Promise

Shape = tuple[int, ...]
#: elements(draw, dtype, *shape) → one input.
Elements = Callable[..., np.ndarray]
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


Calls = Mapping[str, Call]


@dataclass(frozen=True)
class Several:
    """Several calls as the functions of one spec."""

    calls: tuple[Call, ...]

    def parts(self, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The values that belong to the inputs of each call."""
        rest, parts = list(values), []
        for call in self.calls:
            parts.append(tuple(rest[: call.count]))
            rest = rest[call.count :]
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

    def bounds(self, *, gradient: bool, second: bool) -> dict[str, Function]:
        """The bounds of all quantities, by name."""
        bounds: dict[str, Function] = {}
        first = 0
        for n, call in enumerate(self.calls):
            bounds[str(Quantity("output", n))] = partial(self._output, n)
            if second:
                bounds[str(Quantity("jvp", n))] = partial(self._jvp, n)
            for i in range(call.count):
                if gradient:
                    bounds[str(Quantity("grad", first + i))] = partial(self._grad, n, i)
                if second:
                    bounds[str(Quantity("hvp", first + i))] = partial(self._hvp, n, i)
            first += call.count
        return bounds

    def alternatives(self, *, gradient: bool) -> dict[str, Function]:
        """The alternatives of all outputs and gradients, by name."""
        others: dict[str, Function] = {}
        first = 0
        for n, call in enumerate(self.calls):
            others[str(Quantity("output", n))] = partial(self._others, n)
            for i in range(call.count if gradient else 0):
                others[str(Quantity("grad", first + i))] = partial(self._grad_others, n, i)
            first += call.count
        return others

    def _output(self, n: int, u: float, gs: Any, *xs: Any) -> Any:
        return self.calls[n].promise.error(u, *self.parts(xs)[n])

    def _grad(self, n: int, i: int, u: float, gs: Any, *xs: Any) -> Any:
        return self.calls[n].promise.grad_error(i, u, _tuple(gs)[n], *self.parts(xs)[n])

    def _jvp(self, n: int, u: float, gs: Any, ts: Any, *xs: Any) -> Any:
        return self.calls[n].promise.jvp_error(u, self.parts(_tuple(ts))[n], *self.parts(xs)[n])

    def _hvp(self, n: int, i: int, u: float, gs: Any, ts: Any, *xs: Any) -> Any:
        return self.calls[n].promise.hvp_error(i, u, _tuple(gs)[n], self.parts(_tuple(ts))[n], *self.parts(xs)[n])

    def _others(self, n: int, dtype: Any, gs: Any, *xs: Any) -> Any:
        return self.calls[n].promise.others(dtype, *self.parts(xs)[n])

    def _grad_others(self, n: int, i: int, dtype: Any, gs: Any, *xs: Any) -> Any:
        return self.calls[n].promise.grad_others(i, dtype, _tuple(gs)[n], *self.parts(xs)[n])


def _tuple(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


def _program(calls: tuple[Function, ...], counts: tuple[int, ...]) -> Function:
    """A program that makes all calls, each with its own inputs."""

    def program(tf: Any, *xs: Any) -> Any:
        outputs, first = [], 0
        for call, count in zip(calls, counts, strict=True):
            outputs.append(call(tf, *xs[first : first + count]))
            first += count
        return tuple(outputs)

    return program


def fields(calls: Calls, *, gradient: bool = True, second: bool = False) -> dict[str, Any]:
    """The fields of a spec whose program makes these calls, in this order."""
    every = Several(tuple(calls.values()))
    parts: dict[str, Any] = {
        "program": _program(tuple(call.call for call in every.calls), tuple(call.count for call in every.calls)),
        "reference": every.reference,
        "names": tuple(calls),
        "bound": every.bounds(gradient=gradient, second=second),
        "alternatives": every.alternatives(gradient=gradient),
        "unsigned_zeros": ("output", "grad", "jvp", "hvp"),
    }
    derivatives = {"vjp": every.vjp} if gradient else {}
    return parts | derivatives | ({"jvp": every.jvp, "hvp": every.hvp} if second else {})


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


#: Upstreams: zeros and infinities of both signs, NaN, and numbers.
upstreams = in_turn(lambda dtype: np.array((0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.0)).astype(dtype))


@dataclass(frozen=True)
class Wrong:
    """A call that an op refuses, the shapes of its inputs, and the error of graphs.

    Where shape inference refuses it, Python raises a ValueError in graphs; the kernel refuses it in eager mode.
    """

    call: Function
    shapes: tuple[Shape, ...]
    error: str = "ValueError"
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Called:
    """The declaration of an op that one program calls several times. The default tier has float32.

    name        the name with which those of its specs begin.
    op          the OpDef.
    calls       label → a call.
    recipes     label → the elements of each drawn input; those of the last one serve all further inputs. A recipe
                `upstreams` also has special upstreams.
    forward     the recipes at which gradients have no promise.
    small       label → calls with inputs without elements, or with one; all labels have the same calls.
    wrong       label → a call that the op refuses.
    rest        the dtypes of the full tier.
    whole       the integer dtypes, which have no gradients; int32 is in the default tier, the others are not.
    of_whole    the recipes of integers.
    gradient    whether the op has a gradient.
    second      the labels of the recipes of second order; none if TensorFlow has none.
    fields      further fields of all specs, such as `modes`.
    """

    name: str
    op: str
    calls: Calls
    recipes: Mapping[str, Sequence[Elements]]
    forward: Mapping[str, Sequence[Elements]] = field(default_factory=dict)
    small: Mapping[str, Calls] = field(default_factory=dict)
    wrong: Mapping[str, Wrong] = field(default_factory=dict)
    rest: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    of_whole: Mapping[str, Sequence[Elements]] = field(default_factory=dict)
    gradient: bool = True
    second: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)

    def specs(self) -> tuple[Spec, ...]:
        """All specs of the op."""
        specs = [*self._of_floats(), *self._of_integers(), *self._sizes()]
        return (*specs, *(self._refused(label, wrong) for label, wrong in self.wrong.items()))

    def _spec(self, suffix: str, recipes: Mapping[str, Sequence[Elements]], **fields: Any) -> Spec:
        return Spec(
            name=f"{self.name}{suffix}",
            recipes={label: drawn(self.calls, *elements) for label, elements in recipes.items()},
            **{"ops": self.op, **fields, **self.fields},
        )

    def _of_floats(self) -> Iterator[Spec]:
        """The specs of floats: with gradients, without, and with second order; each with its twin of other dtypes."""
        special = {"upstreams": upstreams} if self.gradient and "upstreams" in self.recipes else {}
        yield from self._both(
            self._spec("", self.recipes, upstreams=special, **fields(self.calls, gradient=self.gradient))
        )
        if self.forward:
            yield from self._both(self._spec("-forward", self.forward, **fields(self.calls, gradient=False)))
        if self.second:
            recipes = {label: self.recipes[label] for label in self.second}
            yield from self._both(self._spec("-second-order", recipes, **fields(self.calls, second=True)))

    def _both(self, spec: Spec) -> Iterator[Spec]:
        """The spec, and its twin in the other dtypes."""
        yield spec
        if self.rest:
            yield replace(spec, name=f"{spec.name}-other", dtypes=self.rest, tier="full")

    def _of_integers(self) -> Iterator[Spec]:
        exact = fields(self.calls, gradient=False) | {"bound": {}, "alternatives": {}, "unsigned_zeros": ()}
        for suffix, tier in (("", "default"), ("-other", "full")):
            dtypes = tuple(dtype for dtype in self.whole if (dtype == "int32") == (tier == "default"))
            if dtypes:
                yield self._spec(f"-integer{suffix}", self.of_whole, dtypes=dtypes, tier=tier, **exact)

    def _sizes(self) -> Iterator[Spec]:
        """The twins of inputs without elements, and with one, for known and unknown shapes."""
        if not self.small:
            return
        first = next(iter(self.small.values()))
        recipes = {label: drawn(calls, small_integers) for label, calls in self.small.items()}
        constant = tuple(f"output[{n}]" for n in range(len(first)))
        common = {"ops": self.op, "constant": constant, **fields(first, gradient=self.gradient), **self.fields}
        yield from sizes(Spec(name=self.name, recipes=recipes, **common), recipes)

    def _refused(self, label: str, wrong: Wrong) -> Spec:
        """The spec of a call that the op refuses: an error in every mode."""
        inferred = wrong.error == "ValueError"
        return Spec(
            name=f"{self.name}-{label}",
            program=wrong.call,
            reference=raises(wrong.error),
            recipes={"plain": partial(_of_shapes, wrong.shapes)},
            **{"ops": self.op, "contract": REFUSED_BY_KERNEL if inferred else {}, **self.fields, **wrong.fields},
        )


def _of_shapes(shapes: Sequence[Shape], draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    return tuple(plain(draw, dtype, *shape) for shape in shapes)


def called(name: str, op: str, **settings: Any) -> tuple[Spec, ...]:
    """The specs of an op with these settings: see `Called`."""
    return Called(name=name, op=op, **settings).specs()


def plain(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Values of moderate size."""
    return draw.values(dtype, *shape)


def small_integers(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Integers whose sums are exact: a wide bound can't hide a wrong sum of them."""
    return draw.integers(*shape, low=-8, high=9).astype(dtype)


def ties(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Equal numbers, and zeros of both signs."""
    return np.array([2.0, -2.0, 0.0, -0.0])[draw.integers(*shape, low=0, high=4)].astype(dtype)


def infinite(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers, and infinities of both signs."""
    x = draw.values(np.dtype(np.float64), *shape)
    return np.where(draw.integers(*shape, low=0, high=5) > 0, x, np.where(x > 0, np.inf, -np.inf)).astype(dtype)


def not_numbers(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Numbers, infinities of both signs, and NaN."""
    x = infinite(draw, np.dtype(np.float64), *shape)
    return np.where(draw.integers(*shape, low=0, high=9) > 0, x, np.nan).astype(dtype)


def tiny(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Subnormals of both signs."""
    return np.resize(subnormals(draw, dtype)[0][:11], shape).astype(dtype)


def limits(draw: Draw, dtype: np.dtype, *shape: int) -> np.ndarray:
    """Limits of integers, and numbers next to zero."""
    info = np.iinfo(dtype)
    values = np.array([info.max, info.min, 1, info.max, 0, info.min, info.max - 1, 3], dtype)
    return values[draw.integers(*shape, low=0, high=len(values))]
