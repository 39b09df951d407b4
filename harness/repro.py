"""Repro: one case, run and printed for a person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from harness.catalog import Item
from harness.compare import compare, summary
from harness.devices import DeviceServer, run_all
from harness.expect import Want, expectations
from harness.observation import Result
from harness.plan import Device, Plan
from harness.request import Request
from harness.run import request
from harness.spec import Case


def show(item: Item, case: Case, plans: Sequence[Plan], servers: Mapping[Device, DeviceServer]) -> int:
    """Prints inputs, promises and observations of a case under the given plans; 1 if one differs, else 0.

    Raises:
      ReferenceFault: the case's reference failed.
    """
    inputs = case.inputs()
    print(f"case {case.id}, seed {case.seed:016x}")
    for i, x in enumerate(inputs):
        print(f"input[{i}] {_array(x)}")
    expected = expectations(case, inputs, list(plans))
    requests: dict[Device, list[Request]] = {plan.device: [] for plan in plans}
    for plan in plans:
        requests[plan.device].append(request(item, case, plan, inputs, expected[plan]))
    differs = 0
    for device, asked, seen in run_all(servers, requests, lambda *_: None):
        plan = Plan(device, asked.mode)
        print(
            f"\n{plan}: ran on {seen.ran_on or '?'}, ops {seen.raw_op or '?'}"
            + (f", {seen.fault}" if seen.fault else "")
        )
        for quantity, want in expected[plan].wants.items():
            got = seen.quantities[quantity]
            found = compare(got, want, quantity, budget=case.spec.budget(quantity, case.dtype))
            differs |= bool(found.kind)
            print(f"  {quantity}: {found.kind or 'as promised'}")
            print(f"    got  {_result(got)}\n    want {_want(want)}")
    return int(differs)


def _array(array: np.ndarray) -> str:
    text = np.array2string(array, threshold=200, floatmode="unique")
    return f"{array.dtype.name}{list(array.shape)} {text}".replace("\n", "\n      ")


def _result(result: Result) -> str:
    if result.value is None:
        return f"{summary(result)} {result.message}".strip()
    return f"{result.status} {_array(result.value)}" + (
        "" if result.indices is None else f" at {result.indices.tolist()}"
    )


def _want(want: Want) -> str:
    if want.raises is not None:
        return f"error {want.raises.code} {want.raises.says}".strip()
    return want.status if want.value is None else f"{want.status} {_array(want.value.astype(want.dtype))}"
