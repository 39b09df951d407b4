"""Differences of a reference bound its gradient; where they can't, they say nothing; a wrong gradient is outside."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from tf_opdiff.checking.differences import slopes
from tf_opdiff.checking.slope_check import SlopeCheck
from tf_opdiff.checking.specs import OwnSpec
from tf_opdiff.harness.device.observation import Observation, Result
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case, Spec

ORDINARY = np.linspace(-3, 3, 67)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 1e-38, 0.5, 2.0, 1e30, np.inf, np.nan])
FUNCTIONS: dict[str, tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]] = {
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "sin": (np.sin, np.cos),
    "square": (np.square, lambda x: 2 * x),
    "floor": (np.floor, np.zeros_like),
    "relu": (lambda x: np.maximum(x, 0), lambda x: (x > 0).astype(float)),
    "abs": (np.abs, np.sign),
    "log": (np.log, lambda x: 1 / x),
    "steep": (lambda x: np.exp(10 * x), lambda x: 10 * np.exp(10 * x)),
    "sqrt": (np.sqrt, lambda x: 0.5 / np.sqrt(x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("inputs", [ORDINARY, SPECIAL], ids=["ordinary", "special"])
def test_the_bounds_hold_the_gradient(name: str, inputs: np.ndarray) -> None:
    function, gradient = FUNCTIONS[name]
    with np.errstate(all="ignore"):
        want = 2 * gradient(inputs)
    for one in slopes(function, [inputs], [np.full(inputs.shape, 2.0)], 0):
        slack = 1e-9 * one.scale
        assert one.low - slack <= want[one.index] <= one.high + slack, inputs[one.index]


@pytest.mark.parametrize("name", ["tanh", "sin", "square", "steep"])
def test_the_bounds_of_smooth_functions_are_narrow(name: str) -> None:
    found = slopes(FUNCTIONS[name][0], [ORDINARY], [np.ones(ORDINARY.shape)], 0)
    assert len(found) == len(ORDINARY)
    assert max((one.high - one.low) / (one.scale or 1) for one in found) < 1e-4


def test_each_input_of_a_product_has_its_own_gradient() -> None:
    a, b = ORDINARY[:6].reshape(2, 3), ORDINARY[-12:].reshape(3, 4)
    g = np.linspace(1, 2, 8).reshape(2, 4)
    for number, want in enumerate((g @ b.T, a.T @ g)):
        found = slopes(np.matmul, [a, b], [g], number)
        assert len(found) == want.size
        assert all(abs(one.low - want.reshape(-1)[one.index]) < 1e-6 for one in found)


def test_numbers_of_a_large_input_are_sampled() -> None:
    large = np.linspace(-1, 1, 100_000)
    found = slopes(np.sin, [large], [np.ones(large.shape)], 0)
    assert 1 <= len(found) <= 256 and found[-1].index == len(large) - 1


def test_outputs_without_numbers_hide_no_gradient() -> None:
    both = slopes(lambda x: (np.exp(x), np.log(x)), [np.array([-1.0, 2.0])], [np.ones(2)] * 2, 0)
    assert [one.index for one in both] == []


def added(got: np.ndarray | None, reference: Callable[..., np.ndarray] = np.tanh) -> SlopeCheck:
    """A check of one gradient of the reference; None for one that is not connected."""
    x = ORDINARY.astype(np.float32)
    spec = Spec(name="own", program=lambda tf, x: x, reference=reference, recipes={}, dtypes=("float32",), ops="")
    check = SlopeCheck(reference, Plan(Device("cpu"), "eager"))
    result = Result("unconnected") if got is None else Result("value", got.astype(np.float32))
    case = Case(spec=spec, dtype="float32", recipe="given")
    check.add(case, [x], [np.ones(x.shape, np.float32)], Observation({"grad[0]": result}))
    return check


RIGHT = 1 - np.tanh(ORDINARY) ** 2


def test_a_right_gradient_passes_and_was_tested() -> None:
    check = added(RIGHT)
    assert (check.records, check.untested) == ([], "")


@pytest.mark.parametrize("place", [0, 33, 66])
def test_one_wrong_element_is_found_with_its_input(place: int) -> None:
    wrong = RIGHT.copy()
    wrong[place] += 0.05
    (record,) = added(wrong).records
    assert (record.verdict, record.kind, record.mismatched, record.worst_index) == (
        "mismatch",
        "value",
        1,
        f"[{place}]",
    )
    assert "vjp=" in record.detail


@pytest.mark.parametrize("got", [None, np.zeros(67), np.full(67, np.nan), 2 * RIGHT, -RIGHT])
def test_no_gradient_zeros_nan_and_other_factors_are_found(got: np.ndarray | None) -> None:
    (record,) = added(got).records
    assert record.kind == ("gradient_status" if got is None else "value") and record.mismatched > 60


def test_a_gradient_that_was_not_tested_is_said() -> None:
    check = added(RIGHT, lambda x: np.full(x.shape, np.nan))
    assert "input 0 was not tested" in check.untested and "gradient=False" in check.untested


def test_a_reference_that_fails_gives_no_slopes() -> None:
    def fails(x: np.ndarray) -> np.ndarray:
        import tensorflow

        return tensorflow.tanh(x)

    assert "was not tested" in added(RIGHT, fails).untested and "tensorflow" not in sys.modules


def test_a_given_gradient_or_none_needs_no_differences() -> None:
    spec = Spec(name="own", program=lambda tf, x: x, reference=np.tanh, recipes={}, dtypes=("float32",), ops="")
    plan = Plan(Device("cpu"), "eager")
    assert OwnSpec(spec, {}).slope_check(plan) is None
