"""Budgets: how far the op of a text may be off, from the specs of the ops that its trace has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tf_opdiff.discover.programs.vocabulary import Word
from tf_opdiff.model.answers.budgets import Budgets, budgets_of
from tf_opdiff.model.worker import Worker

#: The ULPs of an op without a spec, and the least of any op: XLA contracts products and sums, and keeps digits.
_UNKNOWN, _LEAST = 4.0, 1.0


@dataclass
class WordBudgets:
    """The ULPs by which the op of a text may be off, by text, dtype and mode.

    Attributes:
      types: the text of a word → the types of the ops in its trace.
    """

    types: Mapping[str, Sequence[str]]
    _budgets: dict[str, Budgets] = field(default_factory=dict)

    @classmethod
    def of(cls, worker: Worker, words: Sequence[Word]) -> WordBudgets:
        """The budgets of words; a `ProgramServer` traces them."""
        rows = {word.text: word for word in words}
        traced = worker.ask("traced", [_alone(word) for word in rows.values()])
        return cls(dict(zip(rows, traced, strict=True)))

    def _of(self, mode: str) -> Budgets:
        if mode not in self._budgets:
            every = {one for types in self.types.values() for one in types}
            self._budgets[mode] = budgets_of(every, mode)
        return self._budgets[mode]

    def conditioned(self, mode: str) -> frozenset[str]:
        """The texts with an op whose error grows with its condition: a change of its operands bounds it."""
        bounded = {op for (op, _), budget in self._of(mode).items() if budget.bounded}
        return frozenset(text for text, types in self.types.items() if bounded & {*types})

    def __call__(self, text: str, dtype: str, mode: str) -> float:
        known = self._of(mode)
        each = [known[one, dtype].ulps if (one, dtype) in known else _UNKNOWN for one in self.types.get(text, ())]
        return max(_LEAST, sum(each))


def _alone(word: Word) -> tuple[str, tuple[str, ...]]:
    """The program of a word alone, and the dtypes of its inputs."""
    names = "xyz"[: len(word.operands)]
    dtypes = tuple({"b": "bool", "i": "int32"}.get(letter, "float32") for letter in word.operands)
    return f"def program({', '.join(names)}):\n    return {word.text.format(*names)}\n", dtypes
