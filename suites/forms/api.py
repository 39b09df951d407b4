"""API: functions of TensorFlow's Python API that are compositions of ops, several of them in one program.

Building a program costs most of the time, so functions that take the same inputs share a program. Each function gets
its own copy of the inputs: `output[i]` and `grad[i]` belong to one function alone, and no function hides another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.harness.spec.recipes import SIZE, Draw, filled
from tf_opdiff.harness.spec.spec import Raises, Recipe, Spec

Function = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call of one function of the Python API, and the promise of the function's documentation.

    name         the function's path in the module `tf`, such as `nn.gelu`; the run proves that it was called. An
                 operator has no path, and its name is empty.
    program      program(tf, *inputs) → a tensor, or a tuple of `outputs` tensors.
    reference    reference(*inputs) → an array, or a tuple of arrays.
    vjp          vjp(g, *inputs) → an entry for each input, as of a spec; None without a gradient.
    ulp          the budget of the outputs, in ULPs.
    grad_ulp     the budget of the gradients.
    error        error(u, *inputs) → the largest allowed absolute error of the output; for several outputs, a tuple.
    grad_error   grad_error(u, g, *inputs) → the same of the gradients; for several inputs, a tuple.
    outputs      the number of outputs.
    signed       whether the sign of a zero in the outputs is promised.
    """

    name: str
    program: Function
    reference: Function
    vjp: Function | None = None
    ulp: float = 0.0
    grad_ulp: float = 0.0
    error: Function | None = None
    grad_error: Function | None = None
    outputs: int = 1
    signed: bool = True


def calls(
    name: str,
    *parts: Call,
    recipes: Mapping[str, Recipe],
    arguments: int = 1,
    ops: str = "",
    more: Sequence[str] = (),
    **fields: Any,
) -> tuple[Spec, ...]:
    """The specs of a program that calls several functions: `NAME`, and `NAME-full` in the full tier.

    Args:
      name: the name of the spec.
      parts: the calls, in the order of the outputs.
      recipes: as of a spec; each call gets the same `arguments` arrays.
      arguments: the number of inputs of each call.
      ops: as of a spec.
      more: the dtypes that only the full tier tries.
      fields: further fields of the spec.
    """
    batch = _Batch(parts, arguments)
    shared = {
        "program": batch.program,
        "reference": batch.reference,
        "vjp": batch.vjp,
        "ulp": batch.budgets(),
        "bound": batch.bounds(),
        "unsigned_zeros": ("grad", *batch.unsigned()),
        "recipes": {label: batch.repeated(recipe) for label, recipe in recipes.items()},
        "ops": ops,
        "evidence": ";".join(dict.fromkeys(f"called:{part.name}" for part in parts if part.name)),
    }
    spec = Spec(name=name, **shared | fields)
    full = fields | {"dtypes": tuple(more), "tier": "full"}
    return (spec, *([Spec(name=f"{name}-full", **shared | full)] if more else []))


class _Batch:
    """Several calls as the functions of one spec."""

    def __init__(self, parts: Sequence[Call], arguments: int) -> None:
        self.parts, self.arguments = tuple(parts), arguments
        #: For each call: the numbers of its inputs, and the numbers of its outputs.
        self.inputs = [range(i * arguments, (i + 1) * arguments) for i in range(len(parts))]
        ends = np.cumsum([part.outputs for part in parts]).tolist()
        self.outputs = [range(end - part.outputs, end) for end, part in zip(ends, parts, strict=True)]

    @property
    def program(self) -> Function:
        """The program that calls every function with its own inputs."""
        return _program(tuple(part.program for part in self.parts), self.arguments)

    def reference(self, *xs: np.ndarray) -> Any:
        """The outputs of every call; an error of one call is the error of the program."""
        pairs = zip(self.parts, self.inputs, strict=True)
        outputs = tuple(y for part, own in pairs for y in _tuple(part.reference(*(xs[i] for i in own))))
        return next((y for y in outputs if isinstance(y, Raises)), outputs)

    @property
    def vjp(self) -> Function | None:
        """The gradients of every call; None if no call has one.

        Raises:
          ValueError: some calls have a gradient, and some do not.
        """
        if not any(part.vjp for part in self.parts):
            return None
        if lacking := [part.name for part in self.parts if not part.vjp]:
            raise ValueError(f"{', '.join(lacking)}: expected a vjp, because other calls of the program have one")

        def vjp(g: Any, *xs: np.ndarray) -> tuple[Any, ...]:
            gs = _tuple(g)
            return tuple(
                entry
                for part, own, outs in zip(self.parts, self.inputs, self.outputs, strict=True)
                if part.vjp
                for entry in _tuple(part.vjp(_single(gs, outs), *(xs[i] for i in own)))
            )

        return vjp

    def budgets(self) -> dict[str, float]:
        """The budgets of the outputs and gradients that have one."""
        outputs = {_name("output", n): p.ulp for p, own in zip(self.parts, self.outputs, strict=True) for n in own}
        grads = {_name("grad", n): p.grad_ulp for p, own in zip(self.parts, self.inputs, strict=True) for n in own}
        return {quantity: ulp for quantity, ulp in (outputs | grads).items() if ulp}

    def bounds(self) -> dict[str, Function]:
        """The bounds of the outputs and gradients that have one."""
        bounds: dict[str, Function] = {}
        for part, own, outs in zip(self.parts, self.inputs, self.outputs, strict=True):
            for place, n in enumerate(outs if part.error else ()):
                bounds[_name("output", n)] = _output_bound(part, own, place)
            for place, n in enumerate(own if part.grad_error else ()):
                bounds[_name("grad", n)] = _grad_bound(part, own, outs, place)
        return bounds

    def unsigned(self) -> tuple[str, ...]:
        """The outputs in which zeros of either sign are right."""
        pairs = zip(self.parts, self.outputs, strict=True)
        return tuple(_name("output", n) for part, outs in pairs if not part.signed for n in outs)

    def repeated(self, recipe: Recipe) -> Recipe:
        """The recipe's arrays, once for each call."""
        return lambda draw, dtype: recipe(draw, dtype) * len(self.parts)


def _name(family: str, number: int) -> str:
    return str(Quantity(family, number))


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _single(values: Sequence[Any], numbers: range) -> Any:
    """The values of these numbers: a tuple, or the value itself if there is one number."""
    chosen = tuple(values[n] for n in numbers)
    return chosen if len(chosen) > 1 else chosen[0]


def _program(functions: tuple[Function, ...], arguments: int) -> Function:
    def program(tf: Any, *xs: Any) -> Any:
        outputs: list[Any] = []
        for i, function in enumerate(functions):
            y = function(tf, *xs[i * arguments : (i + 1) * arguments])
            outputs += y if isinstance(y, (tuple, list)) else [y]
        return tuple(outputs)

    return program


def _output_bound(part: Call, own: range, place: int) -> Function:
    def bound(u: float, _: Any, *xs: np.ndarray) -> Any:
        assert part.error
        return _tuple(part.error(u, *(xs[i] for i in own)))[place]

    return bound


def _grad_bound(part: Call, own: range, outs: range, place: int) -> Function:
    def bound(u: float, g: Any, *xs: np.ndarray) -> Any:
        assert part.grad_error
        return _tuple(part.grad_error(u, _single(_tuple(g), outs), *(xs[i] for i in own)))[place]

    return bound


def elementwise(
    name: str,
    program: Function,
    f: Function,
    df: Function,
    *,
    error: Function | None = None,
    grad_error: Function | None = None,
    **fields: Any,
) -> Call:
    """A call of a smooth function of one tensor, element by element.

    Args:
      name: as of a call.
      program: as of a call.
      f: the function, of arrays.
      df: its derivative.
      error: error(u, x) as of a call.
      grad_error: slope_error(u, x) → the largest error of the derivative; the gradient's is |g| times that.
      fields: further fields of the call.
    """

    def bound(u: float, g: Any, x: np.ndarray) -> Any:
        assert grad_error
        return np.abs(g) * grad_error(u, x)

    return Call(
        name=name,
        program=program,
        reference=f,
        vjp=lambda g, x: g * df(x),
        error=error,
        grad_error=bound if grad_error else None,
        **fields,
    )


def relative(f: Function, units: float) -> Function:
    """The bound units × u × |f(*inputs)|."""
    return lambda u, *xs: units * u * np.abs(f(*xs))


def fixed(*values: float) -> Recipe:
    """A recipe of one input: these values, repeated up to the size of the other recipes."""
    return lambda draw, dtype: (filled(values, dtype),)


def special(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """NaN, infinities, zeros of both signs, the largest number, and one near the smallest normal number."""
    return (_special(dtype, float(ml_dtypes.finfo(dtype).max)),)


def large(draw: Draw, dtype: np.dtype) -> tuple[np.ndarray, ...]:
    """As `special`, but with a number whose square overflows and whose reciprocal is normal as the largest number."""
    return (_special(dtype, 2.0 ** int(0.6 * ml_dtypes.finfo(dtype).maxexp)),)


def _special(dtype: np.dtype, top: float) -> np.ndarray:
    least = 16 * float(ml_dtypes.finfo(dtype).smallest_normal)
    return filled([0.0, np.nan, 1.0, np.inf, -0.0, -1.0, -np.inf, top, -top, least, -least, 0.5], dtype)


def within(low: float, high: float, size: int = SIZE) -> Recipe:
    """A recipe of one input: values all over an interval."""
    return lambda draw, dtype: (draw.uniform(size, low=low, high=high).astype(dtype),)
