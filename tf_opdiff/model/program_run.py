"""Program run: the results of running the user's program in a mode, in a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tf_opdiff.model.recordings.values import Stored, ValueReader


@dataclass(frozen=True)
class ProgramRun:
    """The results of some steps of a program, and its variables after the last one.

    Attributes:
      file: the file of the arrays.
      stored: the arrays by name: the number of the step, and the name of the result; variables follow the last step.
      steps: the number of steps.
      seconds: how long they took, with what was compiled.
    """

    file: Path
    stored: Mapping[str, Stored]
    steps: int
    seconds: float

    @cached_property
    def _read(self) -> ValueReader:
        return ValueReader(self.file)

    def names(self, step: int) -> list[str]:
        """The names of the results of a step; of step `steps`, those of the variables after the last one."""
        each = (name.partition(" ") for name in self.stored)
        return [name for number, _, name in each if int(number) == step]

    def array(self, step: int, name: str) -> np.ndarray:
        """A result of a step."""
        return self._read(self.stored[f"{step} {name}"])
