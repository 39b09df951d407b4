"""SparseApplyAdadelta to SparseApplyProximalAdagrad: steps on rows of reference variables."""

from typing import Any

from tf_opdiff.suites.forms import algorithms as how
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.optimizers import ALL, REAL, WIDE, sparse
from tf_opdiff.suites.forms.variables import REFERENCE

_REAL: dict[str, Any] = {"variables": REFERENCE, "dtypes": REAL}
_ALL, _WIDE = _REAL | {"dtypes": ALL}, _REAL | {"dtypes": WIDE}

SPECS = (
    *op("sparse-apply-adadelta", "SparseApplyAdadelta", sparse(how.ADADELTA), **_ALL),
    *op("sparse-apply-adagrad", "SparseApplyAdagrad", sparse(how.ADAGRAD), **_REAL),
    *op("sparse-apply-adagrad-v2", "SparseApplyAdagradV2", sparse(how.ADAGRAD_V2), **_REAL),
    *op("sparse-apply-ftrl", "SparseApplyFtrl", sparse(how.FTRL), **_REAL),
    *op("sparse-apply-ftrl-v2", "SparseApplyFtrlV2", sparse(how.FTRL_V2), **_REAL),
    *op("sparse-apply-proximal-adagrad", "SparseApplyProximalAdagrad", sparse(how.PROXIMAL_ADAGRAD), **_WIDE),
)
