"""Arguments: those of `check` that make no check are refused, before a process starts."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from tf_opdiff.checking.inputs import Domain, as_source
from tf_opdiff.checking.request import ULP


def refuse(function: object, inputs: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """Refuses arguments that make no check.

    Raises:
      TypeError: the message says what was expected, and what came.
    """
    __tracebackhide__ = True
    if not callable(function):
        raise TypeError(f"check: expected a callable as the first argument, got {_described(function)}")
    if not inputs:
        raise TypeError("check: expected an input; without one there is nothing to vary")
    for name in ("devices", "modes"):
        if isinstance(value := options.get(name), str):
            raise TypeError(f"check: {name}: expected a list of names, such as [{value!r}], got the text {value!r}")
    if (modes := options.get("modes")) is not None and not modes:
        raise TypeError("check: modes: expected a mode; without one nothing would be compared")
    ulp = options.get("ulp", ULP)
    for number in ulp.values() if isinstance(ulp, Mapping) else [ulp]:
        if not isinstance(number, Real):
            raise TypeError(f"check: ulp: expected a number of ULPs, got {_described(number)}")


def _described(value: object) -> str:
    """A value for a message: a short text or number itself, of others the type."""
    short = isinstance(value, (str, int, float)) and len(repr(value)) < 40
    return repr(value) if short else f"a {type(value).__name__}"


def sources_of(inputs: tuple[Any, ...]) -> tuple[np.ndarray | Domain, ...]:
    """The inputs as arrays and domains.

    Raises:
      TypeError: one holds no numbers.
      ValueError: none has an element, so that nothing would be compared.
    """
    __tracebackhide__ = True
    sources = tuple(map(as_source, inputs))
    if all(isinstance(source, np.ndarray) and not source.size for source in sources):
        raise ValueError("check: expected an input with elements; without them nothing would be compared")
    return sources
