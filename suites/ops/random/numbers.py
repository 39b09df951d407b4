"""Random ops whose numbers follow, bit for bit, from a seed, a key and a counter, or the state of a generator."""

from tf_opdiff.suites.forms.op import op
from tf_opdiff.suites.forms.random_numbers.random import numbers
from tf_opdiff.suites.forms.random_numbers.random_kinds import (
    ALL_INTEGERS,
    INTEGERS_IN_RANGE,
    NORMAL,
    TRUNCATED_NORMAL,
    UNIFORM,
)
from tf_opdiff.suites.forms.random_numbers.random_sources import KEYED, SEEDED, STATEFUL

_NOT_IN_XLA = ("uint32", "uint64")

SPECS = (
    *op("stateful-standard-normal-v2", "StatefulStandardNormalV2", numbers(STATEFUL, NORMAL)),
    *op("stateful-truncated-normal", "StatefulTruncatedNormal", numbers(STATEFUL, TRUNCATED_NORMAL)),
    *op("stateful-uniform", "StatefulUniform", numbers(STATEFUL, UNIFORM)),
    *op("stateful-uniform-full-int", "StatefulUniformFullInt", numbers(STATEFUL, ALL_INTEGERS)),
    *op("stateful-uniform-int", "StatefulUniformInt", numbers(STATEFUL, INTEGERS_IN_RANGE)),
    *op("stateless-random-normal", "StatelessRandomNormal", numbers(SEEDED, NORMAL)),
    *op("stateless-random-normal-v2", "StatelessRandomNormalV2", numbers(KEYED, NORMAL)),
    *op("stateless-random-uniform", "StatelessRandomUniform", numbers(SEEDED, UNIFORM)),
    *op(
        "stateless-random-uniform-full-int", "StatelessRandomUniformFullInt", numbers(SEEDED, ALL_INTEGERS, _NOT_IN_XLA)
    ),
    *op("stateless-random-uniform-full-int-v2", "StatelessRandomUniformFullIntV2", numbers(KEYED, ALL_INTEGERS)),
    *op("stateless-random-uniform-int", "StatelessRandomUniformInt", numbers(SEEDED, INTEGERS_IN_RANGE)),
    *op("stateless-random-uniform-int-v2", "StatelessRandomUniformIntV2", numbers(KEYED, INTEGERS_IN_RANGE)),
    *op("stateless-random-uniform-v2", "StatelessRandomUniformV2", numbers(KEYED, UNIFORM)),
    *op("stateless-truncated-normal", "StatelessTruncatedNormal", numbers(SEEDED, TRUNCATED_NORMAL)),
    *op("stateless-truncated-normal-v2", "StatelessTruncatedNormalV2", numbers(KEYED, TRUNCATED_NORMAL)),
)
