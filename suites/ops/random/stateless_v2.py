"""Stateless random ops of a key, a counter and an algorithm."""

from tf_opdiff.suites.forms.random import random_op
from tf_opdiff.suites.forms.random_kinds import ALL_INTEGERS, INTEGERS_IN_RANGE, NORMAL, TRUNCATED_NORMAL, UNIFORM
from tf_opdiff.suites.forms.random_sources import KEYED

_FLOATS = ("float32", "bfloat16", "float16", "float64")

SPECS = (
    *random_op("stateless-random-normal-v2", "StatelessRandomNormalV2", KEYED, NORMAL, _FLOATS),
    *random_op(
        "stateless-random-uniform-full-int-v2",
        "StatelessRandomUniformFullIntV2",
        KEYED,
        ALL_INTEGERS,
        ("int32", "int64", "uint32", "uint64"),
    ),
    *random_op(
        "stateless-random-uniform-int-v2", "StatelessRandomUniformIntV2", KEYED, INTEGERS_IN_RANGE, ("int32", "int64")
    ),
    *random_op("stateless-random-uniform-v2", "StatelessRandomUniformV2", KEYED, UNIFORM, _FLOATS),
    *random_op("stateless-truncated-normal-v2", "StatelessTruncatedNormalV2", KEYED, TRUNCATED_NORMAL, _FLOATS),
)
