"""Budget margins: the flat budgets of specs and the largest errors of the atlas.

A sample's largest error is a lower bound of that of the dtype: it proves that a budget is too small, never that one is
too wide.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from tf_opdiff.harness.judge.known_failures.known import Known
from tf_opdiff.harness.spec.catalog import Catalog
from tf_opdiff.harness.spec.quantity import family_of
from tf_opdiff.harness.sweep.measurements.pieces import NORMAL
from tf_opdiff.reports.data.figures.accuracy import modes_text
from tf_opdiff.reports.data.figures.atlas import PLACE

#: The widest budgets as multiples of the largest error. A sweep's gradients have seven upstreams: for another upstream,
#: the same error of the derivative may be up to twice as many ULPs of the product.
WIDEST = {"output": 1.5, "grad": 2.5}
#: The ULPs that a budget may have beyond that. A sweep runs large blocks, in the lanes of vectors. The last elements of
#: a tensor go through scalar code, which rounds to the 16-bit dtype more often: `rsqrt` is 1 ULP off there, not 0.5.
SCALAR = 0.8


@dataclass(frozen=True)
class Margin:
    """The budget of one quantity in a dtype and a mode, and the largest error over the tried inputs but subnormal ones.

    Every `step`-th bit pattern was tried, and `worst` has the largest error. `causes` are those of known failures there
    whose kind is `value`.
    """

    spec: str
    dtype: str
    mode: str
    quantity: str
    step: int
    budget: float
    largest: float
    worst: int
    causes: tuple[str, ...]

    @property
    def exceeded(self) -> bool:
        """Whether the largest error is beyond the budget, and no known failure explains it."""
        return self.largest > self.budget and not self.causes

    @property
    def wide(self) -> bool:
        """Whether all inputs were tried, and the budget is wider than `WIDEST` allows.

        A known failure hides the largest error of the others.
        """
        widest = WIDEST[family_of(self.quantity)] * self.largest + SCALAR
        return self.step == 1 and self.budget > widest and not self.causes

    def __str__(self) -> str:
        place = f"{self.quantity} of {self.spec} in {self.dtype}, {self.mode}"
        least = "" if self.step == 1 else "at least "
        return f"{place}: budget {self.budget:g}, largest error {least}{self.largest:.4g} at {self.worst:#x}"


def margins(atlas: pd.DataFrame, catalog: Catalog, known: Known) -> Iterator[Margin]:
    """The margins of the places of an atlas whose spec has a budget there, and no bound."""
    regular = atlas[atlas["input_class"] != "subnormal"]
    for key, rows in regular.groupby([*PLACE, "same_bits", "tf"], observed=True):
        name, dtype, attrs, device, first, quantity, same_bits, tf = map(str, key)
        spec = catalog.specs.get(name)
        if spec is None or dtype not in spec.dtypes or spec.tolerance.bound_of(quantity) is not None:
            continue
        farthest = int(rows["max_ulp"].to_numpy().argmax())
        for mode in modes_text(first, same_bits).split(", "):
            place = {"spec": name, "dtype": dtype, "attrs": attrs, "recipe": NORMAL, "device": device, "mode": mode}
            entries = known.about({**place, "against": "numpy", "quantity": quantity}, tf)
            causes = tuple(dict.fromkeys(entry.cause.id for _, entry in entries if entry.kind == "value"))
            budget = spec.tolerance.ulps(quantity, dtype, mode)
            largest, worst = max(0.0, float(rows["max_ulp"].iloc[farthest])), int(rows["worst"].iloc[farthest])
            step = int(rows["step"].iloc[0])
            yield Margin(name, dtype, mode, quantity, step, budget, largest, worst, causes)
