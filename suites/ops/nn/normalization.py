"""Normalisations over a batch. Errors are those of float32: see `suites.reference.running`."""

from tf_opdiff.suites.forms.calls import unfit
from tf_opdiff.suites.forms.errors import REMOVED
from tf_opdiff.suites.forms.normalization import Fused, fused, fused_gradient
from tf_opdiff.suites.forms.op import op

_HALVES = ("float16", "bfloat16")
_V1 = Fused(raw="FusedBatchNorm", gradient="FusedBatchNormGrad")
_V2 = Fused(raw="FusedBatchNormV2", gradient="FusedBatchNormGradV2", more=_HALVES)
_V3 = Fused(raw="FusedBatchNormV3", gradient="FusedBatchNormGradV3", more=_HALVES, reserved=True)
_IMAGES, _VECTOR = (1, 2, 2, 3), (3,)


def _removed(name, raw, *arguments):
    """The specs of an op that GraphDef no longer has; all its inputs but the images are vectors."""
    shapes = tuple(_IMAGES if each in ("t", "backprop") else _VECTOR for each in arguments)
    attributes = {"variance_epsilon": 0.125, "scale_after_normalization": True}
    return op(name, raw, arguments=arguments, wrong={"removed": unfit(*shapes, promise=REMOVED, **attributes)})


SPECS = (
    *_removed(
        "batch-norm-with-global-normalization", "BatchNormWithGlobalNormalization", "t", "m", "v", "beta", "gamma"
    ),
    *_removed(
        "batch-norm-with-global-normalization-grad",
        "BatchNormWithGlobalNormalizationGrad",
        *("t", "m", "v", "gamma", "backprop"),
    ),
    *fused("fused-batch-norm", _V1),
    *fused_gradient("fused-batch-norm-grad", _V1),
    *fused_gradient("fused-batch-norm-grad-v2", _V2),
    *fused_gradient("fused-batch-norm-grad-v3", _V3),
    *fused("fused-batch-norm-v2", _V2),
    *fused("fused-batch-norm-v3", _V3),
)
