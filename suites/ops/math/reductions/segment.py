"""SegmentMax to SegmentSum, whose ids are sorted, and UnsortedSegmentMax to UnsortedSegmentSum.

Unsorted ids may be in any order; rows with negative ids are left out. A segment without rows has 0, or 1 of a product;
an unsorted maximum or minimum has the lowest or the highest number, which leaves any other number as it is.
"""

from dataclasses import replace

from tf_opdiff.harness.spec.inputs.recipes import COMPLEX, FLOATS, INTEGERS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.reductions.segment_recipes import COUNT
from tf_opdiff.suites.forms.reductions.segments import segments
from tf_opdiff.suites.reference.reductions.segments import MAX, MEAN, MIN, PROD, SUM, ends

_EITHER = ("output", "grad")
_REAL = tiered((*FLOATS, *INTEGERS), ("float32",))
_ALL = tiered((*_REAL, *COMPLEX), ("float32",))
_MAX = segments(replace(MAX, empty=lambda dtype: ends(dtype)[0]), COUNT)
_MIN = segments(replace(MIN, empty=lambda dtype: ends(dtype)[1]), COUNT)

SPECS = (
    *op(
        "segment-max",
        "SegmentMax",
        segments(MAX),
        dtypes=_REAL,
        unsigned_zeros=_EITHER,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op("segment-mean", "SegmentMean", segments(MEAN), dtypes=_REAL, ordinary=ordinary.MEAN),
    *op(
        "segment-min",
        "SegmentMin",
        segments(MIN),
        dtypes=_REAL,
        unsigned_zeros=_EITHER,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op(
        "segment-prod",
        "SegmentProd",
        segments(PROD),
        dtypes=_REAL,
        unsigned_zeros=("grad",),
        ordinary=ordinary.OWN_GRADIENT,
    ),
    *op("segment-sum", "SegmentSum", segments(SUM), dtypes=_ALL),
    *op(
        "unsorted-segment-max",
        "UnsortedSegmentMax",
        _MAX,
        dtypes=_REAL,
        unsigned_zeros=_EITHER,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op(
        "unsorted-segment-min",
        "UnsortedSegmentMin",
        _MIN,
        dtypes=_REAL,
        unsigned_zeros=_EITHER,
        ordinary=ordinary.IN_OWN_RECIPES,
    ),
    *op(
        "unsorted-segment-prod",
        "UnsortedSegmentProd",
        segments(PROD, COUNT),
        dtypes=_REAL,
        unsigned_zeros=("grad",),
        ordinary=ordinary.OWN_GRADIENT,
    ),
    *op("unsorted-segment-sum", "UnsortedSegmentSum", segments(SUM, COUNT), dtypes=_ALL),
)
