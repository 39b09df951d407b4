"""Search results: the results of plans for some inputs, and their distances from the promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.judge.promises.expectation import Expectation
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.kinds import NO_ANSWER
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case
from tf_opdiff.harness.sweep.searches.search_oracle import distances, promises


@dataclass(eq=False)
class Results:
    """The observations of plans for inputs at points; estimates of the promises are computed when they are needed.

    Attributes:
      points: uint64, the places of the inputs, of shape (n, arguments).
      observations: those of each plan.
      guide: the largest difference between an estimate and the promise, in ULPs, of the inputs that have both.
    """

    case: Case
    inputs: tuple[np.ndarray, ...]
    points: np.ndarray
    observations: dict[Plan, Observation] = field(default_factory=dict)
    guide: float = 0.0
    _estimates: dict[str, tuple[Expectation, bool]] = field(default_factory=dict)

    def run(self, item: Item, plans: Sequence[Plan], servers: Mapping[Device, DeviceServer]) -> None:
        """Runs the inputs under plans."""
        spec, case = item.spec, self.case
        few = tuple(x[:1] for x in self.inputs)
        queues: dict[Device, list[Request]] = {device: [] for device in servers}
        for plan in plans:
            side = spec.contract.get(spec.promise(plan))
            one, _ = promises(case, few, side, estimates=True)
            whole = one.upstreams and self._estimate(plan)[0].upstreams
            request = Request(
                module=item.module,
                spec=spec.name,
                case=case.id,
                dtype=case.dtype,
                mode=plan.mode,
                inputs=self.inputs,
                upstreams=whole or None,
                quantities=tuple(one.wants),
                attrs=case.keywords,
            )
            queues[plan.device].append(request)
        for device, request, observation in run_all(servers, [queues], lambda *_: None):
            self.observations[Plan(device, request.mode)] = observation

    @property
    def lost(self) -> dict[Plan, Observation]:
        """The observations that are a crash or a hang."""
        each = self.observations.items()
        return {plan: o for plan, o in each if any(r.status in NO_ANSWER for r in o.quantities.values())}

    @property
    def quantities(self) -> list[tuple[Plan, str]]:
        """The quantities that have distances, by plan."""
        return [
            (plan, quantity)
            for plan, observation in self.observations.items()
            for quantity, want in self._estimate(plan)[0].wants.items()
            if comparable(observation.quantities.get(quantity), want)
        ]

    def _estimate(self, plan: Plan) -> tuple[Expectation, bool]:
        """The estimated promises for a plan, and whether they are certain."""
        name = self.case.spec.promise(plan)
        if name not in self._estimates:
            side = self.case.spec.contract.get(name)
            self._estimates[name] = promises(self.case, self.inputs, side, estimates=True)
        return self._estimates[name]

    def distances(self, plan: Plan, quantity: str) -> tuple[np.ndarray, Mapping[str, np.ndarray]]:
        """The estimated distances of a quantity in ULPs, and its elements of a wrong class by kind."""
        return distances(quantity, self._value(plan, quantity), self._estimate(plan)[0].wants[quantity])

    def certain(self, plan: Plan, quantity: str, at: np.ndarray) -> np.ndarray:
        """The distances of elements from promises that are computed in wide numbers."""
        estimates, certain = self._estimate(plan)
        got = self._value(plan, quantity)[at]
        guided = distances(quantity, got, _part(estimates.wants[quantity], at))[0]
        if certain:
            return guided
        expected, _ = promises(self.case, tuple(x[at] for x in self.inputs), self.case.spec.side(plan))
        ulps = distances(quantity, got, expected.wants[quantity])[0]
        finite = np.isfinite(ulps) & np.isfinite(guided)
        self.guide = max(self.guide, float(np.abs(ulps[finite] - guided[finite]).max(initial=0.0)))
        return ulps

    def _value(self, plan: Plan, quantity: str) -> np.ndarray:
        value = self.observations[plan].quantities[quantity].value
        assert value is not None
        return value

    def first(self, count: int) -> Self:
        """The results of the first inputs."""

        def cut(result: Result) -> Result:
            whole = result.status == "value" and result.value is not None and len(result.value) == len(self.points)
            return replace(result, value=result.value[:count]) if whole and result.value is not None else result

        observations = {
            plan: replace(o, quantities={q: cut(r) for q, r in o.quantities.items()})
            for plan, o in self.observations.items()
        }
        inputs = tuple(x[:count] for x in self.inputs)
        return type(self)(self.case, inputs, self.points[:count], observations)


def comparable(result: Result | None, want: Want) -> bool:
    """Whether a result is an array of the promised shape and dtype."""
    if result is None or result.status != "value" or result.value is None or want.value is None:
        return False
    return bool(result.value.shape == want.value.shape and result.value.dtype == want.dtype)


def _part(want: Want, at: np.ndarray) -> Any:
    """The promise at some elements."""
    assert want.value is not None
    return replace(want, value=want.value[at])
