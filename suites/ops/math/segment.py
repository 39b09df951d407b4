"""SegmentMax to SegmentSum: rows with sorted ids. A segment without rows has 0, or 1 of a product."""

from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.suites.forms.segments import Segments, segments
from tf_opdiff.suites.reference.segments import MAX, MEAN, MIN, PROD, SUM

_EITHER = ("output", "grad")

SPECS = (
    *segments("segment-max", Segments(raw="SegmentMax", how=MAX), FLOATS, unsigned_zeros=_EITHER),
    *segments("segment-mean", Segments(raw="SegmentMean", how=MEAN), FLOATS),
    *segments("segment-min", Segments(raw="SegmentMin", how=MIN), FLOATS, unsigned_zeros=_EITHER),
    *segments("segment-prod", Segments(raw="SegmentProd", how=PROD), FLOATS, unsigned_zeros=("grad",)),
    *segments("segment-sum", Segments(raw="SegmentSum", how=SUM), FLOATS),
)
