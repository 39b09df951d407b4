"""Running case: a case while it runs, with its inputs, its promises and its observations so far."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from tf_opdiff.harness.device.observation import Observation
from tf_opdiff.harness.device.pool import run_all
from tf_opdiff.harness.device.processes.server_handle import DeviceServer
from tf_opdiff.harness.device.repeat import self_checks_of
from tf_opdiff.harness.device.request import Request
from tf_opdiff.harness.judge.promises import reference
from tf_opdiff.harness.judge.promises.expectation import Expectation, expectations
from tf_opdiff.harness.judge.promises.promise_cache import PromiseCache
from tf_opdiff.harness.judge.verdicts import claim
from tf_opdiff.harness.judge.verdicts.blame import Blame
from tf_opdiff.harness.judge.verdicts.trial import Trial
from tf_opdiff.harness.spec.catalog import Item
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case


@dataclass
class RunningCase:
    """A case of an item, while it runs under several plans.

    Attributes:
      inputs: one array an input.
      claims: the predictions of each claim of the spec.
      expected: the expectation under each plan that is still to run.
      observations: the observation of each plan that has run.
      differing: the plans whose observation differs from their promise.
      known_wrong: for each of these plans and each quantity, the elements that are known to differ.
      failing: whether a record of the case fails the run.
      plans: all plans of the case.
    """

    item: Item
    case: Case
    inputs: tuple[np.ndarray, ...]
    claims: claim.Promises
    expected: dict[Plan, Expectation]
    observations: dict[Plan, Observation] = field(default_factory=dict)
    differing: set[Plan] = field(default_factory=set)
    known_wrong: dict[Plan, dict[str, np.ndarray | bool]] = field(default_factory=dict)
    failing: bool = False
    plans: Sequence[Plan] = ()
    _blame: dict[str, Blame] = field(default_factory=dict)

    @classmethod
    def of(cls, item: Item, case: Case, plans: Sequence[Plan], cache: PromiseCache | None = None) -> Self:
        """The case before its first run under these plans; `cache` may know it from an earlier run.

        Raises:
          ReferenceFault: the recipe, the reference or the prediction of a claim failed.
        """
        if cache is None:
            return cls._computed(item, case, plans)
        return cache.computed_or_read(cache.key(item.module, case, plans), lambda: cls._computed(item, case, plans))

    @classmethod
    def _computed(cls, item: Item, case: Case, plans: Sequence[Plan]) -> Self:
        inputs = reference.inputs(case)
        claims = claim.predictions(case, inputs)
        return cls(item, case, inputs, claims, expectations(case, inputs, list(plans)), plans=plans)

    def differs_from(self, cache: PromiseCache) -> bool:
        """Whether the inputs or promises in the cache, with which the case may have run, differ from fresh ones."""
        item, case, plans = self.item, self.case, self.plans
        return cache.differs(cache.key(item.module, case, plans), lambda: self._computed(item, case, plans))

    def request(self, plan: Plan) -> Request:
        """The request to a device server that runs the case under a plan."""
        expected = self.expected[plan]
        return Request(
            module=self.item.module,
            spec=self.item.spec.name,
            case=self.case.id,
            dtype=self.case.dtype,
            mode=plan.mode,
            inputs=self.inputs,
            upstreams=expected.upstreams,
            quantities=tuple(expected.wants),
            state=expected.state,
            tangents=expected.tangents,
            again=self_checks_of(self.case.spec, self.inputs),
            attrs=self.case.keywords,
        )

    def run(self, plans: Iterable[Plan], servers: Mapping[Device, DeviceServer]) -> Iterator[Plan]:
        """Runs the case under plans; yields each plan when `observations` has its observation."""
        requests: dict[Device, list[Request]] = {}
        for plan in plans:
            requests.setdefault(plan.device, []).append(self.request(plan))
        for device, request, observation in run_all(servers, [requests], lambda *_: None):
            plan = Plan(device, request.mode)
            self.observations[plan] = observation
            yield plan

    def trial(self, plan: Plan) -> Trial:
        """The trial of a plan that has run."""
        expected = self.expected[plan]
        if expected.promise not in self._blame:
            side = self.case.spec.side(plan)
            self._blame[expected.promise] = Blame(self.case, self.inputs, expected.upstreams, side)
        observation, blame = self.observations[plan], self._blame[expected.promise]
        return Trial(self.item.suite, self.case, plan, observation, self.inputs, expected.upstreams or (), blame)

    @property
    def complete(self) -> bool:
        """Whether every plan has run."""
        return len(self.observations) == len(self.expected)

    def excused(self, plan: Plan, base: Plan) -> dict[str, np.ndarray | bool]:
        """For each quantity, the elements that a plan or its base is known to get wrong; see `known_wrong`."""
        ours, theirs = (self.known_wrong.get(one, {}) for one in (plan, base))
        quantities = {*self.expected[plan].wants, *self.observations[plan].quantities}
        return {q: _either(ours.get(q, False), theirs.get(q, False)) for q in quantities}

    def bases(self) -> Iterator[tuple[Plan, Plan]]:
        """Each plan with its base: the first plan that makes the same promise and has the kernel.

        A plan that agrees with its promise comes before one that differs: so the outlier is reported. The first plan
        without a promised result has the first plan of another promise as its base, so that a record shows where the
        two differ. A plan that lacks the kernel, or whose run proves nothing, has itself as its base.
        """
        bases: list[Plan] = []
        for plan in sorted(self.expected, key=lambda plan: plan in self.differing):
            observation, expected = self.observations[plan], self.expected[plan]
            base = next((base for base in bases if self.expected[base].promise == expected.promise), None)
            if observation.lacking or observation.fault:
                base = plan
            elif base is None:
                unpromised = all(want.undocumented for want in expected.wants.values())
                base = bases[0] if bases and unpromised else plan
                bases.append(plan)
            yield plan, base


def _either(mask: np.ndarray | bool, other: np.ndarray | bool) -> np.ndarray | bool:
    """The elements of either mask. Masks of different shapes have no element in common; then `mask` counts alone."""
    if mask is True or other is True:
        return True
    masks = [one for one in (mask, other) if isinstance(one, np.ndarray)]
    if len(masks) == 2 and masks[0].shape == masks[1].shape:
        return np.asarray(masks[0] | masks[1])
    return masks[0] if masks else False
