"""Stateless random ops of a seed: the same seed gives the same numbers."""

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.random import numbers
from tf_opdiff.suites.forms.random_kinds import ALL_INTEGERS, INTEGERS_IN_RANGE, NORMAL, TRUNCATED_NORMAL, UNIFORM
from tf_opdiff.suites.forms.random_sources import SEEDED

_NOT_IN_XLA = ("uint32", "uint64")

SPECS = (
    *op("stateless-random-normal", "StatelessRandomNormal", numbers(SEEDED, NORMAL)),
    *op("stateless-random-uniform", "StatelessRandomUniform", numbers(SEEDED, UNIFORM)),
    *op(
        "stateless-random-uniform-full-int", "StatelessRandomUniformFullInt", numbers(SEEDED, ALL_INTEGERS, _NOT_IN_XLA)
    ),
    *op("stateless-random-uniform-int", "StatelessRandomUniformInt", numbers(SEEDED, INTEGERS_IN_RANGE)),
    *op("stateless-truncated-normal", "StatelessTruncatedNormal", numbers(SEEDED, TRUNCATED_NORMAL)),
)
