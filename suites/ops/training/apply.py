"""ApplyAdaMax to ApplyFtrlV2: steps of optimizers on reference variables."""

from typing import Any

from tf_opdiff.suites.forms import algorithms as how
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.optimizers import ALL, REAL, optimizer
from tf_opdiff.suites.forms.variables import REFERENCE

_REAL: dict[str, Any] = {"variables": REFERENCE, "dtypes": REAL}
_ALL = _REAL | {"dtypes": ALL}

SPECS = (
    *op("apply-ada-max", "ApplyAdaMax", optimizer(how.ADA_MAX), **_REAL),
    *op("apply-adadelta", "ApplyAdadelta", optimizer(how.ADADELTA), **_ALL),
    *op("apply-adagrad", "ApplyAdagrad", optimizer(how.ADAGRAD), **_ALL),
    *op("apply-adagrad-v2", "ApplyAdagradV2", optimizer(how.ADAGRAD_V2), **_ALL),
    *op("apply-adam", "ApplyAdam", optimizer(how.ADAM), **_ALL),
    *op("apply-add-sign", "ApplyAddSign", optimizer(how.ADD_SIGN), **_REAL),
    *op("apply-centered-rms-prop", "ApplyCenteredRMSProp", optimizer(how.CENTERED_RMS_PROP), **_ALL),
    *op("apply-ftrl", "ApplyFtrl", optimizer(how.FTRL), **_REAL),
    *op("apply-ftrl-v2", "ApplyFtrlV2", optimizer(how.FTRL_V2), **_REAL),
)
