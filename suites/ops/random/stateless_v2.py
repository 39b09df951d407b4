"""Stateless random ops of a key, a counter and an algorithm."""

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.random import numbers
from tf_opdiff.suites.forms.random_kinds import ALL_INTEGERS, INTEGERS_IN_RANGE, NORMAL, TRUNCATED_NORMAL, UNIFORM
from tf_opdiff.suites.forms.random_sources import KEYED

SPECS = (
    *op("stateless-random-normal-v2", "StatelessRandomNormalV2", numbers(KEYED, NORMAL)),
    *op("stateless-random-uniform-full-int-v2", "StatelessRandomUniformFullIntV2", numbers(KEYED, ALL_INTEGERS)),
    *op("stateless-random-uniform-int-v2", "StatelessRandomUniformIntV2", numbers(KEYED, INTEGERS_IN_RANGE)),
    *op("stateless-random-uniform-v2", "StatelessRandomUniformV2", numbers(KEYED, UNIFORM)),
    *op("stateless-truncated-normal-v2", "StatelessTruncatedNormalV2", numbers(KEYED, TRUNCATED_NORMAL)),
)
