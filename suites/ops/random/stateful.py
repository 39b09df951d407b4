"""Random ops of a generator, whose state is a variable that they change."""

from tf_opdiff.suites.forms.random import random_op
from tf_opdiff.suites.forms.random_kinds import ALL_INTEGERS, INTEGERS_IN_RANGE, NORMAL, TRUNCATED_NORMAL, UNIFORM
from tf_opdiff.suites.forms.random_sources import STATEFUL

_FLOATS = ("float32", "bfloat16", "float16", "float64")

SPECS = (
    *random_op("stateful-standard-normal-v2", "StatefulStandardNormalV2", STATEFUL, NORMAL, _FLOATS),
    *random_op("stateful-truncated-normal", "StatefulTruncatedNormal", STATEFUL, TRUNCATED_NORMAL, _FLOATS),
    *random_op("stateful-uniform", "StatefulUniform", STATEFUL, UNIFORM, _FLOATS),
    *random_op(
        "stateful-uniform-full-int",
        "StatefulUniformFullInt",
        STATEFUL,
        ALL_INTEGERS,
        ("int32", "int64", "uint32", "uint64"),
    ),
    *random_op("stateful-uniform-int", "StatefulUniformInt", STATEFUL, INTEGERS_IN_RANGE, ("int32", "int64")),
)
