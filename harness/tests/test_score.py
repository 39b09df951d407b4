"""Every spec's inputs can tell right from wrong, and the score notices those that can't."""

import numpy as np
import pytest

from harness.catalog import Catalog
from harness.inputs import plain
from harness.score import score
from harness.spec import Spec

SPECS = Catalog.load("suites").specs


@pytest.mark.parametrize("name", SPECS)
def test_no_possible_mutant_survives_every_case(name):
    assert score(SPECS[name]).alive == []


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
    assert ("zeros in output[0]" in found.possible) is bool(np.floor(recipe(_draw(), np.dtype("f4"))[0]).any())


def _draw():
    from harness.inputs import Draw

    return Draw(1)


@pytest.mark.parametrize("bound", [{}, {"output[0]": lambda u, g, x: u * np.abs(x)}], ids=["budget", "bound"])
def test_one_ulp_past_the_budget_is_noticed(bound):
    found = score(floor(plain, ulp={"output": 2}, bound=bound))
    assert (found.alive, found.killed["one ULP past the budget in output[0]"]) == ([], 1)


def test_a_budget_that_hides_every_difference_is_noticed():
    assert score(floor(plain, ulp={"output": 2**25})).alive != []


def test_a_reference_that_ignores_the_upstream_order_is_noticed():
    spec = floor(
        lambda d, t: (np.ones(5, t),), reference=lambda x: x, vjp=lambda g, x: g, bound={"grad[0]": lambda *_: 99.0}
    )
    assert "rolled in grad[0]" in score(spec).alive
