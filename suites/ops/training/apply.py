"""ApplyAdaMax to ApplyFtrlV2: steps of optimizers on reference variables."""

from tf_opdiff.suites.forms.algorithms import (
    ADA_MAX,
    ADADELTA,
    ADAGRAD,
    ADAGRAD_V2,
    ADAM,
    ADD_SIGN,
    CENTERED_RMS_PROP,
    FTRL,
    FTRL_V2,
)
from tf_opdiff.suites.forms.optimizers import COMPLEX, DENSE_REFERENCE, FLOATS, optimizer

_ALL = (*FLOATS, *COMPLEX)

SPECS = (
    *optimizer("apply-ada-max", "ApplyAdaMax", ADA_MAX, DENSE_REFERENCE),
    *optimizer("apply-adadelta", "ApplyAdadelta", ADADELTA, DENSE_REFERENCE, _ALL),
    *optimizer("apply-adagrad", "ApplyAdagrad", ADAGRAD, DENSE_REFERENCE, _ALL),
    *optimizer("apply-adagrad-v2", "ApplyAdagradV2", ADAGRAD_V2, DENSE_REFERENCE, _ALL),
    *optimizer("apply-adam", "ApplyAdam", ADAM, DENSE_REFERENCE, _ALL),
    *optimizer("apply-add-sign", "ApplyAddSign", ADD_SIGN, DENSE_REFERENCE),
    *optimizer("apply-centered-rms-prop", "ApplyCenteredRMSProp", CENTERED_RMS_PROP, DENSE_REFERENCE, _ALL),
    *optimizer("apply-ftrl", "ApplyFtrl", FTRL, DENSE_REFERENCE),
    *optimizer("apply-ftrl-v2", "ApplyFtrlV2", FTRL_V2, DENSE_REFERENCE),
)
