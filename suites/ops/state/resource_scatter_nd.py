"""ResourceScatterNdAdd to ResourceScatterNdUpdate: slices of a resource variable, named by tuples of indices."""

from typing import Any

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.scatter import scatter
from tf_opdiff.suites.forms.variables import RESOURCE
from tf_opdiff.suites.reference.scatter import ADD, MAX, MIN, SUB, UPDATE

_ALL = tiered((*FLOATS, *INTEGERS, *COMPLEX), ("float32",))
_REAL = tiered((*FLOATS, *INTEGERS), ("float32",))
_OF_ALL: dict[str, Any] = {"arguments": ("ref", "indices", "updates"), "variables": RESOURCE, "gradient": False}
_EXTREME = _OF_ALL | {"dtypes": _REAL, "unsigned_zeros": ("output",)}

SPECS = (
    *op("resource-scatter-nd-add", "ResourceScatterNdAdd", scatter(ADD, tuples=True), dtypes=_ALL, **_OF_ALL),
    *op("resource-scatter-nd-max", "ResourceScatterNdMax", scatter(MAX, tuples=True), **_EXTREME),
    *op("resource-scatter-nd-min", "ResourceScatterNdMin", scatter(MIN, tuples=True), **_EXTREME),
    *op("resource-scatter-nd-sub", "ResourceScatterNdSub", scatter(SUB, tuples=True), dtypes=_ALL, **_OF_ALL),
    *op("resource-scatter-nd-update", "ResourceScatterNdUpdate", scatter(UPDATE, tuples=True), dtypes=_ALL, **_OF_ALL),
)
