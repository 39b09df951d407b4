"""Several: the promises of several ops, each with its own inputs, as the functions of one spec."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.quantity import Quantity
from tf_opdiff.suites.reference.promise import Promise, together

Function = Callable[..., Any]
#: The families of quantities whose elements may be rounded.
ROUNDED = ("output", "grad", "jvp", "hvp")


@dataclass(frozen=True)
class Several:
    """The promises of several calls, as functions of one spec.

    promises    the promise of each call.
    counts      the number of inputs of each call.
    """

    promises: tuple[Promise, ...]
    counts: tuple[int, ...]

    def fields(
        self,
        *,
        gradient: bool,
        second: bool = False,
        rounded: Collection[str] = ROUNDED,
        alternatives: Collection[str] | None = None,
    ) -> dict[str, Any]:
        """The fields of a spec that promise results.

        Args:
          gradient: whether TensorFlow has gradients.
          second: whether the spec promises forward mode and second order.
          rounded: the families of quantities that have bounds.
          alternatives: those that have alternatives, if their promises do; by default those that are rounded.
        """
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

    def reference(self, *xs: np.ndarray) -> tuple[np.ndarray, ...]:
        """The results of all calls."""
        each = zip(self.promises, self._parts(xs), strict=True)
        return tuple(y for promise, own in each for y in together(promise.f(*own)))

    def vjp(self, gs: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        """The gradients by the inputs of all calls."""
        each = zip(self.promises, self._upstreams(gs, xs), self._parts(xs), strict=True)
        return tuple(entry for promise, g, own in each for entry in promise.vjp(g, *own))

    def jvp(self, ts: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        """Forward mode of all calls."""
        each = zip(self.promises, self._parts(together(ts)), self._parts(xs), strict=True)
        return tuple(y for promise, t, own in each for y in together(promise.jvp(t, *own)))

    def hvp(self, gs: Any, ts: Any, *xs: np.ndarray) -> tuple[Any, ...]:
        """Second order of all calls."""
        upstreams, tangents = self._upstreams(gs, xs), self._parts(together(ts))
        each = zip(self.promises, upstreams, tangents, self._parts(xs), strict=True)
        return tuple(entry for promise, g, t, own in each for entry in promise.hvp(g, t, *own))

    def _parts(self, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The values that belong to the inputs of each call."""
        ends = np.cumsum((0, *self.counts)).tolist()
        return [tuple(values[start:end]) for start, end in pairwise(ends)]

    def _upstreams(self, gs: Any, xs: Sequence[np.ndarray]) -> list[Any]:
        """The upstream of each call; a tuple of upstreams for a call with more results than one."""
        rest, upstreams = together(gs), []
        for promise, own in zip(self.promises, self._parts(xs), strict=True):
            count = promise.results(*own)
            upstreams.append(rest[0] if count == 1 else rest[:count])
            rest = rest[count:]
        return upstreams

    def _mistaken(self, *, gradient: bool) -> dict[str, Function]:
        """The results and the gradients that TensorFlow computes where promises have others; empty if none has."""
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
            places = [(name, place) for name, place in self._places("output") if self.promises[place[0]].others]
            functions |= {name: partial(self._others, *place) for name, place in places}
        if "grad" in families:
            places = [(name, place) for name, place in self._places("grad") if self.promises[place[0]].grad_others]
            functions |= {name: partial(self._grad_others, *place) for name, place in places}
        return functions

    def _places(self, family: str) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The quantities of a family: a name, and the number of a call or those of a call and one of its inputs."""
        calls = [(n,) for n in range(len(self.counts))]
        inputs = [(n, i) for n, count in enumerate(self.counts) for i in range(count)]
        places: Sequence[tuple[int, ...]] = calls if family in ("output", "jvp") else inputs
        yield from ((str(Quantity(family, number)), place) for number, place in enumerate(places))

    def _error(self, n: int, u: float, gs: Any, *xs: Any) -> Any:
        return self.promises[n].error(u, *self._parts(xs)[n])

    def _grad_error(self, n: int, i: int, u: float, gs: Any, *xs: Any) -> Any:
        return self.promises[n].grad_error(i, u, self._upstreams(gs, xs)[n], *self._parts(xs)[n])

    def _jvp_error(self, n: int, u: float, gs: Any, ts: Any, *xs: Any) -> Any:
        return self.promises[n].jvp_error(u, self._parts(together(ts))[n], *self._parts(xs)[n])

    def _hvp_error(self, n: int, i: int, u: float, gs: Any, ts: Any, *xs: Any) -> Any:
        tangents = self._parts(together(ts))[n]
        return self.promises[n].hvp_error(i, u, self._upstreams(gs, xs)[n], tangents, *self._parts(xs)[n])

    def _others(self, n: int, dtype: Any, gs: Any, *xs: Any) -> Any:
        return self.promises[n].others(dtype, *self._parts(xs)[n])

    def _grad_others(self, n: int, i: int, dtype: Any, gs: Any, *xs: Any) -> Any:
        return self.promises[n].grad_others(i, dtype, self._upstreams(gs, xs)[n], *self._parts(xs)[n])
