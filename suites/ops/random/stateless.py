"""Stateless random ops of a seed: the same seed gives the same numbers."""

from tf_opdiff.suites.forms.random import random_op
from tf_opdiff.suites.forms.random_kinds import ALL_INTEGERS, INTEGERS_IN_RANGE, NORMAL, TRUNCATED_NORMAL, UNIFORM
from tf_opdiff.suites.forms.random_sources import SEEDED

_FLOATS = ("float32", "bfloat16", "float16", "float64")

SPECS = (
    *random_op("stateless-random-normal", "StatelessRandomNormal", SEEDED, NORMAL, _FLOATS),
    *random_op("stateless-random-uniform", "StatelessRandomUniform", SEEDED, UNIFORM, _FLOATS),
    *random_op(
        "stateless-random-uniform-full-int",
        "StatelessRandomUniformFullInt",
        SEEDED,
        ALL_INTEGERS,
        ("int32", "int64", "uint32", "uint64"),
        without_xla=("uint32", "uint64"),
    ),
    *random_op(
        "stateless-random-uniform-int", "StatelessRandomUniformInt", SEEDED, INTEGERS_IN_RANGE, ("int32", "int64")
    ),
    *random_op("stateless-truncated-normal", "StatelessTruncatedNormal", SEEDED, TRUNCATED_NORMAL, _FLOATS),
)
