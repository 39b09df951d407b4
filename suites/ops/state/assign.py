"""Assign to AssignSub, AssignSubVariableOp and AssignVariableOp: values that variables get. Others: see `programs/`."""

from typing import Any

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.harness.spec.plan import WITHOUT_XLA
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.of_xla import FLOAT8_OF_CPU, of_nibbles
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import calling, part, tiered
from tf_opdiff.suites.forms.recipes.pairs import shaped
from tf_opdiff.suites.forms.state.updates import SIZES, VECTOR
from tf_opdiff.suites.forms.state.variables import REFERENCE, RESOURCE, final

_ALL = (*FLOATS, *COMPLEX, *INTEGERS)
_DTYPES = (*FLOATS, "int16", "int64", "int8", "uint16", "uint32", "uint64", "uint8")
_PARTS = (
    small(SIZES),
    part("-mismatched", lowest_tier=True, reference=raises("ValueError"), recipes={"shapes": shaped((3, 5), (3, 4))}),
)
_REFERENCE: dict[str, Any] = {
    "arguments": ("ref", "value"),
    "variables": REFERENCE,
    "dtypes": tiered((*_DTYPES, *COMPLEX, "int32"), ("float32",)),
    "recipes": VECTOR,
}
_SHAPES = {"matrix": (3, 5), "one": (1,), "scalar": (), "empty": (0, 3), "batch_of_one": (1, 4, 3)}
_RECIPES = {label: shaped(shape, shape) for label, shape in _SHAPES.items()}
_RESOURCE: dict[str, Any] = {"arguments": ("resource", "value"), "variables": RESOURCE, "recipes": _RECIPES}

SPECS = (
    *op(
        "assign",
        "Assign",
        *_PARTS,
        part("-bool", ops="Assign;VariableV2", recipes={"matrix": _RECIPES["matrix"]}, dtypes=("bool",), tier="full"),
        reference=final(lambda x, y: y),
        any_dtype=True,
        **_REFERENCE,
    ),
    *op("assign-add", "AssignAdd", *_PARTS, reference=final(lambda x, y: x + y), **_REFERENCE),
    *op("assign-sub", "AssignSub", *_PARTS, reference=final(lambda x, y: x - y), **_REFERENCE),
    *op(
        "assign-sub-variable",
        "AssignSubVariableOp",
        small(SIZES),
        reference=final(lambda x, y: x - y),
        dtypes=tiered(_ALL, ("float32",)),
        ulp={"output": 0.5},
        **_RESOURCE,
    ),
    *op(
        "assign-variable",
        "AssignVariableOp",
        small(SIZES),
        part(
            "-no-xla",
            recipes={label: recipe for label, recipe in _RECIPES.items() if label != "scalar"},
            dtypes=("object", "int4", "uint4", "int2", "uint2", "float4_e2m1fn"),
            modes=WITHOUT_XLA,
            tier="full",
        ),
        part(
            "-nibble-of-xla",
            **of_nibbles(
                RESOURCE.changing(calling("AssignVariableOp", _RESOURCE["arguments"])),
                final(lambda x, y: y),
                {"scalar": _RECIPES["scalar"]},
            ),
        ),
        reference=final(lambda x, y: y),
        dtypes=tiered((*_ALL, "bool", *FLOAT8_OF_CPU), ("float32",)),
        **_RESOURCE,
    ),
)
