"""Derivatives: the gradients, tangents and second derivatives that a spec promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Derivatives:
    """The derivatives that a spec promises; none by default.

    vjp(g, *inputs)             → the vector-Jacobian product: one entry for each input, then one for each state
                                  variable. An entry is an array, None (unconnected) or `Sparse`; `Raises` in place of
                                  the entries promises an error. `g` has the shape of the reference's result. Without
                                  `vjp`, no gradient is computed.
    jvp(t, *inputs)             → forward mode: the Jacobian times the tangents `t`, one entry for each output. `t` has
                                  the shape of the input; it is a tuple if the program has several inputs.
    hvp(g, t, *inputs)          → second order: the derivative of the VJP along `t`, one entry for each input. Needs
                                  `vjp`.
    upstreams                   name of a recipe → upstream(draw, dtype, *shape) → the upstream of an output, in place
                                of random numbers away from zero.
    """

    vjp: Callable[..., Any] | None = None
    jvp: Callable[..., Any] | None = None
    hvp: Callable[..., Any] | None = None
    upstreams: Mapping[str, Callable[..., np.ndarray]] = field(default_factory=dict)
