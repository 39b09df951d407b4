"""SparseApplyAdadelta to SparseApplyProximalAdagrad: steps on rows of reference variables."""

from tf_opdiff.suites.forms.algorithms import ADADELTA, ADAGRAD, ADAGRAD_V2, FTRL, FTRL_V2, PROXIMAL_ADAGRAD
from tf_opdiff.suites.forms.optimizers import COMPLEX, FLOATS, SPARSE_REFERENCE, optimizer

_ALL = (*FLOATS, *COMPLEX)
_WIDE = ("float32", "float64")


def _rows(name, raw, how, dtypes=FLOATS):
    return optimizer(f"sparse-apply-{name}", f"SparseApply{raw}", how, SPARSE_REFERENCE, dtypes)


SPECS = (
    *_rows("adadelta", "Adadelta", ADADELTA, _ALL),
    *_rows("adagrad", "Adagrad", ADAGRAD),
    *_rows("adagrad-v2", "AdagradV2", ADAGRAD_V2),
    *_rows("ftrl", "Ftrl", FTRL),
    *_rows("ftrl-v2", "FtrlV2", FTRL_V2),
    *_rows("proximal-adagrad", "ProximalAdagrad", PROXIMAL_ADAGRAD, _WIDE),
)
