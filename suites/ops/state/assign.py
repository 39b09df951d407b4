"""Assign, AssignAdd and AssignSub: values that a reference variable gets. Sums are exact."""

from typing import Any

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS
from tf_opdiff.suites.forms.aspects import small
from tf_opdiff.suites.forms.errors import raises
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.pairs import shaped
from tf_opdiff.suites.forms.part import part, tiered
from tf_opdiff.suites.forms.updates import SIZES, VECTOR
from tf_opdiff.suites.forms.variables import REFERENCE, final

_DTYPES = (*FLOATS, "int16", "int64", "int8", "uint16", "uint32", "uint64", "uint8")
_PARTS = (
    small(SIZES),
    part("-mismatched", lowest_tier=True, reference=raises("ValueError"), recipes={"shapes": shaped((3, 5), (3, 4))}),
)
_OF_ALL: dict[str, Any] = {
    "arguments": ("ref", "value"),
    "variables": REFERENCE,
    "dtypes": tiered(_DTYPES),
    "recipes": VECTOR,
}

SPECS = (
    *op(
        "assign",
        "Assign",
        *_PARTS,
        reference=final(lambda x, y: y),
        **_OF_ALL | {"dtypes": tiered((*_DTYPES, *COMPLEX))},
    ),
    *op("assign-add", "AssignAdd", *_PARTS, reference=final(lambda x, y: x + y), **_OF_ALL),
    *op("assign-sub", "AssignSub", *_PARTS, reference=final(lambda x, y: x - y), **_OF_ALL),
)
