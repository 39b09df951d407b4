"""The specs of `planted_kept`, one with other inputs, one with another program."""

from dataclasses import replace

from tf_opdiff.harness.tests.planted_runs import planted_kept

_kept, _sums, _large = planted_kept.SPECS

SPECS = (
    replace(_kept, recipes={"plain": lambda draw, dtype: (draw.uniform(67).astype(dtype),)}),
    replace(_sums, program=lambda tf, x: x * 1 + x),
    _large,
)
