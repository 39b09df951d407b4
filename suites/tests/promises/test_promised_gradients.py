"""No reference promises that a gradient is an error: a missing gradient is a known failure, or a side of a contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Any

import numpy as np
import pytest

from tf_opdiff.harness.judge.promises.expectation import expectation
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.spec import Raises, Spec
from tf_opdiff.suites.forms.recipes.quarters import MATRIX

SUITES = "tf_opdiff.suites"


def promises(spec: Spec) -> dict[str, Callable[..., Any]]:
    """The promises of a spec about gradients, by field; those of claims are predictions of people."""
    fields = {name: getattr(spec.derivatives, name) for name in ("vjp", "jvp", "hvp")}
    return {} if spec.claims else {name: promise for name, promise in fields.items() if promise}


def may_raise(function: Any, depth: int = 4) -> bool:
    """Whether a function of the suites names `Raises`, itself or through functions and constants that it names."""
    function = getattr(function, "func", function)
    code, names = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    if isinstance(function, Raises) or code is None or not depth:
        return isinstance(function, Raises)
    used = {name: names.get(name) for name in _names(code)}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    ours = [one for one in [*used.values(), *cells] if isinstance(one, Raises) or _is_ours(one)]
    return any(one is Raises for one in used.values()) or any(may_raise(one, depth - 1) for one in ours)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _names(one)


def _is_ours(one: Any) -> bool:
    return callable(one) and str(getattr(one, "__module__", "")).startswith(SUITES)


def promised_errors(spec: Spec) -> list[str]:
    """The quantities of cases of a spec whose gradient is promised as an error, although its output is a value."""
    found = []
    for case in spec.cases():
        with np.errstate(all="ignore"):
            wants = expectation(case, case.inputs(), None).wants
        failing = {quantity for quantity, want in wants.items() if want.raises is not None}
        if not any(quantity.startswith("output") for quantity in failing):
            found += [f"{quantity} of {case.id}" for quantity in sorted(failing)]
    return found


def test_no_reference_promises_an_error_for_a_gradient() -> None:
    specs = Catalog.load(SUITES).specs.values()
    suspects = [spec for spec in specs if any(may_raise(promise) for promise in promises(spec).values())]
    assert [error for spec in suspects for error in promised_errors(spec)] == []


MISSING = Raises("LookupError")


def _refusal(code: str) -> Callable[..., Any]:
    return lambda *arguments: Raises(code)


@pytest.mark.parametrize(
    "promise",
    [
        {"vjp": lambda g, x: Raises("LookupError")},
        {"vjp": lambda g, x: MISSING},
        {"vjp": lambda g, x: Raises("ABORTED") if x[0, 0] else g},
        {"vjp": lambda g, x: g, "jvp": _refusal("LookupError")},
        {"vjp": lambda g, x: g, "hvp": _refusal("LookupError")},
    ],
)
def test_a_planted_error_for_a_gradient_is_noticed(promise: Mapping[str, Callable[..., Any]]) -> None:
    spec = Spec(name="planted", program=lambda tf, x: x, reference=np.abs, recipes=MATRIX, ops="", **promise)  # type: ignore[arg-type]
    assert any(may_raise(one) for one in promises(spec).values())
    assert promised_errors(spec)


def test_an_error_of_the_output_is_an_error_of_its_gradient() -> None:
    refused = _refusal("INVALID_ARGUMENT")
    spec = Spec(name="planted", program=lambda tf, x: x, reference=refused, vjp=refused, recipes=MATRIX, ops="")
    assert promised_errors(spec) == []
