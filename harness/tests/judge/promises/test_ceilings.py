"""Ceilings narrow budgets and bounds, element by element, on the CPU they were measured on."""

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.planted_faults.mutation import score
from tf_opdiff.harness.judge.promises.expectation import expectation, expectations
from tf_opdiff.harness.spec.plan import Device, Plan
from tf_opdiff.harness.spec.spec import Case, Spec
from tf_opdiff.harness.spec.tolerances.by_mode import by_mode
from tf_opdiff.harness.spec.tolerances.ceiling import Ceiling, Steps

X = np.array([2.0**-8, 2.0**-7, 0.25, 1.0, 3.0, 2.0**-130, np.nan, 0.0], np.float32)
SMALL = Steps.parse("-100: 0.8, -4: open")
EAGER, XLA = (Plan(Device.parse("cpu"), mode) for mode in ("eager", "xla"))


def made(ulp=4, **more):
    ceilings = {"output[0]": {"float32": {"eager": Ceiling(SMALL, SMALL)}}}
    recipes = {"some": lambda draw, dtype: (X.astype(dtype),)}
    defaults = {"name": "x", "program": lambda tf, x: tf.identity(x), "reference": lambda x: 3 * x, "ops": "Mul"}
    return Spec(**defaults | {"recipes": recipes, "ulp": {"output": ulp}, "ceilings": ceilings} | more)


def wrong(spec, plan, steps, base=None):
    """The elements that are wrong if each is some steps further from zero."""
    case = Case(spec, spec.dtypes[0], "some")
    wants = {p: e.wants["output[0]"] for p, e in expectations(case, case.inputs(), [EAGER, XLA, plan]).items()}
    want, value = wants[plan], 3 * X
    if base:
        want = wants[plan].from_other(Result("value", value), wants[base])
    for _ in range(steps):
        value = np.where(value == 0, 0, np.nextafter(value, np.float32(np.inf)))
    found = compare(Result("value", value), want, "output[0]")
    return found.mismatched, found.budget


def test_a_ceiling_narrows_the_budget_of_its_inputs_alone():
    assert wrong(made(), EAGER, 1)[0] == 2, "both numbers below 2^-4, not the subnormal one"
    assert wrong(made(), EAGER, 5)[0] == 6, "beyond the budget, too"
    assert wrong(made(), EAGER, 0)[0] == 0


def test_a_ceiling_never_widens_a_budget():
    wide = Ceiling(Steps.parse("-100: 9"), Steps.parse("-100: 9"))
    spec = made(ceilings={"output[0]": {"float32": {"eager": wide}}})
    assert [wrong(spec, EAGER, steps)[0] for steps in (4, 5)] == [0, 6]


@pytest.mark.parametrize("error", [1.0, np.nan])
def test_a_ceiling_narrows_a_bound_and_a_bound_of_nan_still_allows_nothing(error):
    spec = made(ulp=0, bound={"output": lambda u, g, x: error + 0 * x})
    assert wrong(spec, EAGER, 1)[0] == (6 if np.isnan(error) else 2)


def test_a_ceiling_is_that_of_a_family_of_modes_and_of_the_cpu_without_variants():
    assert wrong(made(), XLA, 1)[0] == 0
    for device in ("gpu", "cpu+noonednn"):
        assert wrong(made(), Plan(Device.parse(device), "eager"), 1)[0] == 0


def test_two_plans_may_differ_by_both_ceilings():
    both = {"output[0]": {"float32": dict.fromkeys(("eager", "xla"), Ceiling(SMALL, SMALL))}}
    assert [wrong(made(ceilings=both), XLA, steps, EAGER)[0] for steps in (1, 2)] == [0, 2]
    assert wrong(made(), XLA, 2, EAGER)[0] == 0, "XLA has no ceiling, so there is none for both"


def test_a_subnormal_result_of_a_normal_number_has_no_ceiling():
    always = Ceiling(Steps.parse("-126: 0.8"), Steps.parse("-126: 0.8"))
    quarters = {
        "reference": lambda x: x / 4,
        "recipes": {"some": lambda draw, dtype: (np.array([2.0**-126, 1], dtype),)},
    }
    spec = made(**quarters, ceilings={"output[0]": {"float32": {"eager": always}}})
    case = Case(spec, "float32", "some")
    want = expectations(case, case.inputs(), [EAGER])[EAGER].wants["output[0]"]
    assert list(want.ceiling) == [np.inf, 0.8]


def test_elements_with_several_right_values_have_no_ceiling():
    spec = made(alternatives={"output": lambda dtype, g, x: [np.where(x == X[0], 7.0, 3 * x)]})
    assert wrong(spec, EAGER, 1)[0] == 1


def test_the_allowed_distance_in_a_record_is_that_of_the_element():
    assert wrong(made(), EAGER, 1)[1] == 0.8


def test_the_mutant_past_the_budget_is_an_ulp_past_the_ceiling():
    spec = made(ulp=by_mode(eager=4000, xla=4000))
    assert "one ULP past the budget in output[0] under eager" in score(spec).killed
    case = Case(spec, "float32", "some")
    want = expectation(case, case.inputs(), None).wants["output[0]"].in_mode("eager")
    assert want.allowed(np.ones(8))[0] == 0.8
