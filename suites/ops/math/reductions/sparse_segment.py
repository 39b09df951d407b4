"""SparseSegmentMean to SparseSegmentSumWithNumSegments, and the ops of their gradients: rows that indices gather."""

from functools import partial

from tf_opdiff.harness.spec.inputs.recipes import FLOATS, INTEGERS
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.part import tiered
from tf_opdiff.suites.forms.reductions.sparse_segments import COUNT, sparse_segment_gradient, sparse_segments
from tf_opdiff.suites.reference.reductions.segments import MEAN, SQRT_N, SUM

_REAL = tiered(FLOATS)
_NUMBERS = tiered((*FLOATS, *INTEGERS), ("float32",))
counted = partial(sparse_segments, count=COUNT)
gradient, rows = sparse_segment_gradient, partial(sparse_segment_gradient, unique=True)

SPECS = (
    *op("sparse-segment-mean", "SparseSegmentMean", sparse_segments(MEAN), dtypes=_REAL),
    *op("sparse-segment-mean-grad", "SparseSegmentMeanGrad", gradient(MEAN), dtypes=_REAL),
    *op("sparse-segment-mean-grad-v2", "SparseSegmentMeanGradV2", rows(MEAN), dtypes=_REAL),
    *op("sparse-segment-mean-with-num-segments", "SparseSegmentMeanWithNumSegments", counted(MEAN), dtypes=_REAL),
    *op("sparse-segment-sqrt-n", "SparseSegmentSqrtN", sparse_segments(SQRT_N), dtypes=_REAL),
    *op("sparse-segment-sqrt-n-grad", "SparseSegmentSqrtNGrad", gradient(SQRT_N), dtypes=_REAL),
    *op("sparse-segment-sqrt-n-grad-v2", "SparseSegmentSqrtNGradV2", rows(SQRT_N), dtypes=_REAL),
    *op("sparse-segment-sqrt-n-with-num-segments", "SparseSegmentSqrtNWithNumSegments", counted(SQRT_N), dtypes=_REAL),
    *op("sparse-segment-sum", "SparseSegmentSum", sparse_segments(SUM), dtypes=_NUMBERS),
    *op("sparse-segment-sum-grad", "SparseSegmentSumGrad", gradient(SUM), dtypes=_REAL),
    *op("sparse-segment-sum-grad-v2", "SparseSegmentSumGradV2", rows(SUM), dtypes=_REAL),
    *op("sparse-segment-sum-with-num-segments", "SparseSegmentSumWithNumSegments", counted(SUM), dtypes=_NUMBERS),
)
