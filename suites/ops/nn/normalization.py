"""Normalisations over a batch. Errors are those of float32: see `suites.reference.running`."""

from tf_opdiff.suites.forms import ordinary
from tf_opdiff.suites.forms.calls import unfit
from tf_opdiff.suites.forms.errors import REMOVED
from tf_opdiff.suites.forms.normalization import Fused, fused, fused_gradient
from tf_opdiff.suites.forms.op import op

_HALVES = ("float16", "bfloat16")
_V1 = Fused(raw="FusedBatchNorm", gradient="FusedBatchNormGrad")
_V2 = Fused(raw="FusedBatchNormV2", gradient="FusedBatchNormGradV2", more=_HALVES)
_V3 = Fused(raw="FusedBatchNormV3", gradient="FusedBatchNormGradV3", more=_HALVES, reserved=True)
_IMAGES, _VECTOR = (1, 2, 2, 3), (3,)


def _removed(*shapes):
    """The fields of an op that GraphDef no longer has."""
    attributes = {"variance_epsilon": 0.125, "scale_after_normalization": True}
    return {"wrong": {"removed": unfit(*shapes, promise=REMOVED, **attributes)}}


SPECS = (
    *op(
        "batch-norm-with-global-normalization",
        "BatchNormWithGlobalNormalization",
        arguments=("t", "m", "v", "beta", "gamma"),
        **_removed(_IMAGES, *[_VECTOR] * 4),
    ),
    *op(
        "batch-norm-with-global-normalization-grad",
        "BatchNormWithGlobalNormalizationGrad",
        arguments=("t", "m", "v", "gamma", "backprop"),
        **_removed(_IMAGES, *[_VECTOR] * 3, _IMAGES),
    ),
    *op("fused-batch-norm", **fused(_V1), ordinary=ordinary.VARIANCES),
    *op("fused-batch-norm-grad", **fused_gradient(_V1)),
    *op("fused-batch-norm-grad-v2", **fused_gradient(_V2)),
    *op("fused-batch-norm-grad-v3", **fused_gradient(_V3)),
    *op("fused-batch-norm-v2", **fused(_V2), ordinary=ordinary.VARIANCES),
    *op("fused-batch-norm-v3", **fused(_V3), ordinary=ordinary.VARIANCES),
)
