"""ResourceApplyAdaMax to ResourceApplyFtrlV2: steps of optimizers on resource variables."""

from tf_opdiff.suites.forms.algorithms import (
    ADA_MAX,
    ADADELTA,
    ADAGRAD,
    ADAGRAD_V2,
    ADAM,
    ADD_SIGN,
    AMSGRAD,
    CENTERED_RMS_PROP,
    FTRL,
    FTRL_V2,
)
from tf_opdiff.suites.forms.optimizers import COMPLEX, DENSE, FLOATS, optimizer

_ALL = (*FLOATS, *COMPLEX)

SPECS = (
    *optimizer("resource-apply-ada-max", "ResourceApplyAdaMax", ADA_MAX, DENSE),
    *optimizer("resource-apply-adadelta", "ResourceApplyAdadelta", ADADELTA, DENSE, _ALL),
    *optimizer("resource-apply-adagrad", "ResourceApplyAdagrad", ADAGRAD, DENSE, _ALL),
    *optimizer("resource-apply-adagrad-v2", "ResourceApplyAdagradV2", ADAGRAD_V2, DENSE, _ALL),
    *optimizer("resource-apply-adam", "ResourceApplyAdam", ADAM, DENSE, _ALL),
    *optimizer("resource-apply-adam-with-amsgrad", "ResourceApplyAdamWithAmsgrad", AMSGRAD, DENSE),
    *optimizer("resource-apply-add-sign", "ResourceApplyAddSign", ADD_SIGN, DENSE),
    *optimizer("resource-apply-centered-rms-prop", "ResourceApplyCenteredRMSProp", CENTERED_RMS_PROP, DENSE, _ALL),
    *optimizer("resource-apply-ftrl", "ResourceApplyFtrl", FTRL, DENSE),
    *optimizer("resource-apply-ftrl-v2", "ResourceApplyFtrlV2", FTRL_V2, DENSE),
)
