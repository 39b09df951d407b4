"""Calls come from a seed, have only values that recipes have, and show a planted fault with its smallest inputs."""

import numpy as np
import pytest

from tf_opdiff.discover.calls import Call, Caller, groups_of
from tf_opdiff.discover.group import NEW
from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.plan import Device

MODULE = "tf_opdiff.harness.tests.discover.planted_specs"


@pytest.fixture(scope="module")
def caller(tmp_path_factory):
    made = Caller(Device("cpu"), tmp_path_factory.mktemp("calls"), Known(), {"tie-loses"}, Catalog.load(MODULE))
    yield made
    made.close()


def test_a_fault_that_no_recipe_shows_is_found_and_shrunk(caller):
    groups = {}
    for seed in range(60):
        groups |= {group.id: group for group in groups_of(caller, seed, groups)}
        if groups:
            break
    ((name, group),) = groups.items()
    assert name.endswith("value-tie-loses-output0") and group.state == NEW
    assert group.call.count("input[0]") <= 1  # one more 2 is enough; none in a larger tensor


def test_a_seed_gives_the_same_call_and_only_values_of_recipes(caller):
    own = {0.0, 1.0, 2.0, 3.0}
    for seed in range(30):
        call = caller.draw(np.random.default_rng(seed))
        assert {*call.inputs[0].ravel().tolist()} <= own
        assert call.inputs[0].shape == call.base[0].shape


def test_a_call_keeps_only_some_of_its_changes(caller):
    (item,) = caller.items
    base, inputs = (np.float32([0, 1, np.nan, 3]),), (np.float32([0, 2, np.nan, -3]),)
    call = Call(item, "", "numbers", base, inputs)
    assert call.changed == [(0, 1), (0, 3)]
    assert call.with_only([(0, 3)]).inputs[0][[0, 1, 3]].tolist() == [0, 1, -3]
