"""The score notices inputs that can't tell right from wrong."""

import numpy as np
import pytest

from tf_opdiff.harness.device.observation import Result
from tf_opdiff.harness.judge.differences.compare import compare
from tf_opdiff.harness.judge.planted_faults.mutants import past
from tf_opdiff.harness.judge.planted_faults.mutation import score
from tf_opdiff.harness.judge.promises.want import Want
from tf_opdiff.harness.spec.inputs.recipes import Draw, plain
from tf_opdiff.harness.spec.spec import Spec


def floor(recipe, **more):
    defaults = {"program": len, "reference": np.floor, "ops": "", "recipes": {"only": recipe}}
    return Spec(name="floor", **defaults | more)


@pytest.mark.parametrize(
    ("recipe", "alive"),
    [
        (lambda d, t: (d.uniform(64, low=0.1, high=0.9).astype(t),), set()),
        (lambda d, t: (np.arange(5).astype(t),), set()),
    ],
)
def test_a_mutant_that_equals_the_truth_is_not_possible(recipe, alive):
    found = score(floor(recipe))
    assert set(found.alive) == alive
    assert ("zeros in output[0]" in found.possible) is bool(np.floor(recipe(Draw(1), np.dtype("f4"))[0]).any())


@pytest.mark.parametrize("bound", [{}, {"output[0]": lambda u, g, x: u * np.abs(np.floor(x))}], ids=["budget", "bound"])
def test_one_ulp_past_the_budget_is_noticed(bound):
    found = score(floor(plain, ulp={"output": 2}, bound=bound))
    assert found.alive == [] and "one ULP past the budget in output[0]" in found.killed


def test_a_budget_that_hides_every_difference_is_noticed():
    assert score(floor(plain, ulp={"output": 2**25})).alive != []


def test_a_reference_that_ignores_the_upstream_order_is_noticed():
    spec = floor(
        lambda d, t: (np.ones(5, t),), reference=lambda x: x, vjp=lambda g, x: g, bound={"grad[0]": lambda *_: 99.0}
    )
    assert "rolled in grad[0]" in score(spec).alive


@pytest.mark.parametrize(
    ("inputs", "alive"), [([0.0, 1.0, 2.0], "NaN to 0"), ([0.0, 0.0, 0.0], "zeros"), ([-1.5, 0.0, 2.5], "")]
)
def test_a_wrong_result_that_is_not_possible_is_not_in_the_score(inputs, alive):
    found = score(floor(lambda d, t: (np.array(inputs, t),)))
    assert found.alive == []
    assert not alive or f"{alive} in output[0]" not in found.possible
    assert f"{'zeros' if any(inputs) else 'ones'} in output[0]" in found.possible


def test_a_mutant_that_no_case_kills_is_alive():
    spec = floor(lambda d, t: (np.array([1.0, 2.0], t),), ulp={"output": 2**25})
    assert "last element in output[0]" in score(spec).alive


@pytest.mark.parametrize(("bound", "steps"), [(None, 3), (np.asarray(5 * 2.0**-23), 6)])
def test_one_ulp_past_is_one_ulp_more_than_is_allowed(bound, steps):
    ones = np.ones(3, np.float32)
    wrong = past(Want("value", ones, ones.dtype, budget=2.0, bound=bound))(Result("value", ones), ()).value
    assert sorted((wrong - 1) * 2.0**23) == [0, 0, steps]


def test_one_ulp_past_is_past_a_promise_that_was_rounded_away_from_it():
    promise = np.full(3, 1 + 0.4 * 2.0**-23)
    want = Want("value", promise, np.dtype("float32"), budget=0.9)
    wrong = past(want)(Result("value", promise.astype("float32")), ())
    assert compare(wrong, want, "output[0]").kind == "value"


def test_a_zero_within_the_budget_of_the_smallest_subnormals_is_no_mutant():
    least = float(np.finfo(np.float32).smallest_subnormal)
    name = "subnormal to 0 in output[0]"
    near = score(floor(lambda d, t: (np.array([least, 3.0], t),), reference=lambda x: x, ulp={"output": 2}))
    far = score(floor(lambda d, t: (np.array([8 * least, 3.0], t),), reference=lambda x: x, ulp={"output": 2}))
    assert name not in near.possible
    assert name in far.killed


def test_a_mutant_is_tried_until_a_case_kills_it():
    recipes = {"small": lambda d, t: (np.ones(3, t),), "large": lambda d, t: (np.full(3, 100, t),)}
    found = score(floor(plain, recipes=recipes, bound={"output[0]": lambda *_: 2.0}))
    assert {"zeros in output[0]", "sign flipped in output[0]"} <= found.possible & found.killed
