"""Every spec's inputs can tell right from wrong, and the score notices those that can't."""

import pytest

from tf_opdiff.harness.judge.mutation import score
from tf_opdiff.harness.spec.catalog import Catalog

SPECS = Catalog.load("tf_opdiff.suites").specs


@pytest.mark.parametrize("name", SPECS)
def test_no_possible_mutant_survives_every_case(name):
    assert score(SPECS[name]).alive == []
