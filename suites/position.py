"""Position: the specs of elementwise families, with their inputs whole and in pieces; see `suites.derived.position`."""

from tf_opdiff.suites import complex
from tf_opdiff.suites.derived.position import positions

_FAMILIES = (complex,)
_ELEMENTWISE = [
    s
    for family in _FAMILIES
    for s in family.SPECS
    if {"bits", "plain", "positive"} & set(s.recipes) or "-subnormal" in s.name
]

SPECS = tuple(twin for spec in _ELEMENTWISE for twin in positions(spec))
