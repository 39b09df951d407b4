"""Several: the promises of several ops, each with its own inputs, as the functions of one spec."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.suites.reference.promises.promise import ROUNDED, Promise, together

Function = Callable[..., Any]


@dataclass(frozen=True)
class Several:
    """The promises of several calls, as functions of one spec.

    promises    the promise of each call.
    counts      the number of inputs of each call.
    attrs       the attributes of each call, which the functions of its promise take as keyword arguments. They also
                take those of a case.
    """

    promises: tuple[Promise, ...]
    counts: tuple[int, ...]
    attrs: tuple[Mapping[str, Any], ...] = ()

    def _attrs(self, n: int) -> dict[str, Any]:
        """The attributes of a call."""
        return dict(self.attrs[n]) if self.attrs else {}

    def _each(self, *values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        """For each call, its promise, its attributes, and its part of each of the values."""
        attrs = [self._attrs(n) for n in range(len(self.promises))]
        return zip(self.promises, attrs, *values, strict=True)

    def fields(
        self,
        *,
        gradient: bool,
        second: bool = False,
        rounded: Collection[str] | None = ROUNDED,
        alternatives: Collection[str] | None = None,
    ) -> dict[str, Any]:
        """The fields of a spec that promise results.

        Args:
          gradient: whether TensorFlow has gradients.
          second: whether the spec promises forward mode and second order.
          rounded: the families of quantities that have bounds; None for those of the first promise.
          alternatives: those that have alternatives, if their promises do; by default those that are rounded, or all
            if the promise says what is rounded.
        """
        if rounded is None:
            rounded, alternatives = self.promises[0].rounded, alternatives or ("output", "grad")
        present = {"output": True, "grad": gradient, "jvp": second, "hvp": second}
        return {
            "reference": self.reference,
            "bound": self._bounds([family for family in rounded if present[family]]),
            "alternatives": self._alternatives(
                [family for family in (rounded if alternatives is None else alternatives) if present[family]]
            ),
            "mistaken": self._mistaken(gradient=gradient),
            **({"vjp": self.vjp} if gradient else {}),
            **({"jvp": self.jvp, "hvp": self.hvp} if second else {}),
        }

    def reference(self, *xs: np.ndarray, **more: Any) -> tuple[np.ndarray, ...]:
        """The results of all calls."""
        each = self._each(self._parts(xs))
        return tuple(y for promise, attrs, own in each for y in together(promise.f(*own, **attrs | more)))

    def vjp(self, gs: Any, *xs: np.ndarray, **more: Any) -> tuple[Any, ...]:
        """The gradients by the inputs of all calls."""
        each = self._each(self._upstreams(gs, xs, more), self._parts(xs))
        return tuple(entry for promise, attrs, g, own in each for entry in promise.vjp(g, *own, **attrs | more))

    def jvp(self, ts: Any, *xs: np.ndarray, **more: Any) -> tuple[Any, ...]:
        """Forward mode of all calls."""
        each = self._each(self._parts(together(ts)), self._parts(xs))
        return tuple(y for promise, attrs, t, own in each for y in together(promise.jvp(t, *own, **attrs | more)))

    def hvp(self, gs: Any, ts: Any, *xs: np.ndarray, **more: Any) -> tuple[Any, ...]:
        """Second order of all calls."""
        upstreams, tangents = self._upstreams(gs, xs, more), self._parts(together(ts))
        each = self._each(upstreams, tangents, self._parts(xs))
        return tuple(entry for promise, attrs, g, t, own in each for entry in promise.hvp(g, t, *own, **attrs | more))

    def _parts(self, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The values that belong to the inputs of each call."""
        ends = np.cumsum((0, *self.counts)).tolist()
        return [tuple(values[start:end]) for start, end in pairwise(ends)]

    def _upstreams(self, gs: Any, xs: Sequence[np.ndarray], more: Mapping[str, Any]) -> list[Any]:
        """The upstream of each call; a tuple of upstreams for a call with more results than one."""
        rest, upstreams = together(gs), []
        for promise, attrs, own in self._each(self._parts(xs)):
            count = promise.results(*own, **attrs | more)
            upstreams.append(rest[0] if count == 1 else rest[:count])
            rest = rest[count:]
        return upstreams

    def _mistaken(self, *, gradient: bool) -> dict[str, Function]:
        """The results and the gradients that TensorFlow computes where promises have a mistake; empty if none has."""
        if not any(promise.mistaken for promise in self.promises):
            return {}
        other = replace(self, promises=tuple(promise.mistaken or promise for promise in self.promises))
        return {"output": other.reference, **({"grad": other.vjp} if gradient else {})}

    def _bounds(self, families: Collection[str]) -> dict[str, Function]:
        """The bounds of the quantities of these families, by name."""
        bounds: dict[str, Function] = {
            "output": self._error,
            "grad": self._grad_error,
            "jvp": self._jvp_error,
            "hvp": self._hvp_error,
        }
        return {name: partial(bounds[family], *place) for family in families for name, place in self._places(family)}

    def _alternatives(self, families: Collection[str]) -> dict[str, Function]:
        """The alternatives of the outputs and gradients that have some, by name."""
        functions: dict[str, Function] = {}
        if "output" in families:
            places = [(name, place) for name, place in self._places("output") if self.promises[place[0]].alternatives]
            functions |= {name: partial(self._others, *place) for name, place in places}
        if "grad" in families:
            places = [
                (name, place) for name, place in self._places("grad") if self.promises[place[0]].grad_alternatives
            ]
            functions |= {name: partial(self._grad_alternatives, *place) for name, place in places}
        return functions

    def _places(self, family: str) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The quantities of a family: a name, and the numbers of a call and of one of its outputs or inputs."""
        outputs = [(n, k) for n, promise in enumerate(self.promises) for k in range(promise.bounded)]
        inputs = [(n, i) for n, count in enumerate(self.counts) for i in range(count)]
        yield from (
            (str(Quantity(family, number)), place)
            for number, place in enumerate(outputs if family in ("output", "jvp") else inputs)
        )

    def _error(self, n: int, k: int, u: float, gs: Any, *xs: Any, **more: Any) -> Any:
        return together(self.promises[n].error(u, *self._parts(xs)[n], **self._attrs(n) | more))[k]

    def _grad_error(self, n: int, i: int, u: float, gs: Any, *xs: Any, **more: Any) -> Any:
        return self.promises[n].grad_error(
            i, u, self._upstreams(gs, xs, more)[n], *self._parts(xs)[n], **self._attrs(n) | more
        )

    def _jvp_error(self, n: int, k: int, u: float, gs: Any, ts: Any, *xs: Any, **more: Any) -> Any:
        tangents = self._parts(together(ts))[n]
        return together(self.promises[n].jvp_error(u, tangents, *self._parts(xs)[n], **self._attrs(n) | more))[k]

    def _hvp_error(self, n: int, i: int, u: float, gs: Any, ts: Any, *xs: Any, **more: Any) -> Any:
        tangents = self._parts(together(ts))[n]
        return self.promises[n].hvp_error(
            i, u, self._upstreams(gs, xs, more)[n], tangents, *self._parts(xs)[n], **self._attrs(n) | more
        )

    def _others(self, n: int, k: int, dtype: Any, gs: Any, *xs: Any, **more: Any) -> Any:
        return self.promises[n].alternatives(dtype, *self._parts(xs)[n], **self._attrs(n) | more)

    def _grad_alternatives(self, n: int, i: int, dtype: Any, gs: Any, *xs: Any, **more: Any) -> Any:
        return self.promises[n].grad_alternatives(
            i, dtype, self._upstreams(gs, xs, more)[n], *self._parts(xs)[n], **self._attrs(n) | more
        )
