"""ApplyGradientDescent to ApplyRMSProp: steps of optimizers on reference variables."""

from tf_opdiff.suites.forms.algorithms import GRADIENT_DESCENT, MOMENTUM, POWER_SIGN, PROXIMAL_ADAGRAD, RMS_PROP
from tf_opdiff.suites.forms.optimizers import COMPLEX, DENSE_REFERENCE, FLOATS, optimizer

_ALL = (*FLOATS, *COMPLEX)
_WIDE = ("float32", "float64")

SPECS = (
    *optimizer("apply-gradient-descent", "ApplyGradientDescent", GRADIENT_DESCENT, DENSE_REFERENCE, _ALL),
    *optimizer("apply-momentum", "ApplyMomentum", MOMENTUM, DENSE_REFERENCE, _ALL),
    *optimizer("apply-power-sign", "ApplyPowerSign", POWER_SIGN, DENSE_REFERENCE),
    *optimizer("apply-proximal-adagrad", "ApplyProximalAdagrad", PROXIMAL_ADAGRAD, DENSE_REFERENCE, _WIDE),
    *optimizer("apply-rms-prop", "ApplyRMSProp", RMS_PROP, DENSE_REFERENCE, _ALL),
)
