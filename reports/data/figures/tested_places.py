"""Tested places: the plans and dtypes in which each spec of a run was tested."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from tf_opdiff.reports.data.run_data.plans import in_order, plans


class TestedPlaces:
    """The plans and dtypes in which the specs of a run gave a result."""

    __test__ = False  # no test, although its name begins like one

    def __init__(self, records: pd.DataFrame) -> None:
        """Reads the records of a run, as `reports.load` gives them."""
        ran = records.loc[records["verdict"] != "unavailable", ["spec", "device", "mode", "dtype"]]
        places = pd.DataFrame({"spec": ran["spec"], "plan": plans(ran), "dtype": ran["dtype"]})
        self._plans: dict[str, set[str]] = {}
        self._dtypes: dict[str, set[str]] = {}
        for spec, plan, dtype in places.drop_duplicates().astype("str").itertuples(index=False):
            self._plans.setdefault(spec, set()).add(plan)
            self._dtypes.setdefault(spec, set()).add(dtype)

    def plans(self, specs: Iterable[str]) -> list[str]:
        """The plans of some specs together, the CPU first."""
        return in_order(plan for spec in specs for plan in self._plans.get(spec, ()))

    def dtypes(self, specs: Iterable[str]) -> list[str]:
        """The dtypes of some specs together, sorted."""
        return sorted({dtype for spec in specs for dtype in self._dtypes.get(spec, ())})
