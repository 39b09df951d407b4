"""Which verdicts fail a run."""

import pytest

from tf_opdiff.harness.store.records.record import VERDICTS, Record


@pytest.mark.parametrize("verdict", VERDICTS)
def test_what_is_not_as_it_should_be_fails(verdict):
    assert Record(verdict=verdict).failing is (verdict in ("mismatch", "stale", "error"))
