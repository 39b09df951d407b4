"""UnsortedSegmentMax to UnsortedSegmentSum: rows with ids in any order; those with negative ids are left out.

A segment without rows has 0, 1, the lowest or the highest number, which leaves any other number as it is.
"""

from dataclasses import replace

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.segment_recipes import COUNT
from tf_opdiff.suites.forms.segments import segments
from tf_opdiff.suites.reference.segments import MAX, MIN, PROD, SUM, highest, lowest

_EITHER = ("output", "grad")
_REAL = tiered((*FLOATS, "int32"), ("float32",))
_ALL = tiered((*_REAL, *COMPLEX), ("float32",))
_MAX = segments(replace(MAX, empty=lowest), COUNT)
_MIN = segments(replace(MIN, empty=highest), COUNT)

SPECS = (
    *op("unsorted-segment-max", "UnsortedSegmentMax", _MAX, dtypes=_REAL, unsigned_zeros=_EITHER),
    *op("unsorted-segment-min", "UnsortedSegmentMin", _MIN, dtypes=_REAL, unsigned_zeros=_EITHER),
    *op("unsorted-segment-prod", "UnsortedSegmentProd", segments(PROD, COUNT), dtypes=_REAL, unsigned_zeros=("grad",)),
    *op("unsorted-segment-sum", "UnsortedSegmentSum", segments(SUM, COUNT), dtypes=_ALL),
)
