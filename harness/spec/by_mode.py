"""By mode: a value that depends on the family of modes: TensorFlow's kernels, or the code that XLA compiles.

The modes eager, function and graph run the same kernels. XLA computes many functions by other formulas, so that one
budget for all modes would allow the kernels the errors of XLA.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

#: The families, each named by one of its modes.
MODE_FAMILIES = ("eager", "xla")


@dataclass(frozen=True, kw_only=True)
class ByMode:
    """A value for each family of modes: `eager` for eager, function and graph, `xla` for the mode `xla`."""

    eager: Any
    xla: Any


def by_mode(*, eager: Any, xla: Any) -> ByMode:
    """A value, such as a budget or a bound, that is `xla` in the mode `xla` and `eager` in all other modes."""
    return ByMode(eager=eager, xla=xla)


def mode_family(mode: str) -> str:
    """The family of a mode: `eager` or `xla`."""
    return "xla" if mode == "xla" else "eager"


def in_mode(value: Any, mode: str) -> Any:
    """The value in a mode; a value that is not `ByMode` is the same in all modes."""
    if not isinstance(value, ByMode):
        return value
    return getattr(value, mode_family(mode))


def each(value: Any) -> tuple[Any, ...]:
    """The values that a value has in the families of modes."""
    return (value.eager, value.xla) if isinstance(value, ByMode) else (value,)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """`function(value)`, in each family of modes if the value is `ByMode`."""
    if isinstance(value, ByMode):
        return ByMode(eager=function(value.eager), xla=function(value.xla))
    return function(value)
