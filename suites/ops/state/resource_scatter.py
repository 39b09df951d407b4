"""ResourceScatterAdd to ResourceScatterUpdate: rows of a resource variable, named by indices."""

from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.suites.forms.array_ops.scatter import divided_by_zero, scatter
from tf_opdiff.suites.forms.array_ops.scatter_kinds import SQRT_5, of_complex
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.state.variables import RESOURCE
from tf_opdiff.suites.reference.arrays.scatter import ADD, DIV, MAX, MIN, MUL, SUB, UPDATE

_REAL = (*FLOATS, *INTEGERS)
_OF_ALL: dict[str, Any] = {
    "arguments": ("resource", "indices", "updates"),
    "variables": RESOURCE,
    "gradient": False,
    "dtypes": tiered((*_REAL, *COMPLEX), ("float32",)),
}
_EXTREME: dict[str, Any] = _OF_ALL | {
    "dtypes": tiered(_REAL, ("float32",)),
    "unsigned_zeros": ("output",),
    "ordinary": ordinary.UPDATES,
}
_WITH_TRUTH = _OF_ALL | {"dtypes": tiered((*_REAL, *COMPLEX, "bool"), ("float32",))}
#: Complex products and quotients have a part of their own.
_OF_REAL = _OF_ALL | {"dtypes": tiered(_REAL, ("float32",))}

SPECS = (
    *op("resource-scatter-add", "ResourceScatterAdd", scatter(ADD), **_OF_ALL),
    *op(
        "resource-scatter-div",
        "ResourceScatterDiv",
        scatter(DIV),
        of_complex(DIV, units=4),
        divided_by_zero(),
        divided_by_zero("-integers", dtypes=INTEGERS, **IN_KERNEL),
        **_OF_REAL,
    ),
    *op("resource-scatter-max", "ResourceScatterMax", scatter(MAX), **_EXTREME),
    *op("resource-scatter-min", "ResourceScatterMin", scatter(MIN), **_EXTREME),
    *op("resource-scatter-mul", "ResourceScatterMul", scatter(MUL), of_complex(MUL, units=SQRT_5), **_OF_REAL),
    *op("resource-scatter-sub", "ResourceScatterSub", scatter(SUB), **_OF_ALL),
    *op("resource-scatter-update", "ResourceScatterUpdate", scatter(UPDATE), any_dtype=True, **_WITH_TRUTH),
)
