"""Modes: the ways in which TensorFlow runs a program, in one table; `harness.device.programs.modes` has a program for
each."""

from __future__ import annotations

from dataclasses import dataclass

#: The families of modes, each named by one of its modes: TensorFlow's kernels, and the code that XLA compiles.
KERNELS, COMPILED = "eager", "xla"
MODE_FAMILIES = (KERNELS, COMPILED)


@dataclass(frozen=True, kw_only=True)
class Mode:
    """A mode.

    Attributes:
      family: `KERNELS` or `COMPILED`; budgets and ceilings are those of a family.
      traced: whether TensorFlow makes a graph of the program before it runs.
      phrase: the words with which a sentence about a result in this mode begins.
    """

    name: str
    family: str
    traced: bool
    phrase: str


_TABLE = (
    Mode(name="eager", family=KERNELS, traced=False, phrase="In eager mode"),
    Mode(name="function", family=KERNELS, traced=True, phrase="In `tf.function`"),
    Mode(name="xla", family=COMPILED, traced=True, phrase="Under XLA"),
    Mode(name="graph", family=KERNELS, traced=True, phrase="In a v1 graph"),
)
#: Modes by name, in the order in which they run.
MODE = {mode.name: mode for mode in _TABLE}
#: Their names.
MODES = tuple(MODE)


def xla_compiles(mode: str) -> bool:
    """Whether XLA compiles programs in a mode."""
    return MODE[mode].family == COMPILED


def by_family(mode: str) -> tuple[bool, int]:
    """A sort key that puts the modes which name families first; other modes stand in the order of `MODES`."""
    return mode not in MODE_FAMILIES, MODES.index(mode)
