"""Moves: the specs of an op that puts the elements of its inputs in other places."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tf_opdiff.harness.spec.plan import MODES, WITHOUT_XLA
from tf_opdiff.harness.spec.recipes import Draw, is_float
from tf_opdiff.harness.spec.spec import Recipe, Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms import move_recipes as recipes
from tf_opdiff.suites.forms.copies import Dtypes
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.move_calls import (
    MoveCall,
    MoveCalls,
    Parameter,
    Shape,
    constant_program,
    fed_program,
    promises,
)
from tf_opdiff.suites.reference.moves import Back, Constant, Forward, Move

#: The shapes of the inputs of three calls, of rank 1 to 3, by recipe.
SMALL: Mapping[str, Sequence[Shape]] = {
    "empty_first": ((0,), (0, 3), (0, 2, 1)),
    "empty_last": ((0,), (3, 0), (2, 1, 0)),
    "ones": ((1,), (1, 1), (1, 1, 1)),
}


@dataclass(frozen=True)
class Apart:
    """Calls in a program of their own, because TensorFlow fails on them, and the arguments that are tensors.

    `mistake` is the move that TensorFlow makes, if it is known: see `suites.reference.moves.Moved`.
    """

    calls: MoveCalls
    tensors: tuple[Parameter, ...] = ()
    mistake: Move | None = None


class Refused(NamedTuple):
    """Calls that an op refuses, and the promise of their error as fields of a spec."""

    calls: MoveCalls
    promise: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Moves:
    """The declaration of an op that moves elements.

    Attributes:
      name: the name of its main spec.
      op: its OpDef.
      call: call(tf, *xs, **parameters) → a tensor or a list of tensors.
      promise: its promise.
      calls: the calls of the main program, by label.
      apart: calls in programs of their own, by the end of the name of their spec.
      large: a call with many elements.
      small: the arguments of the calls of rank 1, 2, … that take inputs without elements, and with one.
      shapes: recipe → the shape of the inputs of each of those calls.
      small_fed: calls whose inputs have no elements, or one, and whose arguments are inputs too, by recipe.
      inputs: the number of inputs of those calls.
      scalars: the number of further inputs, which are scalars.
      tensors: the arguments that are tensors.
      adds: whether a gradient adds several upstreams.
      gradient: whether TensorFlow has a gradient.
      second: whether TensorFlow has second order.
      few: the labels of the calls of second order; all of them by default.
      built: calls that shape inference refuses, by label.
      run: calls that kernels refuse, by label.
      refused: calls with other errors, by the end of the name of their spec.
      dtypes: the dtypes beside float32.
      modes: the modes that have a kernel.
    """

    name: str
    op: str
    call: Callable[..., Any]
    promise: Forward | Back
    calls: MoveCalls
    large: MoveCall | None = None
    apart: Mapping[str, Apart] = field(default_factory=dict)
    small: Sequence[Mapping[str, Any]] = ()
    shapes: Mapping[str, Sequence[Shape]] = field(default_factory=lambda: SMALL)
    small_fed: MoveCalls = field(default_factory=dict)
    inputs: int = 1
    scalars: int = 0
    tensors: tuple[Parameter, ...] = ()
    adds: bool = False
    gradient: bool = True
    second: bool = True
    few: tuple[str, ...] = ()
    built: MoveCalls = field(default_factory=dict)
    run: MoveCalls = field(default_factory=dict)
    refused: Mapping[str, Refused] = field(default_factory=dict)
    dtypes: Dtypes = field(default_factory=Dtypes)
    modes: tuple[str, ...] = MODES

    def specs(self) -> Iterator[Spec]:
        """All specs of the op."""
        calls = tuple(self.calls.values())
        main = Spec(name=self.name, recipes=self._recipes(calls), upstreams=self._upstreams(), **self._fields(calls))
        yield from (main, *self.dtypes.twins(main, {"plain": recipes.values(calls)}))
        if self.large:
            one = (self.large,)
            many = Spec(name=self.name, recipes={"large": recipes.values(one)}, **self._fields(one))
            yield from self.dtypes.of_nibbles(many)
        for label, apart in self.apart.items():
            promise = replace(self.promise, mistake=apart.mistake) if apart.mistake else self.promise
            own = replace(self, tensors=apart.tensors, promise=promise)
            own_calls = tuple(apart.calls.values())
            yield Spec(
                name=f"{self.name}-{label}",
                recipes={"exact": recipes.whole(own_calls)},
                upstreams={"exact": recipes.whole_upstream} if self._upstreams() else {},
                **own._fields(own_calls),
            )
        if self.gradient and self.second and not self._constant:
            yield from self._second_order(main)
        if self.small:
            yield from self._sizes()
        if self.tensors:
            yield self._fed(calls)
        if self.small_fed:
            each = {label: recipes.fed((one,), self.tensors) for label, one in self.small_fed.items()}
            first = next(iter(self.small_fed.values()))
            yield from sizes(replace(self._fed((first,)), name=self.name, recipes=each, upstreams={}), each)
        yield from self._wrong()

    @property
    def _sums(self) -> bool:
        """Whether outputs are sums."""
        return isinstance(self.promise, Back)

    @property
    def _constant(self) -> bool:
        """Whether outputs depend on shapes alone."""
        return isinstance(self.promise, Constant)

    def _upstreams(self) -> dict[str, Callable[..., np.ndarray]]:
        return {**recipes.upstreams(adds=self.adds)} if self.gradient and not self._constant else {}

    def _recipes(self, calls: Sequence[MoveCall]) -> dict[str, Recipe]:
        every = {"plain": recipes.values(calls), "special": recipes.special(calls, adds=self._sums)}
        every |= {"exact": recipes.whole(calls)} if self._sums or self.adds else {}
        return every | ({"upstreams": recipes.values(calls)} if self._upstreams() else {})

    def _fields(self, calls: Sequence[MoveCall], *, second: bool = False) -> dict[str, Any]:
        """The fields of a spec with these calls, whose arguments are constants."""
        rounded: tuple[str, ...] = ("grad",) if self.adds and self.gradient else ()
        if self._sums:
            rounded = ("output", "jvp")
        elif self.promise.rounds_tangents:
            rounded += ("jvp",)
        several = promises(self.promise, calls)
        promised = several.fields(gradient=self.gradient, second=second, rounded=rounded)
        return {
            "ops": self.op,
            "program": constant_program(self.call, calls, self.tensors),
            "modes": self.modes,
            "unsigned_zeros": rounded,
            "constant": self._unvarying(calls),
            **promised,
        }

    def _unvarying(self, calls: Sequence[MoveCall]) -> tuple[str, ...]:
        """The outputs that do not depend on the elements of the inputs."""
        varying: list[bool] = []
        for one in calls:
            promise, xs = replace(self.promise, parameters=one.parameters), [np.zeros(shape) for shape in one.shapes]
            count = promise.varying(*xs)
            varying += [i < count for i in range(promise.results(*xs))]
        return tuple(f"output[{i}]" for i, depends in enumerate(varying) if not depends)

    def _second_order(self, main: Spec) -> Iterator[Spec]:
        """The twins with forward mode, which moves tangents as it moves inputs; second order is unconnected."""
        calls = tuple(self.calls[label] for label in self.few or self.calls)
        twin = Spec(
            name=f"{self.name}-second-order",
            recipes={"plain": recipes.values(calls)},
            upstreams={label: up for label, up in main.upstreams.items() if label == "plain"},
            tier="full",
            **self._fields(calls, second=True),
        )
        dtypes = tuple(dtype for dtype in self.dtypes.smooth if is_float(np.dtype(dtype)))
        yield from (twin, replace(twin, name=f"{twin.name}-other", dtypes=dtypes))

    def _sizes(self) -> Iterator[Spec]:
        """The twins of inputs without elements, and with one, for known and unknown shapes."""
        grouped = {
            label: tuple(
                MoveCall((shape,) * self.inputs + ((),) * self.scalars, p)
                for shape, p in zip(each, self.small, strict=True)
            )
            for label, each in self.shapes.items()
        }
        small = {label: recipes.values(calls) for label, calls in grouped.items()}
        spec = Spec(name=self.name, recipes=small, **self._fields(next(iter(grouped.values()))))
        yield from sizes(spec, small)

    def _fed(self, calls: tuple[MoveCall, ...]) -> Spec:
        """The spec of arguments that are inputs, which a graph does not know when it is built. XLA has to know them."""
        promised = promises(self.promise, calls, tuple(p.name for p in self.tensors))
        return Spec(
            name=f"{self.name}-fed",
            ops=self.op,
            program=fed_program(self.call, calls, self.tensors),
            **promised.fields(gradient=self.gradient, rounded=()),
            recipes={"exact": recipes.fed(calls, self.tensors)},
            upstreams={"exact": recipes.whole_upstream} if self._upstreams() else {},
            modes=tuple(mode for mode in self.modes if mode in WITHOUT_XLA),
        )

    def _wrong(self) -> Iterator[Spec]:
        """The specs of arguments that do not fit: an error in every mode."""
        usual = {"when-built": Refused(self.built, WHEN_BUILT), "when-run": Refused(self.run, IN_KERNEL)}
        for label, (calls, promise) in {**usual, **self.refused}.items():
            if calls:
                yield Spec(
                    name=f"{self.name}-refused-{label}",
                    ops=self.op,
                    program=_one_call(self.call, self.tensors),
                    recipes={"plain": _of_shapes},
                    attrs={
                        name: {"shapes": list(map(list, one.shapes)), "parameters": dict(one.parameters)}
                        for name, one in calls.items()
                    },
                    **{"modes": self.modes, **promise},
                )


def moves(name: str, op: str, call: Callable[..., Any], promise: Move | Forward | Back, **fields: Any) -> list[Spec]:
    """The specs of an op that moves elements; the other fields are those of `Moves`."""
    one = promise if isinstance(promise, Forward | Back) else Forward(promise)
    return [*Moves(name=name, op=op, call=call, promise=one, **fields).specs()]


def _of_shapes(draw: Draw, dtype: np.dtype, shapes: Sequence[Sequence[int]]) -> tuple[np.ndarray, ...]:
    """A recipe: plain values in these shapes."""
    return tuple(draw.values(dtype, *shape) for shape in shapes)


def _one_call(call: Callable[..., Any], tensors: Sequence[Parameter]) -> Callable[..., Any]:
    """A program of one call whose arguments are constants; numbers beyond int32 are tensors of int64."""
    dtypes = {p.name: p.dtypes[0] for p in tensors}

    def program(tf: Any, *xs: Any, shapes: Any, parameters: Any) -> Any:
        constants = {}
        for name, dtype in dtypes.items():
            if name in parameters:
                value = np.array(parameters[name], np.int64)
                narrow = value.size == 0 or np.abs(value).max() < 2**31
                constants[name] = tf.constant(value, dtype if narrow else "int64")
        return call(tf, *xs, **{**parameters, **constants})

    return program
