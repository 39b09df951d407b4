"""Budget: the largest distance in ULPs that a spec or a claim allows, by quantity and, where needed, dtype and mode."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.modes import MODE_FAMILIES
from tf_opdiff.harness.spec.quantity import FAMILIES, family_of, is_quantity
from tf_opdiff.harness.spec.tolerances.by_mode import ByMode, in_mode

#: Quantity or family of quantities → ULPs, or a mapping dtype → ULPs; either may be `ByMode`.
Budgets = Mapping[str, "float | ByMode | Mapping[str, float | ByMode]"]


def check_quantity(name: str) -> None:
    """Refuses a name that is neither a quantity nor a family of quantities.

    Raises:
      ValueError: the name is neither.
    """
    if not is_quantity(name) and name not in FAMILIES:
        raise ValueError(f"quantity {name!r}: expected output, grad, jvp or hvp, and [i] for one of several")


def check_budgets(budgets: Budgets) -> None:
    """Refuses budgets that allow every result, and budgets of unknown quantities or dtypes.

    Raises:
      ValueError: a quantity or a dtype does not exist, or a budget is negative, infinite or not a number.
    """
    for quantity, budget in budgets.items():
        check_quantity(quantity)
        for mode in MODE_FAMILIES:
            _check_budget(quantity, in_mode(budget, mode), mode)


def _check_budget(quantity: str, budget: object, mode: str) -> None:
    """Refuses an invalid budget of a quantity in a mode."""
    by_dtype: Mapping[str, object] = budget if isinstance(budget, Mapping) else {"": budget}
    for dtype, entry in by_dtype.items():
        try:
            np.dtype(dtype or "f4")
        except TypeError as error:
            raise ValueError(f"budget of {quantity}: there is no dtype {dtype!r}") from error
        ulps = in_mode(entry, mode)
        if isinstance(ulps, (bool, np.bool_)) or not isinstance(ulps, Real) or not 0 <= float(ulps) < math.inf:
            where = f"{quantity} in {dtype}" if dtype else quantity
            raise ValueError(f"budget of {where}: expected a number of ULPs >= 0, got {ulps!r}")


def entry_of(mapping: Mapping[str, Any], quantity: str) -> Any:
    """The mapping's entry for a quantity (`grad[1]`), else the entry for its family (`grad`), else None."""
    return mapping.get(quantity, mapping.get(family_of(quantity)))


def ulps_of(budgets: Budgets, quantity: str, dtype: str, mode: str) -> float:
    """The budget of a quantity in a dtype and a mode; 0 without an entry."""
    entry = in_mode(entry_of(budgets, quantity) or 0, mode)
    return float(in_mode(entry.get(dtype, 0), mode) if isinstance(entry, Mapping) else entry)
