"""Moves: the aspects of an op that puts the elements of its inputs in other places; its promise is a `Moved`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import Draw, is_float
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.harness.spec.spec import Spec
from tf_opdiff.suites.derived.sizes import sizes
from tf_opdiff.suites.forms.array_ops import move_recipes
from tf_opdiff.suites.forms.array_ops.move_recipes import whole
from tf_opdiff.suites.forms.aspects import drawn
from tf_opdiff.suites.forms.calls import Call, Calls, OfAll, Shape, inputs
from tf_opdiff.suites.forms.elementwise.copies import Dtypes
from tf_opdiff.suites.forms.errors import IN_KERNEL, WHEN_BUILT
from tf_opdiff.suites.forms.part import Op, Part, part
from tf_opdiff.suites.forms.recipes.elements import plain
from tf_opdiff.suites.forms.tensor_attrs import Parameter, as_constants, as_inputs
from tf_opdiff.suites.reference.arrays.moves import Back, Constant, Move

#: The shapes of the inputs of three calls, of rank 1 to 3, by recipe.
_SMALL: Mapping[str, Sequence[Shape]] = {
    "empty_first": ((0,), (0, 3), (0, 2, 1)),
    "empty_last": ((0,), (3, 0), (2, 1, 0)),
    "ones": ((1,), (1, 1), (1, 1, 1)),
}


@dataclass(frozen=True)
class Apart:
    """Calls in a program of their own, because TensorFlow fails on them, and the arguments that are tensors.

    `mistake` is the move that TensorFlow makes, if it is known: see `suites.reference.arrays.moves.Moved`.
    """

    calls: Calls
    tensors: tuple[Parameter, ...] = ()
    mistake: Move | None = None


class Refused(NamedTuple):
    """Calls that an op refuses, and the promise of their error as fields of a spec."""

    calls: Calls
    promise: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Moves(Op):
    """The declaration of an op that moves elements: the fields of `Op`, with defaults of recipes, and these.

    dtypes      its dtypes in addition to float32.
    second      not empty if TensorFlow has second order.
    few         the labels of the calls of second order; all of them by default.
    adds        whether a gradient adds several upstreams.
    tensors     the attributes of calls that are tensors.
    apart       calls in programs of their own, by the end of the name of their spec.
    large       a call with many elements.
    small_fed   calls whose inputs have no elements, or one, and whose tensors are inputs too, by recipe.
    built       calls that shape inference refuses, by label.
    run         calls that kernels refuse, by label.
    refused     calls with other errors, by the end of the name of their spec.
    """

    promise: Any = None
    calls: Any = None
    dtypes: Any = field(default_factory=Dtypes)
    second: tuple[str, ...] = ("plain",)
    few: tuple[str, ...] = ()
    adds: bool = False
    tensors: tuple[Parameter, ...] = ()
    apart: Mapping[str, Apart] = field(default_factory=dict)
    large: Call | None = None
    small_fed: Calls = field(default_factory=dict)
    built: Calls = field(default_factory=dict)
    run: Calls = field(default_factory=dict)
    refused: Mapping[str, Refused] = field(default_factory=dict)

    @property
    def of_upstreams(self) -> dict[str, Callable[..., np.ndarray]]:
        """Recipe → upstreams."""
        differentiated = self.gradient and not isinstance(self.promise, Constant)
        return {**move_recipes.upstreams(adds=self.adds)} if differentiated else {}

    @property
    def rounded(self) -> tuple[str, ...]:
        """The families of quantities that are sums."""
        if isinstance(self.promise, Back):
            return ("output", "jvp")
        return (*(("grad",) if self.adds else ()), *(("jvp",) if self.promise.rounds_tangents else ()))

    def part(self, suffix: str, calls: Calls, tensors: Sequence[Parameter] | None = None, **fields: Any) -> Part:
        """A part of float32 in which the tensors of the calls are constants."""
        own = as_constants(calls, self.tensors if tensors is None else tensors, self.called)
        settings = {"rounded": self.rounded, "names": (), "constant": _unvarying(self.promise, own)}
        return part(suffix, calls=own, **{"dtypes": ("float32",), **settings, **fields})


def _unvarying(promise: Any, calls: Calls) -> tuple[str, ...]:
    """The outputs of the calls that do not depend on the elements of the inputs."""
    varying: list[bool] = []
    for one in calls.values():
        xs = [np.zeros(shape) for shape in one.shapes or ()]
        count = promise.varying(*xs, **one.attrs)
        varying += [i < count for i in range(promise.results(*xs, **one.attrs))]
    return tuple(f"output[{i}]" for i, depends in enumerate(varying) if not depends)


def of_ranks(
    *attrs: Mapping[str, Any], inputs: int = 1, scalars: int = 0, shapes: Mapping[str, Sequence[Shape]] = _SMALL
) -> dict[str, Calls]:
    """Recipe → calls with inputs without elements, or with one.

    Args:
      attrs: the attributes of each call; by default, there are calls of rank 1, 2 and 3.
      inputs: the number of inputs, which have one shape.
      scalars: the number of further inputs.
      shapes: recipe → the shape of the inputs of each call.
    """
    return {
        label: {
            str(i): Call(shapes=(shape,) * inputs + ((),) * scalars, attrs=own)
            for i, (shape, own) in enumerate(zip(each, attrs, strict=True))
        }
        for label, each in shapes.items()
    }


def moved(op: Moves) -> Iterable[Spec]:
    """Results and gradients, in all dtypes; many elements, in dtypes of 4 bits."""
    every = tuple(shape for one in op.calls.values() for shape in one.shapes)
    sums = isinstance(op.promise, Back)
    recipes: dict[str, Any] = {"plain": plain, "special": OfAll(move_recipes.special(every, adds=sums))}
    recipes |= {"exact": whole} if sums or op.adds else {}
    recipes |= {"upstreams": plain} if op.of_upstreams else {}
    few = {"plain": inputs(op.calls, plain)}
    of_dtypes = (lambda spec: op.dtypes.twins(spec, few),)
    yield from op.part("", op.calls, recipes=recipes, upstreams=op.of_upstreams, twins=of_dtypes)(op)
    if op.large:
        for spec in op.part("", {"large": op.large}, recipes={"large": plain})(op):
            yield from op.dtypes.of_nibbles(spec)


def apart(op: Moves) -> Iterable[Spec]:
    """Calls on which TensorFlow fails."""
    for label, own in op.apart.items():
        of_exact = {"exact": whole} if op.of_upstreams else {}
        subject = replace(op, promise=replace(op.promise, mistake=own.mistake or op.promise.mistake))
        yield from op.part(f"-{label}", own.calls, own.tensors, recipes={"exact": whole}, upstreams=of_exact)(subject)


def curved(op: Moves) -> Iterable[Spec]:
    """Forward mode, which moves tangents as it moves inputs; second order is unconnected."""
    if op.gradient and op.second and not isinstance(op.promise, Constant):
        floats = tuple(dtype for dtype in op.dtypes.smooth if is_float(np.dtype(dtype)))
        yield from op.part(
            "-second-order",
            {label: op.calls[label] for label in op.few or op.calls},
            recipes={"plain": plain},
            upstreams={label: up for label, up in op.of_upstreams.items() if label == "plain"},
            second_order=True,
            tier="full",
            twins=(lambda spec: (replace(spec, name=f"{spec.name}-other", dtypes=floats),),),
        )(op)


def of_small(op: Moves) -> Iterable[Spec]:
    """Inputs without elements, and with one, for known and unknown shapes."""
    if op.small:
        recipes = drawn(op.small, plain)
        for spec in op.part("", next(iter(recipes.values())).calls, recipes={"plain": plain})(op):
            yield from sizes(spec, recipes)


def fed(op: Moves) -> Iterable[Spec]:
    """Tensors that are inputs, which a graph does not know when it is built. XLA has to know them."""
    modes = tuple(mode for mode in op.fields.get("modes", WITHOUT_XLA) if mode in WITHOUT_XLA)
    fields: dict[str, Any] = {"rounded": (), "names": (), "modes": modes, "dtypes": ("float32",)}

    def calls(of: Calls) -> Calls:
        return as_inputs(of, op.tensors, op.called, op.promise)

    if op.tensors:
        of_exact = {"exact": whole} if op.of_upstreams else {}
        yield from part("-fed", calls=calls(op.calls), recipes={"exact": whole}, upstreams=of_exact, **fields)(op)
    each = {label: calls({label: one}) for label, one in op.small_fed.items()}
    recipes = {label: inputs(own, whole) for label, own in each.items()}
    for own in list(each.values())[:1]:
        for spec in part(calls=own, recipes={"exact": whole}, **fields)(op):
            yield from sizes(spec, recipes)


def wrong(op: Moves) -> Iterator[Spec]:
    """Arguments that do not fit: an error in every mode."""
    usual = {"when-built": Refused(op.built, WHEN_BUILT), "when-run": Refused(op.run, IN_KERNEL)}
    for label, (calls, promise) in {**usual, **op.refused}.items():
        if calls:
            yield from part(
                f"-refused-{label}",
                program=_one_call(op.called, op.tensors),
                recipes={"plain": _of_shapes},
                attrs={
                    name: {"shapes": list(map(list, one.shapes or ())), "parameters": dict(one.attrs)}
                    for name, one in calls.items()
                },
                dtypes=("float32",),
                **promise,
            )(op)


#: The aspects of every op that moves elements.
MOVING = (moved, apart, curved, of_small, fed, wrong)


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
