"""Views: an op of one tensor that one program calls several times, with other keyword arguments each time.

Building a program costs most of the time. So each call, a view, gets its own copy of the input: `output[i]` and
`grad[i]` belong to one view alone, and `Spec.names` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.spec import Recipe
from tf_opdiff.suites.reference.promise import Promise
from tf_opdiff.suites.reference.several import Several

Function = Callable[..., Any]
#: Label of a view → the keyword arguments of its call.
Views = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class Viewed:
    """What an op of one tensor promises of each call. All functions take the keyword arguments of a view.

    call            call(tf, x, **view) → a tensor.
    f               f(x, **view) → the promised output, as a reference of a spec.
    vjp             vjp(g, x, **view) → the promised gradient; None without gradients.
    jvp             jvp(t, x, **view) → forward mode; None if it is not promised.
    hvp             hvp(g, t, x, **view) → second order; None if it is not promised.
    error           error(u, x, **view) → the largest error of the output; None for an exact one.
    grad_error      grad_error(u, g, x, **view), the same of the gradient.
    jvp_error       jvp_error(u, t, x, **view), the same of forward mode.
    hvp_error       hvp_error(u, g, t, x, **view), the same of second order.
    alternatives    alternatives(dtype, x, **view) → further right outputs; None if there are none.
    grad_alternatives   alternatives(dtype, g, x, **view), the same of gradients.
    """

    call: Function
    f: Function
    vjp: Function | None = None
    jvp: Function | None = None
    hvp: Function | None = None
    error: Function | None = None
    grad_error: Function | None = None
    jvp_error: Function | None = None
    hvp_error: Function | None = None
    alternatives: Function | None = None
    grad_alternatives: Function | None = None

    def fields(self, views: Views, *, gradient: bool = True, second: bool = False) -> dict[str, Any]:
        """The fields of a spec whose program calls the op once for each view.

        Args:
          views: the views, in the order of the outputs.
          gradient: whether the spec has gradients, if the op has them.
          second: whether it has forward mode and second order as well.
        """
        calls = tuple(dict(view) for view in views.values())
        errors = {"output": self.error, "grad": self.grad_error, "jvp": self.jvp_error, "hvp": self.hvp_error}
        several = Several(tuple(_View(self, view) for view in calls), (1,) * len(calls))
        promised = several.fields(
            gradient=gradient and self.vjp is not None,
            second=second and self.jvp is not None,
            rounded=[family for family, error in errors.items() if error],
            alternatives=("output", "grad"),
        )
        return {"program": _program(self.call, calls), "names": tuple(views), **promised}


class _View(Promise):
    """The promise of the call of a view."""

    def __init__(self, op: Viewed, view: Mapping[str, Any]) -> None:
        self._op, self._view = op, view
        self.others = self._of_view if op.alternatives else None
        self.grad_others = self._of_gradients if op.grad_alternatives else None

    def f(self, x: Any) -> Any:
        return self._called(self._op.f, x)

    def vjp(self, g: Any, x: Any) -> tuple[Any]:
        return (self._called(self._op.vjp, g, x),)

    def jvp(self, ts: Any, x: Any) -> Any:
        return self._called(self._op.jvp, *ts, x)

    def hvp(self, g: Any, ts: Any, x: Any) -> tuple[Any]:
        return (self._called(self._op.hvp, g, *ts, x),)

    def error(self, u: float, x: Any) -> Any:
        return self._called(self._op.error, u, x)

    def grad_error(self, i: int, u: float, g: Any, x: Any) -> Any:
        return self._called(self._op.grad_error, u, g, x)

    def jvp_error(self, u: float, ts: Any, x: Any) -> Any:
        return self._called(self._op.jvp_error, u, *ts, x)

    def hvp_error(self, i: int, u: float, g: Any, ts: Any, x: Any) -> Any:
        return self._called(self._op.hvp_error, u, g, *ts, x)

    def _of_view(self, dtype: Any, x: Any) -> Any:
        return self._called(self._op.alternatives, dtype, x)

    def _of_gradients(self, i: int, dtype: Any, g: Any, x: Any) -> Any:
        return self._called(self._op.grad_alternatives, dtype, g, x)

    def _called(self, function: Function | None, *arguments: Any) -> Any:
        """The function of these arguments and of the view's; None without a function."""
        return function(*arguments, **self._view) if function else None


def repeated(recipe: Recipe, views: Views) -> Recipe:
    """The recipe's array, once for each view."""
    return lambda draw, dtype: recipe(draw, dtype) * len(views)


def _program(call: Function, calls: tuple[dict[str, Any], ...]) -> Function:
    """A program that makes all calls, each with its own input."""
    return lambda tf, *xs: tuple(call(tf, x, **view) for x, view in zip(xs, calls, strict=True))
