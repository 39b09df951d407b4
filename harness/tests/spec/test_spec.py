"""A spec that could never turn red, or names what does not exist, is refused when it is made."""

from dataclasses import fields

import numpy as np
import pytest

from tf_opdiff.harness.spec.inputs.recipes import plain
from tf_opdiff.harness.spec.spec import Claim, Spec, Topic


def made(**more):
    return Spec(**{"name": "x", "program": len, "reference": np.floor, "recipes": {"plain": plain}, "ops": ""} | more)


@pytest.mark.parametrize("ulp", [{}, {"output": 0}, {"grad[1]": 0.5, "jvp": np.float32(2)}, {"hvp": {"bfloat16": 3}}])
def test_a_good_budget_is_accepted(ulp):
    made(ulp=ulp)


@pytest.mark.parametrize("budget", [np.nan, np.inf, -1, -0.5, None, "1", True, 1j, [1], {"float32": np.nan}])
def test_a_budget_that_forgives_everything_or_is_no_number_is_refused(budget):
    with pytest.raises(ValueError, match=r"^spec x: budget of output.*: expected a number of ULPs >= 0, got"):
        made(ulp={"output": budget})


@pytest.mark.parametrize("quantity", ["outptu", "output[a]", "", "output[0][1]", "gradient"])
def test_a_budget_of_an_unknown_quantity_is_refused(quantity):
    for more in ({"ulp": {quantity: 1}}, {"bound": {quantity: lambda u, g, x: u}}):
        with pytest.raises(ValueError, match=r"expected output, grad, jvp or hvp"):
            made(**more)


def test_a_budget_in_an_unknown_dtype_is_refused():
    with pytest.raises(ValueError, match="budget of output: there is no dtype 'flaot32'"):
        made(ulp={"output": {"flaot32": 1}})


def test_a_bound_that_is_no_function_is_refused():
    with pytest.raises(TypeError, match="bound of output: expected a function, got 1"):
        made(bound={"output": 1})


def test_a_claims_budgets_are_held_to_the_same():
    topic = Topic(id="C99", title="Planted", program="floor(x).", origin="nowhere")
    claim = Claim(topic=topic, letter="a", says="It is so.", about=("output",), ulp={"output": np.nan})
    with pytest.raises(ValueError, match="expected a number of ULPs >= 0, got nan"):
        made(claims=(claim,))


def test_a_spec_has_few_fields_and_takes_those_of_its_groups():
    assert len(fields(Spec)) <= 27
    spec = made(vjp=lambda g, x: g, ulp={"output": 2, "grad": 3}, steps=1)
    assert (spec.tolerance.ulps("grad[0]", "float32", "eager"), spec.execution.steps) == (3, 1)
    other = spec.but(vjp=None, ulp={"output": 4})
    assert other.derivatives.vjp is None and other.tolerance.ulp == {"output": 4}
    assert spec.but(tier="full").tolerance is not None and spec.derivatives.vjp is not None
    with pytest.raises(TypeError, match="upl"):
        made(upl={"output": 2})
