"""ApplyAdaMax to ApplyRMSProp: steps of optimizers on reference variables."""

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.state import algorithms as how
from tf_opdiff.suites.forms.state.optimizers import WITHOUT_BFLOAT16, on, optimizer
from tf_opdiff.suites.forms.state.variables import REFERENCE

_REAL, _ALL, _WIDE = on(REFERENCE)
_MAXIMUM = _REAL | {"dtypes": WITHOUT_BFLOAT16, "ordinary": ordinary.RUNNING_MAXIMUM}

SPECS = (
    *op("apply-ada-max", "ApplyAdaMax", optimizer(how.ADA_MAX), **_MAXIMUM),
    *op("apply-adadelta", "ApplyAdadelta", optimizer(how.ADADELTA), **_ALL),
    *op("apply-adagrad", "ApplyAdagrad", optimizer(how.ADAGRAD), **_ALL),
    *op("apply-adagrad-v2", "ApplyAdagradV2", optimizer(how.ADAGRAD_V2), **_ALL),
    *op("apply-adam", "ApplyAdam", optimizer(how.ADAM), **_ALL),
    *op("apply-add-sign", "ApplyAddSign", optimizer(how.ADD_SIGN), **_REAL),
    *op("apply-centered-rms-prop", "ApplyCenteredRMSProp", optimizer(how.CENTERED_RMS_PROP), **_ALL),
    *op("apply-ftrl", "ApplyFtrl", optimizer(how.FTRL), **_REAL),
    *op("apply-ftrl-v2", "ApplyFtrlV2", optimizer(how.FTRL_V2), **_REAL),
    *op("apply-gradient-descent", "ApplyGradientDescent", optimizer(how.GRADIENT_DESCENT), **_ALL),
    *op("apply-momentum", "ApplyMomentum", optimizer(how.MOMENTUM), **_ALL),
    *op("apply-power-sign", "ApplyPowerSign", optimizer(how.POWER_SIGN), **_REAL),
    *op("apply-proximal-adagrad", "ApplyProximalAdagrad", optimizer(how.PROXIMAL_ADAGRAD), **_WIDE),
    *op("apply-rms-prop", "ApplyRMSProp", optimizer(how.RMS_PROP), **_ALL),
)
