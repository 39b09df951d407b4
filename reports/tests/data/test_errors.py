"""Tests of errors."""

from __future__ import annotations

from pathlib import Path

from tf_opdiff import reports
from tf_opdiff.reports.data.errors import BINS, PROFILE, STEPS


def test_a_run_without_profiles_has_empty_tables_with_the_right_columns(run: Path) -> None:
    bins, histogram = reports.load_errors(run), reports.load_error_histogram(run)
    assert list(bins.columns) == [*PROFILE, *BINS] and list(histogram.columns) == [*PROFILE, *STEPS]
    assert len(bins) == len(histogram) == 0
    assert bins["elements"].dtype == "int64" and bins["max_ulp"].dtype == "float64"
    assert bins["spec"].dtype == "category"
