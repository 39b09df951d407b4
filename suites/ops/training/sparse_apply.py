"""SparseApplyAdadelta to SparseApplyProximalAdagrad, and the ops on resource variables: steps on some rows."""

from tf_opdiff.suites.forms import algorithms as how
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.optimizers import ahead, on, sparse
from tf_opdiff.suites.forms.variables import REFERENCE, RESOURCE

_REAL, _ALL, _WIDE = on(REFERENCE)
_RESOURCE_REAL, _RESOURCE_ALL, _RESOURCE_WIDE = on(RESOURCE)

SPECS = (
    *op("resource-sparse-apply-adadelta", "ResourceSparseApplyAdadelta", sparse(how.ADADELTA), **_RESOURCE_ALL),
    *op("resource-sparse-apply-adagrad", "ResourceSparseApplyAdagrad", sparse(how.ADAGRAD), **_RESOURCE_REAL),
    *op("resource-sparse-apply-adagrad-v2", "ResourceSparseApplyAdagradV2", sparse(how.ADAGRAD_V2), **_RESOURCE_REAL),
    *op("resource-sparse-apply-ftrl", "ResourceSparseApplyFtrl", sparse(how.FTRL), **_RESOURCE_REAL),
    *op("resource-sparse-apply-ftrl-v2", "ResourceSparseApplyFtrlV2", sparse(how.FTRL_V2), **_RESOURCE_REAL),
    *op(
        "resource-sparse-apply-keras-momentum",
        "ResourceSparseApplyKerasMomentum",
        sparse(how.KERAS_MOMENTUM),
        ahead(how.KERAS_MOMENTUM, sparse=True),
        **_RESOURCE_ALL,
    ),
    *op(
        "resource-sparse-apply-proximal-adagrad",
        "ResourceSparseApplyProximalAdagrad",
        sparse(how.PROXIMAL_ADAGRAD),
        **_RESOURCE_WIDE,
    ),
    *op("sparse-apply-adadelta", "SparseApplyAdadelta", sparse(how.ADADELTA), **_ALL),
    *op("sparse-apply-adagrad", "SparseApplyAdagrad", sparse(how.ADAGRAD), **_REAL),
    *op("sparse-apply-adagrad-v2", "SparseApplyAdagradV2", sparse(how.ADAGRAD_V2), **_REAL),
    *op("sparse-apply-ftrl", "SparseApplyFtrl", sparse(how.FTRL), **_REAL),
    *op("sparse-apply-ftrl-v2", "SparseApplyFtrlV2", sparse(how.FTRL_V2), **_REAL),
    *op("sparse-apply-proximal-adagrad", "SparseApplyProximalAdagrad", sparse(how.PROXIMAL_ADAGRAD), **_WIDE),
)
