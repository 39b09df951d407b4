"""ResourceSparseApplyAdadelta to ResourceSparseApplyProximalAdagrad: steps on rows of resource variables."""

from typing import Any

from tf_opdiff.suites.forms import algorithms as how
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.optimizers import ALL, REAL, WIDE, ahead, sparse
from tf_opdiff.suites.forms.variables import RESOURCE

_REAL: dict[str, Any] = {"variables": RESOURCE, "dtypes": REAL}
_ALL, _WIDE = _REAL | {"dtypes": ALL}, _REAL | {"dtypes": WIDE}

SPECS = (
    *op("resource-sparse-apply-adadelta", "ResourceSparseApplyAdadelta", sparse(how.ADADELTA), **_ALL),
    *op("resource-sparse-apply-adagrad", "ResourceSparseApplyAdagrad", sparse(how.ADAGRAD), **_REAL),
    *op("resource-sparse-apply-adagrad-v2", "ResourceSparseApplyAdagradV2", sparse(how.ADAGRAD_V2), **_REAL),
    *op("resource-sparse-apply-ftrl", "ResourceSparseApplyFtrl", sparse(how.FTRL), **_REAL),
    *op("resource-sparse-apply-ftrl-v2", "ResourceSparseApplyFtrlV2", sparse(how.FTRL_V2), **_REAL),
    *op(
        "resource-sparse-apply-keras-momentum",
        "ResourceSparseApplyKerasMomentum",
        sparse(how.KERAS_MOMENTUM),
        ahead(how.KERAS_MOMENTUM, sparse=True),
        **_ALL,
    ),
    *op(
        "resource-sparse-apply-proximal-adagrad",
        "ResourceSparseApplyProximalAdagrad",
        sparse(how.PROXIMAL_ADAGRAD),
        **_WIDE,
    ),
)
