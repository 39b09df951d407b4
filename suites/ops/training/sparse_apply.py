"""SparseApplyAdadelta to SparseApplyProximalAdagrad, and the ops on resource variables: steps on some rows."""

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.state import algorithms as how
from tf_opdiff.suites.forms.state.optimizers import on, on_rows
from tf_opdiff.suites.forms.state.variables import REFERENCE, RESOURCE

_REAL, _ALL, _WIDE = on(REFERENCE)
_RESOURCE_REAL, _RESOURCE_ALL, _RESOURCE_WIDE = on(RESOURCE)
_OF_FTRL = _RESOURCE_REAL | {"ordinary": ordinary.OF_FTRL}

SPECS = (
    *op("resource-sparse-apply-adadelta", "ResourceSparseApplyAdadelta", on_rows(how.ADADELTA), **_RESOURCE_ALL),
    *op("resource-sparse-apply-adagrad", "ResourceSparseApplyAdagrad", on_rows(how.ADAGRAD), **_RESOURCE_ALL),
    *op("resource-sparse-apply-adagrad-v2", "ResourceSparseApplyAdagradV2", on_rows(how.ADAGRAD_V2), **_RESOURCE_ALL),
    *op("resource-sparse-apply-ftrl", "ResourceSparseApplyFtrl", on_rows(how.FTRL), **_OF_FTRL),
    *op("resource-sparse-apply-ftrl-v2", "ResourceSparseApplyFtrlV2", on_rows(how.FTRL_V2), **_OF_FTRL),
    *op(
        "resource-sparse-apply-keras-momentum",
        "ResourceSparseApplyKerasMomentum",
        on_rows(how.KERAS_MOMENTUM),
        **_RESOURCE_ALL,
    ),
    *op(
        "resource-sparse-apply-proximal-adagrad",
        "ResourceSparseApplyProximalAdagrad",
        on_rows(how.PROXIMAL_ADAGRAD),
        **_RESOURCE_WIDE,
    ),
    *op("sparse-apply-adadelta", "SparseApplyAdadelta", on_rows(how.ADADELTA), **_ALL),
    *op("sparse-apply-adagrad", "SparseApplyAdagrad", on_rows(how.ADAGRAD), **_ALL),
    *op("sparse-apply-adagrad-v2", "SparseApplyAdagradV2", on_rows(how.ADAGRAD_V2), **_ALL),
    *op("sparse-apply-ftrl", "SparseApplyFtrl", on_rows(how.FTRL), **_REAL),
    *op("sparse-apply-ftrl-v2", "SparseApplyFtrlV2", on_rows(how.FTRL_V2), **_REAL),
    *op("sparse-apply-proximal-adagrad", "SparseApplyProximalAdagrad", on_rows(how.PROXIMAL_ADAGRAD), **_WIDE),
)
