"""ResourceApplyGradientDescent to ResourceApplyRMSProp: steps of optimizers on resource variables."""

from tf_opdiff.suites.forms.algorithms import (
    GRADIENT_DESCENT,
    KERAS_MOMENTUM,
    MOMENTUM,
    POWER_SIGN,
    PROXIMAL_ADAGRAD,
    RMS_PROP,
)
from tf_opdiff.suites.forms.optimizers import COMPLEX, DENSE, FLOATS, optimizer

_ALL = (*FLOATS, *COMPLEX)
_WIDE = ("float32", "float64")

SPECS = (
    *optimizer("resource-apply-gradient-descent", "ResourceApplyGradientDescent", GRADIENT_DESCENT, DENSE, _ALL),
    *optimizer("resource-apply-keras-momentum", "ResourceApplyKerasMomentum", KERAS_MOMENTUM, DENSE, _ALL),
    *optimizer("resource-apply-momentum", "ResourceApplyMomentum", MOMENTUM, DENSE, _ALL),
    *optimizer("resource-apply-power-sign", "ResourceApplyPowerSign", POWER_SIGN, DENSE),
    *optimizer("resource-apply-proximal-adagrad", "ResourceApplyProximalAdagrad", PROXIMAL_ADAGRAD, DENSE, _WIDE),
    *optimizer("resource-apply-rms-prop", "ResourceApplyRMSProp", RMS_PROP, DENSE, _ALL),
)
