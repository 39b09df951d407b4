"""ResourceApplyGradientDescent to ResourceApplyRMSProp: steps of optimizers on resource variables."""

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.state import algorithms as how
from tf_opdiff.suites.forms.state.optimizers import on, optimizer
from tf_opdiff.suites.forms.state.variables import RESOURCE

_REAL, _ALL, _WIDE = on(RESOURCE)

SPECS = (
    *op("resource-apply-gradient-descent", "ResourceApplyGradientDescent", optimizer(how.GRADIENT_DESCENT), **_ALL),
    *op(
        "resource-apply-keras-momentum",
        "ResourceApplyKerasMomentum",
        optimizer(how.KERAS_MOMENTUM),
        **_ALL,
    ),
    *op("resource-apply-momentum", "ResourceApplyMomentum", optimizer(how.MOMENTUM), **_ALL),
    *op("resource-apply-power-sign", "ResourceApplyPowerSign", optimizer(how.POWER_SIGN), **_REAL),
    *op("resource-apply-proximal-adagrad", "ResourceApplyProximalAdagrad", optimizer(how.PROXIMAL_ADAGRAD), **_WIDE),
    *op(
        "resource-apply-proximal-gradient-descent",
        "ResourceApplyProximalGradientDescent",
        optimizer(how.PROXIMAL_GRADIENT_DESCENT),
        **_WIDE,
    ),
    *op("resource-apply-rms-prop", "ResourceApplyRMSProp", optimizer(how.RMS_PROP), **_ALL),
)
