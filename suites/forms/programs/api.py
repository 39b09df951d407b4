"""API: functions of TensorFlow's Python API that are compositions of ops, several of them in one program.

Building a program costs most of the time, so functions that take the same inputs share a program. Each function gets
its own copy of the inputs: `output[i]` and `grad[i]` belong to one function alone, and no function hides another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import SIZE, Draw, filled
from tf_opdiff.harness.spec.spec import Raises, Recipe, Spec
from tf_opdiff.suites.forms.calls import Call as OneOf
from tf_opdiff.suites.forms.calls import fields as promises
from tf_opdiff.suites.reference.promises.promise import Promise, together

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
    ops: str | Mapping[str, str] = "",
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
    each = {str(n): OneOf(promise=_Promise(part), shapes=((),) * arguments) for n, part in enumerate(parts)}
    promised = promises(each, gradient=_differentiated(parts))
    owners = {f"output[{n}]": part for n, part in enumerate(part for part in parts for _ in range(part.outputs))}
    movers = {f"grad[{n}]": part for n, part in enumerate(part for part in parts for _ in range(arguments))}
    budgets = {q: part.ulp for q, part in owners.items()} | {q: part.grad_ulp for q, part in movers.items()}
    exact = {q for q, part in owners.items() if not part.error} | {q for q, p in movers.items() if not p.grad_error}
    shared = {
        **promised,
        "names": (),
        "program": _program(tuple(part.program for part in parts), arguments),
        "reference": partial(_or_error, promised["reference"]),
        "ulp": {quantity: ulp for quantity, ulp in budgets.items() if ulp},
        "bound": {quantity: bound for quantity, bound in promised["bound"].items() if quantity not in exact},
        "unsigned_zeros": ("grad", *(quantity for quantity, part in owners.items() if not part.signed)),
        "recipes": {label: _repeated(recipe, len(parts)) for label, recipe in recipes.items()},
        "ops": ops,
        "evidence": ";".join(dict.fromkeys(f"called:{part.name}" for part in parts if part.name)),
    }
    spec = Spec(name=name, **shared | fields)
    full = fields | {"dtypes": tuple(more), "tier": "full"}
    return (spec, *([Spec(name=f"{name}-full", **shared | full)] if more else []))


class _Promise(Promise):
    """The promise of one function's documentation."""

    def __init__(self, call: Call) -> None:
        self.call, self.bounded = call, call.outputs

    def f(self, *xs: Any) -> Any:
        return self.call.reference(*xs)

    def vjp(self, g: Any, *xs: Any) -> tuple[Any, ...]:
        assert self.call.vjp
        return together(self.call.vjp(g, *xs))

    def error(self, u: float, *xs: Any) -> Any:
        assert self.call.error
        return self.call.error(u, *xs)

    def grad_error(self, i: int, u: float, g: Any, *xs: Any) -> Any:
        assert self.call.grad_error
        return together(self.call.grad_error(u, g, *xs))[i]


def _program(functions: tuple[Function, ...], arguments: int) -> Function:  # recordings know this text
    def program(tf: Any, *xs: Any) -> Any:
        outputs: list[Any] = []
        for i, function in enumerate(functions):
            y = function(tf, *xs[i * arguments : (i + 1) * arguments])
            outputs += y if isinstance(y, (tuple, list)) else [y]
        return tuple(outputs)

    return program


def _differentiated(parts: Sequence[Call]) -> bool:
    """Whether the calls have gradients.

    Raises:
      ValueError: some calls have a gradient, and some do not.
    """
    lacking = [part.name for part in parts if not part.vjp]
    if 0 < len(lacking) < len(parts):
        raise ValueError(f"{', '.join(lacking)}: expected a vjp, because other calls of the program have one")
    return not lacking


def _or_error(reference: Function, *xs: np.ndarray) -> Any:
    """The outputs of every call; an error of one call is the error of the program."""
    outputs = reference(*xs)
    return next((y for y in outputs if isinstance(y, Raises)), outputs)


def _repeated(recipe: Recipe, count: int) -> Recipe:
    """The recipe's arrays, once for each call."""
    return lambda draw, dtype: recipe(draw, dtype) * count


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
