"""Signature: what identifies a difference of a program."""

from __future__ import annotations

from dataclasses import dataclass

from tf_opdiff.discover.programs.program import Program
from tf_opdiff.model.worker import Worker

Types = frozenset[str]


@dataclass(frozen=True)
class Signature:
    """What identifies a difference.

    Attributes:
      types: the types of the ops in the trace of the shrunk program.
      family: `output` or `grad`.
      kind: the kind of difference.
      mode: the mode that differs from eager mode.
      dtype: the dtype of the inputs.
      words: the number of functions that the program calls.
    """

    types: Types
    family: str
    kind: str
    mode: str
    dtype: str
    words: int

    @classmethod
    def of(cls, worker: Worker, program: Program, kind: str, mode: str) -> Signature:
        """The signature of a difference; a `ProgramServer` traces the program."""
        plain = program.form == "plain" or program.gradient
        text = program.plain.text if plain else program.text
        (types,) = worker.ask("traced", [(text, program.dtypes)])
        family = "grad" if program.gradient else "output"
        return cls(frozenset(types), family, kind, mode, program.dtypes[0], len(program.ops))
