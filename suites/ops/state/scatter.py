"""ScatterAdd to ScatterUpdate: rows of a reference variable, named by indices."""

from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.suites.forms.array_ops.scatter import divided_by_zero, scatter
from tf_opdiff.suites.forms.array_ops.scatter_kinds import SQRT_5, of_complex
from tf_opdiff.suites.forms.errors import IN_KERNEL
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.state.variables import REFERENCE
from tf_opdiff.suites.reference.arrays.scatter import ADD, DIV, MAX, MIN, MUL, SUB, UPDATE

_OF_ALL: dict[str, Any] = {
    "arguments": ("ref", "indices", "updates"),
    "variables": REFERENCE,
    "gradient": False,
    "dtypes": tiered((*FLOATS, *INTEGERS, *COMPLEX), ("float32",)),
}
_EXTREME: dict[str, Any] = _OF_ALL | {
    "dtypes": tiered((*FLOATS, "int32", "int64"), ("float32",)),
    "unsigned_zeros": ("output",),
    "ordinary": ordinary.UPDATES,
}
#: Complex products and quotients have a part of their own.
_OF_REAL = _OF_ALL | {"dtypes": tiered((*FLOATS, *INTEGERS), ("float32",))}

SPECS = (
    *op("scatter-add", "ScatterAdd", scatter(ADD), **_OF_ALL),
    *op(
        "scatter-div",
        "ScatterDiv",
        scatter(DIV),
        of_complex(DIV, units=4),
        divided_by_zero(),
        divided_by_zero("-integers", dtypes=INTEGERS, **IN_KERNEL),
        **_OF_REAL,
    ),
    *op("scatter-max", "ScatterMax", scatter(MAX), **_EXTREME),
    *op("scatter-min", "ScatterMin", scatter(MIN), **_EXTREME),
    *op("scatter-mul", "ScatterMul", scatter(MUL), of_complex(MUL, units=SQRT_5), **_OF_REAL),
    *op("scatter-sub", "ScatterSub", scatter(SUB), **_OF_ALL),
    *op("scatter-update", "ScatterUpdate", scatter(UPDATE), any_dtype=True, **_OF_ALL),
)
