"""Scan: the specs of cumulative ops, which have the attributes `exclusive` and `reverse`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.harness.spec.plan import MODES
from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.batch import batches
from tf_opdiff.suites.derived.sizes import EMPTY, sizes
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.reduction_recipes import LONG, SHAPE, plain
from tf_opdiff.suites.forms.special_upstreams import Upstream
from tf_opdiff.suites.forms.views import Viewed, Views, repeated

#: The calls of one program: each axis, from either end, and each combination of the attributes.
VIEWS: Views = {
    "first": {"axis": 0, "exclusive": False, "reverse": False},
    "exclusive": {"axis": -1, "exclusive": True, "reverse": False},
    "reverse": {"axis": -2, "exclusive": False, "reverse": True},
    "both": {"axis": 2, "exclusive": True, "reverse": True},
}
_SMALL: Views = {
    "first": {"axis": 0, "exclusive": False, "reverse": False},
    "last": {"axis": -1, "exclusive": False, "reverse": True},
}
#: The calls within each row of a batch.
_ROWS: Views = {
    "middle": {"axis": 1, "exclusive": True, "reverse": False},
    "last": {"axis": -1, "exclusive": False, "reverse": True},
}
#: The calls of second order, whose errors grow with the number of elements.
_CURVED: Views = {
    "first": {"axis": 0, "exclusive": False, "reverse": False},
    "both": {"axis": -3, "exclusive": True, "reverse": True},
}
_FED: Mapping[str, Any] = {"exclusive": False, "reverse": True}
_CANCELS = Loose(lambda *xs: True, "a second derivative is a sum of terms of both signs, which may cancel")
#: Axes that no tensor of rank 3 has, and a list of axes.
WRONG_AXES: Mapping[str, Mapping[str, Any]] = {
    "past_last": {"axis": 3},
    "before_first": {"axis": -4},
    "beyond": {"axis": 2**31 - 1},
    "beyond_int32": {"axis": 2**32 + 1, "index": "int64"},
    "vector": {"axis": [0]},
}


@dataclass(frozen=True, kw_only=True)
class Scan:
    """The declaration of a cumulative op. The default tier has float32 and int32, the full tier all other dtypes.

    name            the name with which those of its specs begin.
    op              the OpDef, with the inputs `x` and `axis`.
    promise         its promise of each call.
    recipes         the recipes of floats.
    second          the recipe of second order.
    upstreams       name of a recipe → its upstreams.
    forward         recipes of floats without gradients; None for none.
    complex_recipes the recipes of complex numbers; None if it refuses them. Zeros of either sign are right.
    of_integers     the recipes of integers; None if it refuses them.
    long            the recipes of long scans, whose numbers have shape `LONG`.
    fields          further fields of all specs.
    """

    name: str
    op: str
    promise: Viewed
    recipes: Mapping[str, Recipe]
    second: str
    upstreams: Mapping[str, Upstream]
    forward: Mapping[str, Recipe]
    complex_recipes: Mapping[str, Recipe] | None = None
    of_integers: Mapping[str, Recipe] | None = None
    long: Mapping[str, Recipe]
    fields: Mapping[str, Any] = field(default_factory=dict)

    def specs(self) -> tuple[Spec, ...]:
        """All specs of the op."""
        floats = [
            self._part("", self.recipes, upstreams=self.upstreams),
            self._part("-forward", self.forward, gradient=False),
            self._curved(),
        ]
        rest = tuple(dtype for dtype in FLOATS if dtype != "float32")
        others = [replace(spec, name=f"{spec.name}-other", dtypes=rest, tier="full") for spec in floats]
        twins = (self._long(), *self._batches(), *self._sizes())
        specs = (*floats, *others, *self._of_other_numbers(), *twins, *self._axes())
        return tuple(spec for spec in specs if spec.recipes)

    def _part(self, suffix: str, recipes: Mapping[str, Recipe], *, gradient: bool = True, **more: Any) -> Spec:
        """A spec of all calls."""
        repeats = {label: repeated(recipe, VIEWS) for label, recipe in recipes.items()}
        promise = self.promise.fields(VIEWS, gradient=gradient)
        return Spec(name=self.name + suffix, recipes=repeats, **{"ops": self.op, **promise, **self.fields, **more})

    def _curved(self) -> Spec:
        """The spec of second order."""
        recipes = {self.second: repeated(self.recipes[self.second], _CURVED)}
        fields = {"ops": self.op, **self.promise.fields(_CURVED, second=True), **self.fields}
        return Spec(name=f"{self.name}-second-order", recipes=recipes, loose={"hvp": _CANCELS}, **fields)

    def _of_other_numbers(self) -> Iterator[Spec]:
        """The specs of complex numbers and of integers."""
        if self.complex_recipes:
            unsigned = ("output", "grad")
            yield self._part("-complex", self.complex_recipes, dtypes=COMPLEX, tier="full", unsigned_zeros=unsigned)
        if self.of_integers:
            exact: dict[str, Any] = {"gradient": False, "bound": {}, "alternatives": {}}
            yield self._part("-integer", self.of_integers, dtypes=("int32",), **exact)
            others = tuple(dtype for dtype in INTEGERS if dtype != "int32")
            yield self._part("-integer-other", self.of_integers, dtypes=others, tier="full", **exact)

    def _long(self) -> Spec:
        """The spec of long rows, without gradients, in float32 and in 16 bits."""
        view: Views = {"rows": {"axis": 1, "exclusive": False, "reverse": False}}
        promise = self.promise.fields(view, gradient=False)
        dtypes = ("float32", "float16", "bfloat16")
        fields = {"ops": self.op, "recipes": self.long, "dtypes": dtypes, **promise, **self.fields}
        return Spec(name=f"{self.name}-long", **fields)

    def _batches(self) -> Iterator[Spec]:
        """The twins of scans within each row of a batch."""
        repeats = repeated(next(iter(self.recipes.values())), _ROWS)
        fields = {"ops": self.op, **self.promise.fields(_ROWS), **self.fields, "tier": "full"}
        return batches(Spec(name=self.name, recipes={"plain": repeats}, **fields), repeats)

    def _sizes(self) -> Iterator[Spec]:
        """The twins of inputs without elements, and with one, for known and unknown shapes."""

        def shaped(shape: tuple[int, ...]) -> Recipe:
            return lambda draw, dtype: ((2 + draw.uniform(*shape)).astype(dtype),) * len(_SMALL)

        small = {label: shaped(shape) for label, shape in EMPTY.items()}
        constant = tuple(f"output[{i}]" for i in range(len(_SMALL)))
        fields = {**self.promise.fields(_SMALL), "ops": self.op, **self.fields, "constant": constant}
        return sizes(Spec(name=self.name, recipes=small, **fields), small)

    def _axes(self) -> Iterator[Spec]:
        """The specs of an axis that a graph does not know when it is built, and of wrong axes: an error in each mode.

        XLA has to know the axis.
        """
        op, promise = self.op, self.promise

        def fed(axis: int, index: str) -> Recipe:
            return lambda draw, dtype: (*plain(draw, dtype), np.array(axis, index))

        def error(u: float, g: Any, x: Any, axis: Any) -> Any:
            return promise.error and promise.error(u, x, axis=int(axis), **_FED)

        yield Spec(
            name=f"{self.name}-fed-axis",
            program=lambda tf, x, axis: getattr(tf.raw_ops, op)(x=x, axis=axis, **_FED),
            reference=lambda x, axis: promise.f(x, axis=int(axis), **_FED),
            recipes={"int32": fed(0, "int32"), "int64": fed(-1, "int64"), "middle": fed(1, "int64")},
            bound={"output[0]": error},
            **{"ops": op, **self.fields, "modes": tuple(mode for mode in MODES if mode != "xla")},
        )
        yield Spec(
            name=f"{self.name}-wrong-axes",
            program=lambda tf, x, axis, index="int32": getattr(tf.raw_ops, op)(x=x, axis=tf.constant(axis, index)),
            reference=raises("INVALID_ARGUMENT"),
            recipes={"plain": plain},
            attrs=WRONG_AXES,
            **{"ops": op, **self.fields},
        )


def scan(name: str, **settings: Any) -> tuple[Spec, ...]:
    """The specs of a cumulative op with these settings: see `Scan`."""
    return Scan(name=name, **settings).specs()


def long_ones(draw: Any, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """Ones, whose sums are the numbers from 1 on."""
    return (np.ones(LONG, dtype),)


def one_tiny(draw: Any, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """The smallest subnormals of both signs, one in each row, between ones."""
    x = np.ones(SHAPE)
    smallest = float(np.nextafter(np.array(0, dtype), np.array(1, dtype), dtype=dtype))
    x[:, 2, :] = 3 * smallest
    x[1, 2, 3] = -smallest
    return (x.astype(dtype),)
