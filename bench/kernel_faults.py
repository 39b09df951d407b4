"""Kernel faults: plants faults that real kernels could have into results, and shows which cases see each of them.

    python -m bench kernel-faults [--tier default|full] [--op OPDEF ...]

Each fault computes the results of an op from the inputs and the attributes of a case. These results take the place of
an observation, and the harness compares them with the promise of each mode, on a device without measured ceilings. A
fault is seen if a comparison differs in a case of the op's own specs. The program fails if a fault is not seen.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from bench.faults import FAULTS
from bench.planter import Fault, Unplantable, gradients, outputs
from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.promises.expectation import Expectation, expectation
from tf_opdiff.harness.judge.promises.reference import ReferenceFault
from tf_opdiff.harness.paths import SUITES
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.lists.tiers import TIERS
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case

#: The most cases that a line shows.
_SHOWN = 3
#: The device whose promises are compared with: no ceiling is measured on it.
_CPU = Device("cpu")


class Subject:
    """A case with its inputs and, for each of its modes, its promises."""

    def __init__(self, case: Case) -> None:
        self.case, self.inputs = case, case.inputs()
        self._expected: dict[str, Expectation] = {}

    def expected(self, mode: str) -> Expectation:
        """The promises in a mode."""
        plan = Plan(_CPU, mode)
        promise = self.case.spec.promise(plan)
        if promise not in self._expected:
            self._expected[promise] = expectation(self.case, self.inputs, self.case.spec.side(plan))
        return self._expected[promise].in_mode(mode)

    @np.errstate(all="ignore")
    def seen(self, fault: Fault) -> list[str]:
        """The modes in which the case sees a fault."""
        found = None if fault.gradient else outputs(self.case, self.inputs, fault)
        return [mode for mode in self._modes(fault) if self._differs(fault, found, mode)]

    def blind(self, fault: Fault, seen: Iterable[str]) -> list[str]:
        """The modes that could have the fault, but do not see it."""
        return [mode for mode in self._modes(fault) if mode not in seen]

    def _modes(self, fault: Fault) -> list[str]:
        return [mode for mode in self.case.spec.modes if mode in fault.modes]

    def _differs(self, fault: Fault, found: Mapping[str, Any] | None, mode: str) -> bool:
        if not found and not fault.gradient:
            return False
        expected = self.expected(mode)
        if fault.gradient:
            found = gradients(self.case, self.inputs, expected.upstreams, fault)
        return any(self._wrong(quantity, value, expected) for quantity, value in (found or {}).items())

    def _wrong(self, quantity: str, value: np.ndarray, expected: Expectation) -> bool:
        want = expected.wants.get(quantity)
        if want is None or want.dtype is None:  # an op with this fault returns a value in place of an error
            return False
        result = Result("value", np.asarray(value).astype(want.dtype))
        return bool(compare(result, want, quantity, inputs=self.inputs).kind)


def seen_in(fault: Fault, subjects: Iterable[Subject]) -> Iterator[str]:
    """The cases that see a fault, each with the modes that do not if some do not."""
    for subject in subjects:
        try:
            modes = subject.seen(fault)
        except (Unplantable, ReferenceFault):
            continue
        if modes:
            blind = subject.blind(fault, modes)
            yield subject.case.id + (f" (not in {', '.join(blind)})" if blind else "")


def subjects_of(op: str, tier: str) -> list[Subject]:
    """The cases that call an OpDef by its name and promise values, up to a tier."""
    runs, specs = TIERS[: TIERS.index(tier) + 1], Catalog.load(SUITES).specs.values()
    by_name = [spec for spec in specs if op in spec.every_op and "called:" not in str(spec.evidence)]
    cases = [case for spec in by_name for case in spec.cases()]
    return [Subject(case) for case in cases if case.spec.tier_in(case.dtype) in runs]


def results(faults: Iterable[Fault], tier: str, most: int = _SHOWN) -> Iterator[tuple[Fault, list[str]]]:
    """Each fault, with the first cases that see it; the faults of one op share its cases."""
    faults = list(faults)
    for op in dict.fromkeys(fault.op for fault in faults):
        subjects = subjects_of(op, tier)
        for fault in faults:
            if fault.op == op:
                found = seen_in(fault, subjects)
                yield fault, [case for case, _ in zip(found, range(most), strict=False)]


def main(arguments: list[str]) -> int:
    """Prints a line for each fault; returns 1 if one is not seen."""
    parser = argparse.ArgumentParser(prog="python -m bench kernel-faults", description=__doc__.splitlines()[0])
    parser.add_argument("--tier", choices=TIERS, default="default", help="the highest tier of the cases")
    parser.add_argument("--op", action="append", help="an OpDef; default: all that have faults")
    parser.add_argument("--most", type=int, default=_SHOWN, help="the most cases that a line shows")
    options = parser.parse_args(arguments)
    faults = [fault for fault in FAULTS if not options.op or fault.op in options.op]
    unseen = 0
    for fault, cases in results(faults, options.tier, options.most):
        unseen += not cases
        print(f"{'seen' if cases else 'NOT SEEN'}  {fault.op}: {fault.says}: {'; '.join(cases) or '-'}", flush=True)
    print(f"{len(faults) - unseen} of {len(faults)} faults are seen in the {options.tier} tier")
    return int(unseen > 0)
