"""ApplyGradientDescent to ApplyRMSProp: steps of optimizers on reference variables."""

from typing import Any

from tf_opdiff.suites.forms import algorithms as how
from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.optimizers import ALL, REAL, WIDE, optimizer
from tf_opdiff.suites.forms.variables import REFERENCE

_REAL: dict[str, Any] = {"variables": REFERENCE, "dtypes": REAL}
_ALL, _WIDE = _REAL | {"dtypes": ALL}, _REAL | {"dtypes": WIDE}

SPECS = (
    *op("apply-gradient-descent", "ApplyGradientDescent", optimizer(how.GRADIENT_DESCENT), **_ALL),
    *op("apply-momentum", "ApplyMomentum", optimizer(how.MOMENTUM), **_ALL),
    *op("apply-power-sign", "ApplyPowerSign", optimizer(how.POWER_SIGN), **_REAL),
    *op("apply-proximal-adagrad", "ApplyProximalAdagrad", optimizer(how.PROXIMAL_ADAGRAD), **_WIDE),
    *op("apply-rms-prop", "ApplyRMSProp", optimizer(how.RMS_PROP), **_ALL),
)
