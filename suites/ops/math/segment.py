"""SegmentMax to SegmentSum: rows with sorted ids. A segment without rows has 0, or 1 of a product."""

from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.segments import segments
from tf_opdiff.suites.reference.segments import MAX, MEAN, MIN, PROD, SUM

_EITHER = ("output", "grad")
_REAL = tiered(FLOATS)

SPECS = (
    *op("segment-max", "SegmentMax", segments(MAX), dtypes=_REAL, unsigned_zeros=_EITHER),
    *op("segment-mean", "SegmentMean", segments(MEAN), dtypes=_REAL),
    *op("segment-min", "SegmentMin", segments(MIN), dtypes=_REAL, unsigned_zeros=_EITHER),
    *op("segment-prod", "SegmentProd", segments(PROD), dtypes=_REAL, unsigned_zeros=("grad",)),
    *op("segment-sum", "SegmentSum", segments(SUM), dtypes=_REAL),
)
