"""Contract: promises other than plain arrays, and the sides of a documented divergence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Raises:
    """The promise of an error.

    `code` is a TensorFlow error code (`INVALID_ARGUMENT`) or, for an error that Python raises, the name of its class
    (`LookupError`). The error's message must contain the text `says`. `without_kernel`: the error is that of a device
    without a kernel. Devices other than the CPU may have the kernel, and then this promises nothing.

    As a reference, it promises itself, whatever the inputs and the attributes.
    """

    code: str
    says: str = ""
    without_kernel: bool = False

    def __call__(self, *xs: Any, **attrs: Any) -> Raises:
        return self


@dataclass(frozen=True)
class Undocumented:
    """No promise of a result: nothing documents whether it is a value or an error, or which one.

    A crash or a hang still fails. The records of all other results have the verdict `contract`. Plans are compared with
    each other: where one gives another value, or an error in place of a value, the record names both. `why` says what
    is not documented; `error` says whether the result may be an error.
    """

    why: str
    error: bool = True


@dataclass(frozen=True)
class Sparse:
    """The promise of a sparse gradient, an `IndexedSlices`: values (n, ...), indices (n,), dense shape."""

    values: np.ndarray
    indices: np.ndarray
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of a contract: for the plans that a pattern selects, its `reference` replaces the spec's reference.

    `why` names the documentation of the divergence; `link` points to it. A side without `vjp` uses the spec's `vjp`.
    `unless` names a device variant; the side does not hold on devices with that variant. `alternatives` takes the
    place of the spec's: see `Tolerance`. `bound` takes the place of the spec's for the quantities that it has.
    """

    reference: Callable[..., Any]
    why: str
    vjp: Callable[..., Any] | None = None
    link: str = ""
    unless: str = ""
    alternatives: Mapping[str, Callable[..., Any]] = field(default_factory=dict, compare=False)
    bound: Mapping[str, Callable[..., Any]] = field(default_factory=dict, compare=False)
