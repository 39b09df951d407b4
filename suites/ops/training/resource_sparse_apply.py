"""ResourceSparseApplyAdadelta to ResourceSparseApplyProximalAdagrad: steps on rows of resource variables."""

from tf_opdiff.suites.forms.algorithms import (
    ADADELTA,
    ADAGRAD,
    ADAGRAD_V2,
    FTRL,
    FTRL_V2,
    KERAS_MOMENTUM,
    PROXIMAL_ADAGRAD,
)
from tf_opdiff.suites.forms.optimizers import COMPLEX, FLOATS, SPARSE, optimizer

_ALL = (*FLOATS, *COMPLEX)
_WIDE = ("float32", "float64")


def _rows(name, raw, how, dtypes=FLOATS):
    return optimizer(f"resource-sparse-apply-{name}", f"ResourceSparseApply{raw}", how, SPARSE, dtypes)


SPECS = (
    *_rows("adadelta", "Adadelta", ADADELTA, _ALL),
    *_rows("adagrad", "Adagrad", ADAGRAD),
    *_rows("adagrad-v2", "AdagradV2", ADAGRAD_V2),
    *_rows("ftrl", "Ftrl", FTRL),
    *_rows("ftrl-v2", "FtrlV2", FTRL_V2),
    *_rows("keras-momentum", "KerasMomentum", KERAS_MOMENTUM, _ALL),
    *_rows("proximal-adagrad", "ProximalAdagrad", PROXIMAL_ADAGRAD, _WIDE),
)
