"""AssignVariableOp and AssignSubVariableOp: values that a resource variable gets. Others stand in `programs/`."""

from typing import Any

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.pairs import shaped
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.quantized import WITHOUT_XLA
from tf_opdiff.suites.forms.variables import RESOURCE, final

_DTYPES = (*FLOATS, *COMPLEX, *INTEGERS)
_SHAPES = {"matrix": (3, 5), "one": (1,), "scalar": (), "empty": (0, 3), "batch_of_one": (1, 4, 3)}
_RECIPES = {label: shaped(shape, shape) for label, shape in _SHAPES.items()}
_OF_ALL: dict[str, Any] = {"arguments": ("resource", "value"), "variables": RESOURCE, "recipes": _RECIPES}

SPECS = (
    *op(
        "assign-sub-variable",
        "AssignSubVariableOp",
        reference=final(lambda x, y: x - y),
        dtypes=tiered(_DTYPES, ("float32",)),
        ulp={"output": 0.5},
        **_OF_ALL,
    ),
    *op(
        "assign-variable",
        "AssignVariableOp",
        part(
            "-no-xla",
            recipes={label: recipe for label, recipe in _RECIPES.items() if label != "scalar"},
            dtypes=("object", "int4", "uint4", "int2", "uint2", "float4_e2m1fn"),
            modes=WITHOUT_XLA,
            tier="full",
        ),
        reference=final(lambda x, y: y),
        dtypes=tiered((*_DTYPES, "bool", *FLOAT8_OF_CPU), ("float32",)),
        **_OF_ALL,
    ),
)
