"""By mode: a value that depends on the family of modes: TensorFlow's kernels, or the code that XLA compiles.

The modes eager, function and graph run the same kernels. XLA computes many functions by other formulas, so that one
budget for all modes would allow the kernels the errors of XLA.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tf_opdiff.harness.spec.modes import MODE


@dataclass(frozen=True, kw_only=True)
class ByMode:
    """A value for each family of modes; see `harness.spec.modes`."""

    eager: Any
    xla: Any


def by_mode(*, eager: Any, xla: Any) -> ByMode:
    """A value, such as a budget or a bound: `xla` in modes that XLA compiles, `eager` in modes that run kernels."""
    return ByMode(eager=eager, xla=xla)


def mode_family(mode: str) -> str:
    """The family of a mode: `eager` or `xla`; see `harness.spec.modes`."""
    return MODE[mode].family


def in_mode(value: Any, mode: str) -> Any:
    """The value in a mode; a value that is not `ByMode` is the same in all modes."""
    if not isinstance(value, ByMode):
        return value
    return getattr(value, mode_family(mode))


def all_modes(value: Any) -> tuple[Any, ...]:
    """A budget as a tuple: one value for each family of modes."""
    return (value.eager, value.xla) if isinstance(value, ByMode) else (value,)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """`function(value)`, in each family of modes if the value is `ByMode`."""
    if isinstance(value, ByMode):
        return ByMode(eager=function(value.eager), xla=function(value.xla))
    return function(value)
