"""Derivative op: parts that promise a derivative that is an op of its own, in float32 and float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tf_opdiff.harness.spec.loose import Loose
from tf_opdiff.suites.forms.op import with_sizes
from tf_opdiff.suites.forms.pairs import within
from tf_opdiff.suites.forms.part import Part, part
from tf_opdiff.suites.forms.special import WIDE, shapes_differ

_DOMAIN = ((0.1, 20.0), (0.1, 20.0))
_OF_DIFFERENCES = Loose(lambda *xs: True, "the promise has 3 digits, and TensorFlow has no such gradient")


def derivative_op(
    reference: Callable[..., Any],
    vjp: Callable[..., Any],
    bound: Callable[..., Any],
    loose: Mapping[str, Loose] | None = None,
) -> Part:
    """A part: a derivative that is an op of its own; the promise of its gradient is made of differences."""

    def near(i: int) -> Callable[..., Any]:
        return lambda u, g, *xs: 1e-3 * np.abs(vjp(g, *xs)[i])

    values = part(
        reference=reference,
        vjp=vjp,
        recipes={"domain": within(*_DOMAIN, size=199)},
        dtypes=WIDE,
        bound={"output[0]": bound, "grad[0]": near(0), "grad[1]": near(1)},
        loose={"grad": _OF_DIFFERENCES, **(loose or {})},
    )
    return with_sizes(values, shapes_differ(reference, _DOMAIN, {"output[0]": bound}), sources={"": "domain"})
