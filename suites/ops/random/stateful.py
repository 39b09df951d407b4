"""Random ops of a generator, whose state is a variable that they change."""

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.random import numbers
from tf_opdiff.suites.forms.random_kinds import ALL_INTEGERS, INTEGERS_IN_RANGE, NORMAL, TRUNCATED_NORMAL, UNIFORM
from tf_opdiff.suites.forms.random_sources import STATEFUL

SPECS = (
    *op("stateful-standard-normal-v2", "StatefulStandardNormalV2", numbers(STATEFUL, NORMAL)),
    *op("stateful-truncated-normal", "StatefulTruncatedNormal", numbers(STATEFUL, TRUNCATED_NORMAL)),
    *op("stateful-uniform", "StatefulUniform", numbers(STATEFUL, UNIFORM)),
    *op("stateful-uniform-full-int", "StatefulUniformFullInt", numbers(STATEFUL, ALL_INTEGERS)),
    *op("stateful-uniform-int", "StatefulUniformInt", numbers(STATEFUL, INTEGERS_IN_RANGE)),
)
