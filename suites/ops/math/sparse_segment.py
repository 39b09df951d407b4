"""SparseSegmentMean to SparseSegmentSumWithNumSegments, and the ops of their gradients: rows that indices gather."""

from tf_opdiff.harness.spec.recipes import FLOATS
from tf_opdiff.suites.forms.sparse_segments import COUNT, SparseSegments, sparse_segment_gradient, sparse_segments
from tf_opdiff.suites.reference.segments import MEAN, SQRT_N, SUM


def _reduced(name, raw, how):
    """The op that counts segments by the last id, and the op that has their number as an argument."""
    counted = SparseSegments(raw=f"{raw}WithNumSegments", how=how, count=COUNT)
    return (
        *sparse_segments(name, SparseSegments(raw=raw, how=how), FLOATS),
        *sparse_segments(f"{name}-with-num-segments", counted, FLOATS),
    )


def _gradients(name, raw, how):
    """The op of the dense gradient, and that of its rows that are not zero."""
    return (
        *sparse_segment_gradient(f"{name}-grad", f"{raw}Grad", how, FLOATS),
        *sparse_segment_gradient(f"{name}-grad-v2", f"{raw}GradV2", how, FLOATS, unique=True),
    )


SPECS = (
    *_reduced("sparse-segment-mean", "SparseSegmentMean", MEAN),
    *_gradients("sparse-segment-mean", "SparseSegmentMean", MEAN),
    *_reduced("sparse-segment-sqrt-n", "SparseSegmentSqrtN", SQRT_N),
    *_gradients("sparse-segment-sqrt-n", "SparseSegmentSqrtN", SQRT_N),
    *_reduced("sparse-segment-sum", "SparseSegmentSum", SUM),
    *_gradients("sparse-segment-sum", "SparseSegmentSum", SUM),
)
