"""ResourceApplyAdaMax to ResourceApplyFtrlV2: steps of optimizers on resource variables."""

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.recipes import ordinary
from tf_opdiff.suites.forms.state import algorithms as how
from tf_opdiff.suites.forms.state.optimizers import WITHOUT_BFLOAT16, on, optimizer
from tf_opdiff.suites.forms.state.variables import RESOURCE

_REAL, _ALL, _WIDE = on(RESOURCE)
_FTRL, _MAXIMUM = (_REAL | {"ordinary": each} for each in (ordinary.RUNNING_FTRL, ordinary.RUNNING_MAXIMUM))

SPECS = (
    *op(
        "resource-apply-ada-max",
        "ResourceApplyAdaMax",
        optimizer(how.ADA_MAX),
        **_MAXIMUM | {"dtypes": WITHOUT_BFLOAT16},
    ),
    *op("resource-apply-adadelta", "ResourceApplyAdadelta", optimizer(how.ADADELTA), **_ALL),
    *op("resource-apply-adagrad", "ResourceApplyAdagrad", optimizer(how.ADAGRAD), **_ALL),
    *op("resource-apply-adagrad-da", "ResourceApplyAdagradDA", optimizer(how.ADAGRAD_DA), **_WIDE),
    *op(
        "resource-apply-adagrad-v2",
        "ResourceApplyAdagradV2",
        optimizer(how.ADAGRAD_V2),
        **_ALL,
    ),
    *op("resource-apply-adam", "ResourceApplyAdam", optimizer(how.ADAM), **_ALL),
    *op("resource-apply-adam-with-amsgrad", "ResourceApplyAdamWithAmsgrad", optimizer(how.AMSGRAD), **_MAXIMUM),
    *op("resource-apply-add-sign", "ResourceApplyAddSign", optimizer(how.ADD_SIGN), **_REAL),
    *op(
        "resource-apply-centered-rms-prop",
        "ResourceApplyCenteredRMSProp",
        optimizer(how.CENTERED_RMS_PROP),
        **_ALL | {"ordinary": ordinary.OF_CENTERED},
    ),
    *op("resource-apply-ftrl", "ResourceApplyFtrl", optimizer(how.FTRL), **_FTRL),
    *op("resource-apply-ftrl-v2", "ResourceApplyFtrlV2", optimizer(how.FTRL_V2), **_FTRL),
)
