"""Every spec's inputs can tell right from wrong, and the score notices those that can't."""

import pytest

from harness.catalog import Catalog
from harness.score import score

SPECS = Catalog.load("suites").specs


@pytest.mark.parametrize("name", SPECS)
def test_no_possible_mutant_survives_every_case(name):
    assert score(SPECS[name]).alive == []
