"""Normalisations over a batch. Errors are those of float32: see `suites.reference.running`."""

from tf_opdiff.suites.forms.calls import Wrong
from tf_opdiff.suites.forms.errors import REMOVED
from tf_opdiff.suites.forms.normalization import Fused, fused
from tf_opdiff.suites.forms.normalization_curvature import gradient_of_gradient, second_order
from tf_opdiff.suites.forms.normalization_gradient import fused_gradient
from tf_opdiff.suites.forms.op import op

_HALVES = ("float16", "bfloat16")
_V1 = Fused(raw="FusedBatchNorm", gradient="FusedBatchNormGrad")
_V2 = Fused(raw="FusedBatchNormV2", gradient="FusedBatchNormGradV2", more=_HALVES)
_V3 = Fused(raw="FusedBatchNormV3", gradient="FusedBatchNormGradV3", more=_HALVES)
_IMAGES, _VECTOR = (1, 2, 2, 3), (3,)


def _removed(op, names):
    """A call of an op that GraphDef no longer has; all its inputs but the images are vectors."""
    attributes = {"variance_epsilon": 0.125, "scale_after_normalization": True}
    shapes = tuple(_IMAGES if name in ("t", "backprop") else _VECTOR for name in names)
    call = Wrong(
        lambda tf, *xs: getattr(tf.raw_ops, op)(**dict(zip(names, xs, strict=True)), **attributes), shapes, REMOVED
    )
    return {"removed": call}


SPECS = (
    *op(
        "batch-norm-with-global-normalization",
        "BatchNormWithGlobalNormalization",
        wrong=_removed("BatchNormWithGlobalNormalization", ("t", "m", "v", "beta", "gamma")),
    ),
    *op(
        "batch-norm-with-global-normalization-grad",
        "BatchNormWithGlobalNormalizationGrad",
        wrong=_removed("BatchNormWithGlobalNormalizationGrad", ("t", "m", "v", "gamma", "backprop")),
    ),
    *fused("fused-batch-norm", _V1),
    *second_order("fused-batch-norm", _V1),
    *fused_gradient("fused-batch-norm-grad", _V1),
    *gradient_of_gradient("fused-batch-norm-grad", _V1),
    *fused_gradient("fused-batch-norm-grad-v2", _V2),
    *gradient_of_gradient("fused-batch-norm-grad-v2", _V2),
    *fused_gradient("fused-batch-norm-grad-v3", _V3),
    *gradient_of_gradient("fused-batch-norm-grad-v3", _V3),
    *fused("fused-batch-norm-v2", _V2),
    *second_order("fused-batch-norm-v2", _V2),
    *fused("fused-batch-norm-v3", _V3),
    *second_order("fused-batch-norm-v3", _V3),
)
