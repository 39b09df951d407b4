"""ScatterNdAdd to ScatterNdUpdate, and ResourceScatterNdAdd to ResourceScatterNdUpdate: slices named by tuples."""

from dataclasses import replace
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.suites.forms.array_ops.scatter import scatter
from tf_opdiff.suites.forms.array_ops.scatter_kinds import of_truth
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.state.variables import REFERENCE, RESOURCE
from tf_opdiff.suites.reference.arrays.scatter import ADD, MAX, MIN, SUB, UPDATE

_REFERENCE: dict[str, Any] = {
    "arguments": ("ref", "indices", "updates"),
    "variables": REFERENCE,
    "gradient": False,
    "dtypes": tiered((*FLOATS, *INTEGERS, *COMPLEX), ("float32",)),
}
_RESOURCE = _REFERENCE | {"variables": RESOURCE}
_MOVED = {"any_dtype": True}
_EXTREME = {
    "dtypes": tiered((*FLOATS, *INTEGERS), ("float32",)),
    "unsigned_zeros": ("output",),
    "ordinary": ordinary.UPDATES,
}
#: The difference of truth values, which C++ computes as integers: whether they differ.
_EITHER = replace(SUB, two=np.logical_xor)

SPECS = (
    *op("resource-scatter-nd-add", "ResourceScatterNdAdd", scatter(ADD, tuples=True), of_truth(ADD), **_RESOURCE),
    *op("resource-scatter-nd-max", "ResourceScatterNdMax", scatter(MAX, tuples=True), **_RESOURCE | _EXTREME),
    *op("resource-scatter-nd-min", "ResourceScatterNdMin", scatter(MIN, tuples=True), **_RESOURCE | _EXTREME),
    *op("resource-scatter-nd-sub", "ResourceScatterNdSub", scatter(SUB, tuples=True), of_truth(_EITHER), **_RESOURCE),
    *op(
        "resource-scatter-nd-update",
        "ResourceScatterNdUpdate",
        scatter(UPDATE, tuples=True),
        any_dtype=True,
        **_RESOURCE,
    ),
    *op("scatter-nd-add", "ScatterNdAdd", scatter(ADD, tuples=True), **_REFERENCE),
    *op("scatter-nd-max", "ScatterNdMax", scatter(MAX, tuples=True), **_REFERENCE | _EXTREME),
    *op("scatter-nd-min", "ScatterNdMin", scatter(MIN, tuples=True), **_REFERENCE | _EXTREME),
    *op("scatter-nd-sub", "ScatterNdSub", scatter(SUB, tuples=True), **_REFERENCE),
    *op("scatter-nd-update", "ScatterNdUpdate", scatter(UPDATE, tuples=True), **_REFERENCE | _MOVED),
)
