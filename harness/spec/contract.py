"""Contract: the promises that are not plain arrays, and the sides of a documented divergence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Raises:
    """The promise of an error.

    `code` is a TensorFlow error code (`INVALID_ARGUMENT`) or, for errors that Python raises, the class name
    (`LookupError`). `says` is a text that the message has to contain.
    """

    code: str
    says: str = ""


@dataclass(frozen=True)
class Sparse:
    """The promise of a gradient that stays an `IndexedSlices`: values (n, ...), indices (n,), dense shape."""

    values: np.ndarray
    indices: np.ndarray
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of a contract: the promise for the plans that a pattern selects, in place of the reference.

    `why` says where the divergence is documented; `link` points there. A side without `vjp` keeps that of the spec.
    `unless` names a variant of a device: the side does not hold under that variant.
    """

    reference: Callable[..., Any]
    why: str
    vjp: Callable[..., Any] | None = None
    link: str = ""
    unless: str = ""
