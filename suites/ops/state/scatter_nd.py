"""ScatterNdAdd to ScatterNdUpdate: slices of a reference variable, named by tuples of indices."""

from typing import Any

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.scatter import scatter
from tf_opdiff.suites.forms.variables import REFERENCE
from tf_opdiff.suites.reference.scatter import ADD, MAX, MIN, SUB, UPDATE

_ALL = tiered((*FLOATS, *INTEGERS, *COMPLEX), ("float32",))
_REAL = tiered((*FLOATS, *INTEGERS), ("float32",))
_OF_ALL: dict[str, Any] = {"arguments": ("ref", "indices", "updates"), "variables": REFERENCE, "gradient": False}
_EXTREME = _OF_ALL | {"dtypes": _REAL, "unsigned_zeros": ("output",)}

SPECS = (
    *op("scatter-nd-add", "ScatterNdAdd", scatter(ADD, tuples=True), dtypes=_ALL, **_OF_ALL),
    *op("scatter-nd-max", "ScatterNdMax", scatter(MAX, tuples=True), **_EXTREME),
    *op("scatter-nd-min", "ScatterNdMin", scatter(MIN, tuples=True), **_EXTREME),
    *op("scatter-nd-sub", "ScatterNdSub", scatter(SUB, tuples=True), dtypes=_ALL, **_OF_ALL),
    *op("scatter-nd-update", "ScatterNdUpdate", scatter(UPDATE, tuples=True), dtypes=_ALL, **_OF_ALL),
)
