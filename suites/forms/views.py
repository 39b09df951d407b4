"""Views: an op of one tensor that one program calls several times, with other keyword arguments each time.

Building a program costs most of the time. So each call, a view, gets its own copy of the input: `output[i]` and
`grad[i]` belong to one view alone, and `Spec.names` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.harness.spec.spec import Recipe

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
        fields: dict[str, Any] = {
            "program": _program(self.call, calls),
            "reference": lambda *xs: tuple(self.f(x, **view) for x, view in zip(xs, calls, strict=True)),
            "names": tuple(views),
        }
        if gradient and self.vjp:
            fields["vjp"] = _of_outputs(self.vjp, calls)
        if second and self.jvp:
            jvp = self.jvp
            fields["jvp"] = lambda ts, *xs: tuple(
                jvp(t, x, **view) for t, x, view in zip(_tuple(ts), xs, calls, strict=True)
            )
        if second and self.hvp:
            hvp = self.hvp
            fields["hvp"] = lambda gs, ts, *xs: tuple(
                hvp(g, t, x, **view) for g, t, x, view in zip(_tuple(gs), _tuple(ts), xs, calls, strict=True)
            )
        return fields | {"bound": self._bounds(calls), "alternatives": self._alternatives(calls)}

    def _bounds(self, calls: Sequence[Mapping[str, Any]]) -> dict[str, Function]:
        """The bounds of all quantities that have one."""
        bounds: dict[str, Function] = {}
        for i, view in enumerate(calls):
            for family, bound in (
                ("output", self.error and partial(_output_bound, self.error)),
                ("grad", self.grad_error and partial(_grad_bound, self.grad_error)),
                ("jvp", self.jvp_error and partial(_jvp_bound, self.jvp_error)),
                ("hvp", self.hvp_error and partial(_hvp_bound, self.hvp_error)),
            ):
                if bound:
                    bounds[str(Quantity(family, i))] = partial(bound, i, view)
        return bounds

    def _alternatives(self, calls: Sequence[Mapping[str, Any]]) -> dict[str, Function]:
        """The alternatives of the outputs and gradients that have some."""
        others: dict[str, Function] = {}
        for i, view in enumerate(calls):
            if self.alternatives:
                others[str(Quantity("output", i))] = partial(_other_outputs, self.alternatives, i, view)
            if self.grad_alternatives:
                others[str(Quantity("grad", i))] = partial(_other_gradients, self.grad_alternatives, i, view)
        return others


def repeated(recipe: Recipe, views: Views) -> Recipe:
    """The recipe's array, once for each view."""
    return lambda draw, dtype: recipe(draw, dtype) * len(views)


def _program(call: Function, calls: tuple[dict[str, Any], ...]) -> Function:
    """A program that makes all calls, each with its own input."""
    return lambda tf, *xs: tuple(call(tf, x, **view) for x, view in zip(xs, calls, strict=True))


def _of_outputs(vjp: Function, calls: Sequence[Mapping[str, Any]]) -> Function:
    return lambda gs, *xs: tuple(vjp(g, x, **view) for g, x, view in zip(_tuple(gs), xs, calls, strict=True))


def _tuple(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


def _output_bound(error: Function, i: int, view: Mapping[str, Any], u: float, gs: Any, *xs: Any) -> Any:
    return error(u, xs[i], **view)


def _grad_bound(error: Function, i: int, view: Mapping[str, Any], u: float, gs: Any, *xs: Any) -> Any:
    return error(u, _tuple(gs)[i], xs[i], **view)


def _jvp_bound(error: Function, i: int, view: Mapping[str, Any], u: float, gs: Any, ts: Any, *xs: Any) -> Any:
    return error(u, _tuple(ts)[i], xs[i], **view)


def _hvp_bound(error: Function, i: int, view: Mapping[str, Any], u: float, gs: Any, ts: Any, *xs: Any) -> Any:
    return error(u, _tuple(gs)[i], _tuple(ts)[i], xs[i], **view)


def _other_outputs(others: Function, i: int, view: Mapping[str, Any], dtype: Any, gs: Any, *xs: Any) -> Any:
    return others(dtype, xs[i], **view)


def _other_gradients(others: Function, i: int, view: Mapping[str, Any], dtype: Any, gs: Any, *xs: Any) -> Any:
    return others(dtype, _tuple(gs)[i], xs[i], **view)
