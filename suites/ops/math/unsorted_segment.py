"""UnsortedSegmentMax to UnsortedSegmentSum: rows with ids in any order; those with negative ids are left out.

A segment without rows has 0, 1, the lowest or the highest number, which leaves any other number as it is.
"""

from dataclasses import replace

from tf_opdiff.harness.spec.recipes import COMPLEX, FLOATS
from tf_opdiff.suites.forms.segment_recipes import COUNT
from tf_opdiff.suites.forms.segments import Segments, segments
from tf_opdiff.suites.reference.segments import MAX, MIN, PROD, SUM, highest, lowest

_EITHER = ("output", "grad")
_REAL = (*FLOATS, "int32")
_MAX = Segments(raw="UnsortedSegmentMax", how=replace(MAX, empty=lowest), count=COUNT)
_MIN = Segments(raw="UnsortedSegmentMin", how=replace(MIN, empty=highest), count=COUNT)
_PROD = Segments(raw="UnsortedSegmentProd", how=PROD, count=COUNT)

SPECS = (
    *segments("unsorted-segment-max", _MAX, _REAL, unsigned_zeros=_EITHER),
    *segments("unsorted-segment-min", _MIN, _REAL, unsigned_zeros=_EITHER),
    *segments("unsorted-segment-prod", _PROD, _REAL, unsigned_zeros=("grad",)),
    *segments("unsorted-segment-sum", Segments(raw="UnsortedSegmentSum", how=SUM, count=COUNT), (*_REAL, *COMPLEX)),
)
