"""Promises: the result and the gradients of an override in a place, in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.spec import Raises, Sparse
from tf_opdiff.suites.forms.overrides.declaration import Override
from tf_opdiff.suites.forms.overrides.differences import along_ones, second_derivative
from tf_opdiff.suites.forms.overrides.places import ITERATIONS, OUTER


@dataclass(frozen=True)
class Promise:
    """The promise of an override in a place and a mode; equal promises have equal fields.

    applied: whether the gradient is that of the override.
    raises: the promise of an error; None if there is a result.
    taped: whether a tape sees one branch alone, so that the other has no gradient instead of zeros.
    zeros: whether inputs without a gradient have zeros, as in the loop of a graph.
    zeroed: whether an index out of range gives 0, as on a GPU, and not the nearest element, as under XLA.
    nothing: whether the op has no gradient of its own: a Python function takes its place.
    updates: how often the update runs under which the op is made.
    updated: whether the variable of the update has zeros as its gradient instead of none.
    linear: whether the rule is linear in the inputs and acts on each element alone. The rules of the declarations do;
        of others, derivatives are made of differences.
    """

    override: Override
    place: str
    applied: bool = True
    raises: Raises | None = None
    taped: bool = False
    zeros: bool = False
    zeroed: bool = False
    nothing: bool = False
    updates: int = 1
    updated: bool = False
    linear: bool = True

    def shown(self, g: Any, *inputs: Any) -> dict[str, Any]:
        """The quantities by which a program shows whether the override is applied, of the float inputs alone.

        Args:
          g: the upstream, a tuple of them for second order; unused where the program's results are gradients.
          inputs: one array an input.
        """
        values: dict[str, Any] = {}
        if self.place in ("second-order", "forward-mode") or self.place.startswith("fitted"):
            values |= {f"output[{i}]": result for i, result in enumerate(self._results(*inputs))}
        if self.place != "forward-mode" and not self.place.startswith("fitted"):
            values |= {f"grad[{i}]": gradient for i, gradient in enumerate(self._gradients(g, *inputs))}
        return values

    def reference(self, *inputs: Any) -> Any:
        """The results, and the final state if the op is made under an update."""
        if self.raises:
            return self.raises
        results = self._results(*inputs)
        return (*results, {"updates": np.float32(self.updates)}) if self.override.updates else results

    def _results(self, *inputs: Any) -> tuple[Any, ...]:
        if self.place == "second-order" or self.place.startswith("fitted"):
            floats = inputs[: self.override.floats]
            ones = np.ones_like(floats[0])
            rules = self.override.rule(ones, *floats) if self.applied else self._own(ones, *inputs)
            return tuple(np.zeros_like(ones) if r is None else r for r in rules)
        if self.place == "forward-mode":
            return (self._along_ones(*inputs),)
        y = self._forward(*inputs)
        return (ITERATIONS * y if self.place.startswith("loop") else y,)

    def _forward(self, *inputs: Any) -> Any:
        """The result of the op, with an index out of range, too."""
        if not self.override.refused:
            return self.override.numpy(*inputs)
        nearest = np.clip(inputs[-1], 0, len(inputs[0]) - 1)
        y = self.override.numpy(*inputs[:-1], nearest)
        return np.where(nearest == inputs[-1], y, 0) if self.zeroed else y

    def _along_ones(self, *inputs: Any) -> Any:
        """The directional derivative along ones. An op that has one of its own is linear in its float inputs."""
        count = self.override.floats
        ones = [np.ones_like(x) for x in inputs[:count]]
        if self.applied and not self.linear:
            return along_ones(self.override.rule, inputs[:count])
        if self.applied:
            return sum(self.override.rule(ones[0], *inputs[:count]))
        own = self.override.smooth and not self.nothing
        return self._forward(*ones, *inputs[count:]) if own else np.zeros_like(ones[0])

    def vjp(self, g: Any, *inputs: Any) -> tuple[Any, ...]:
        """The gradient of each input, then that of the variable."""
        others = [None] * (len(inputs) - self.override.floats)
        variable = [np.zeros((), np.float32) if self.updated else None] if self.override.updates else []
        return (*self._gradients(g, *inputs), *others, *variable)

    def _gradients(self, g: Any, *inputs: Any) -> list[Any]:
        count = self.override.floats
        upstreams = g[:count] if isinstance(g, tuple) else (g,)
        if self.place == "nested":
            return [OUTER * upstreams[0]] * count
        if self.place == "second-order" and self.applied and not self.linear:
            return second_derivative(self.override.rule, inputs[:count], upstreams)
        if self.place == "second-order":
            rules = self.override.rule(np.ones_like(upstreams[0]), *upstreams)
            return list(rules) if self.applied else [None] * count
        times = ITERATIONS if self.place.startswith("loop") else 1
        if self.applied:
            return [times * rule for rule in self.override.rule(upstreams[0], *inputs[:count])]
        sparse = times == 1 or self.taped  # the gradient of a gather is sparse, except in the loop of a graph
        if self.override.refused and sparse and not self.nothing:
            return [Sparse(np.tile(upstreams[0], times), np.tile(inputs[1], times), inputs[0].shape)]
        return [self._natural(n, times, inputs) for n in self._own(upstreams[0], *inputs)]

    def _own(self, g: Any, *inputs: Any) -> tuple[Any, ...]:
        """The gradients of the float inputs that the op has by itself."""
        return (None,) * self.override.floats if self.nothing else self.override.natural(g, *inputs)

    def _natural(self, gradient: Any, times: int, inputs: tuple[Any, ...]) -> Any:
        """The op's own gradient of one input in this place: None, zeros, sparse or dense."""
        if gradient is not None and self.taped and self.override.branches and not np.any(gradient):
            return None
        if gradient is None:
            return np.zeros_like(inputs[0]) if self.zeros else None
        return times * gradient
